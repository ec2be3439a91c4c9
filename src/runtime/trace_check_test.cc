#include "runtime/trace_check.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <dutiful/errors.h>

#include "posix/descriptor.h"
#include "support/temporary_directory.h"

namespace dutiful {
namespace {

using testing::HasSubstr;

const std::string event = R"({"at":"2025-03-03T12:00:00.000Z","event":"Crash"})"
                          "\n";

class TraceCheck : public testing::Test {
 protected:
  // Of a file with that text.
  [[nodiscard]] CheckedTrace check(const std::string& text) const {
    std::ofstream{file} << text;
    const Descriptor descriptor{open(file.c_str(), O_RDWR | O_CLOEXEC)};
    return check_trace(file, descriptor.get(), header);
  }

  [[nodiscard]] std::string refusal(const std::string& text) const {
    try {
      return "size " + std::to_string(check(text).size);
    } catch (const TraceError& error) {
      return error.what();
    }
  }
  [[nodiscard]] std::string refusal_of(const TraceHeader& there) const {
    return refusal(to_line(there) + '\n');
  }

  [[nodiscard]] std::string left() const {
    std::ifstream in{file, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
  }

  TraceHeader header{.zone = "UTC"};
  std::string first = to_line(header) + '\n';
  TemporaryDirectory directory;
  std::string file = directory.file("trace.jsonl");
};

TEST_F(TraceCheck, leaves_whole_lines_and_cuts_off_a_part_of_one) {
  for (const std::string& whole : {std::string{}, first, first + event, first + event + event}) {
    for (const std::string& part : {std::string{}, event.substr(0, 20), std::string(9000, 'x')}) {
      if (whole.empty() && !part.empty()) continue;
      const CheckedTrace checked = check(whole + part);
      EXPECT_EQ(checked.size, whole.size());
      EXPECT_EQ(checked.damage, "");
      EXPECT_EQ(left(), whole);
    }
  }
}

TEST_F(TraceCheck, takes_a_part_of_the_header_for_an_empty_trace) {
  EXPECT_EQ(check(first.substr(0, 10)).size, 0);
  EXPECT_EQ(left(), "");
}

TEST_F(TraceCheck, finds_zeros_and_leaves_them) {
  const std::string zeros(512, '\0');
  const std::string damaged_header = first.substr(0, 25) + "\x01" + first.substr(26);
  const struct {
    std::string text;
    std::string damage;
  } rows[] = {
      {zeros + event, "begins with zeros instead of its header"},
      {damaged_header + event, "is malformed at line 1: "},
      {first + event + zeros, "ends with zeros instead of its last lines"},
      {first + event.substr(0, 20) + zeros, "ends with zeros instead of its last lines"},
  };
  for (const auto& [text, damage] : rows) {
    EXPECT_THAT(check(text).damage, HasSubstr(damage));
    EXPECT_EQ(left(), text);
  }
}

TEST_F(TraceCheck, makes_a_trace_private) {
  using std::filesystem::perms;
  for (const std::string& text : {first + event, first + event + std::string(512, '\0')}) {
    std::ofstream{file} << text;
    std::filesystem::permissions(file, perms{0644});
    (void)check(text);
    EXPECT_EQ(std::filesystem::status(file).permissions(), perms{0600});
  }
}

TEST_F(TraceCheck, rejects_a_trace_that_has_several_names) {
  std::ofstream{file} << first;
  std::filesystem::create_hard_link(file, directory.file("other"));
  EXPECT_THAT(refusal(first), HasSubstr("has several names (hard links)"));
}

TEST_F(TraceCheck, refuses_a_file_that_is_no_trace_and_leaves_it) {
  using std::filesystem::perms;
  constexpr perms readable = perms::owner_read | perms::owner_write | perms::group_read;
  for (const std::string precious : {"precious\n", "precious", "first\nsecond"}) {
    std::ofstream{file} << precious;
    std::filesystem::permissions(file, readable);
    EXPECT_THAT(refusal(precious), HasSubstr("is not a trace, and was not changed"));
    EXPECT_EQ(left(), precious);
    EXPECT_EQ(std::filesystem::status(file).permissions(), readable);
  }
}

TEST_F(TraceCheck, refuses_a_trace_of_other_options_and_says_which) {
  EXPECT_THAT(
      refusal_of({.zone = "Europe/Berlin"}),
      HasSubstr("was written with other options: zone \"Europe/Berlin\" instead of \"UTC\"; "
                "use another file"));
  EXPECT_THAT(refusal_of({.zone = "UTC", .max_concurrent = 5}),
              HasSubstr("options: max-concurrent 5 instead of 0; use"));
  EXPECT_THAT(
      refusal_of({.zone = "UTC",
                  .repeated_minutes = RepeatedMinutes::first_only,
                  .reinitialize = Reinitialize::reconcile,
                  .override = Override::keep_history}),
      HasSubstr(
          "options: policy of repeated minutes first_only instead of the default, policy of a "
          "second initialize() reconcile instead of the default, policy of overridden tasks "
          "keep_history instead of the default; use"));
}

}  // namespace
}  // namespace dutiful
