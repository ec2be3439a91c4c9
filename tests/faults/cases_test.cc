#include "faults/cases.h"

#include <algorithm>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dutiful::faults {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

TEST(FaultTexts, are_written_as_they_were_read) {
  for (const std::string text : {"1:kill-before",
                                 "17:kill-within",
                                 "17:kill-after",
                                 "17:short",
                                 "17:EINTR",
                                 "17+:EIO",
                                 "17*:ENOSPC"}) {
    const auto fault = parse_fault(text);
    ASSERT_TRUE(fault) << text;
    EXPECT_EQ(to_text(*fault), text);
  }
}

TEST(FaultTexts, are_rejected_if_they_are_malformed) {
  for (const char* text : {"", "17", "17:", "0:EIO", "x:EIO", "17:EWHAT", "17+:short", "17-:EIO"}) {
    EXPECT_FALSE(parse_fault(text)) << text;
  }
}

TEST(CallLogs, are_read_as_they_were_written) {
  const std::vector<LoggedCall> log{
      {.number = 1, .call = {.kind = Kind::create, .file = "a"}},
      {.number = 2,
       .succeeded = false,
       .call = {.kind = Kind::write, .file = "a", .offset = 7, .size = 3, .data = "\n\0x"}},
      {.number = 0, .call = {.kind = Kind::said, .file = "-", .size = 6, .data = "hello\n"}}};
  std::string text;
  for (const LoggedCall& logged : log) text += to_text(logged);
  const auto read = parse_log(text);
  ASSERT_THAT(read, SizeIs(3));
  for (std::size_t i = 0; i < log.size(); ++i) EXPECT_EQ(to_text(read[i]), to_text(log[i]));
  EXPECT_THROW((void)parse_log(text.substr(0, text.size() - 4)), std::runtime_error);
  EXPECT_THROW((void)parse_log("1 dance a 0 0 ok 0\n\n"), std::runtime_error);
}

std::vector<LoggedCall> some_calls() {
  std::vector<LoggedCall> log{{.number = 1, .call = {.kind = Kind::create, .file = "a"}}};
  for (std::uint64_t number = 2; number < 10; ++number) {
    log.push_back({.number = number, .call = {.kind = Kind::write, .file = "a", .size = 9}});
  }
  log.push_back({.number = 10, .call = {.kind = Kind::sync, .file = "a"}});
  return log;
}

std::vector<std::string> texts_of(const std::vector<Fault>& faults) {
  std::vector<std::string> texts;
  for (const Fault& fault : faults) texts.push_back(to_text(fault));
  return texts;
}

TEST(FaultCases, are_everything_that_may_happen_to_a_call) {
  const std::vector<LoggedCall> log{
      {.number = 3, .call = {.kind = Kind::write, .file = "a", .size = 9}}};
  EXPECT_THAT(texts_of(faults_of(Family::kill, log)),
              ElementsAre("3:kill-before", "3:kill-within", "3:kill-after"));
  EXPECT_THAT(texts_of(faults_of(Family::once, log)),
              ElementsAre("3:EIO", "3:ENOSPC", "3:EINTR", "3:short"));
  EXPECT_THAT(texts_of(faults_of(Family::keep, log)),
              ElementsAre("3+:EIO", "3+:ENOSPC", "3*:EIO", "3*:ENOSPC"));
}

TEST(FaultCases, are_sampled_from_every_kind_of_call_first) {
  const auto log = some_calls();
  const auto faults = faults_of(Family::kill, log);
  const auto taken = sample(faults, log, 7, 1);
  ASSERT_THAT(taken, SizeIs(7));
  // Before and after the creation and the sync; before, within and after a write.
  EXPECT_EQ(std::ranges::count(taken, 1U, &Fault::at), 2);
  EXPECT_EQ(std::ranges::count(taken, 10U, &Fault::at), 2);
  EXPECT_EQ(texts_of(sample(faults, log, 7, 1)), texts_of(taken));
  EXPECT_THAT(sample(faults, log, 1000, 1), SizeIs(faults.size()));
}

}  // namespace
}  // namespace dutiful::faults
