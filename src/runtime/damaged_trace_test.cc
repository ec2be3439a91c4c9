#include "runtime/damaged_trace.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <gtest/gtest.h>

#include "support/temporary_directory.h"

namespace dutiful {
namespace {

bool is_damaged(const std::string& text) {
  std::istringstream in{text};
  return is_damaged_trace(in);
}

std::string zeros(std::size_t count) {
  return std::string(count, '\0');
}

const std::string event = R"({"at":"2025-03-03T12:00:00.000Z","event":"Crash"})"
                          "\n";

TEST(DamagedTrace, is_known_by_its_header) {
  EXPECT_TRUE(is_damaged(R"({"trace":"dutiful/1","zo)" + zeros(10) + '\n' + event));
  EXPECT_FALSE(is_damaged(R"({"trace":"dutiful/2","zone":"UTC"})"
                          "\n" +
                          event));
  EXPECT_FALSE(is_damaged(""));
  EXPECT_FALSE(is_damaged("{\"tr"));
}

TEST(DamagedTrace, may_have_lost_its_first_sectors) {
  EXPECT_TRUE(is_damaged(zeros(512) + "ash\"}\n" + event));
  EXPECT_TRUE(is_damaged(zeros(4096) + event + event));
  EXPECT_TRUE(is_damaged(zeros(1024) + "ash\"}\n" + zeros(200) + "half\n" + event));
  // These may be the ends of lines.
  EXPECT_TRUE(is_damaged(zeros(512) + "ash\"}\n"));
  EXPECT_TRUE(is_damaged(zeros(512) + "2025-03-03T"));
}

TEST(DamagedTrace, may_be_nothing_but_zeros) {
  EXPECT_TRUE(is_damaged(zeros(1)));
  EXPECT_TRUE(is_damaged(zeros(200'000)));
}

TEST(DamagedTrace, is_not_any_file_that_begins_with_zeros) {
  EXPECT_FALSE(is_damaged(zeros(3) + event + event));                       // not a sector
  EXPECT_FALSE(is_damaged(zeros(1024) + "\x53\xef\x01" + zeros(5)));        // a file system
  EXPECT_FALSE(is_damaged(zeros(512) + "of a letter\nDear sir,\nI am\n"));  // text
  EXPECT_FALSE(is_damaged("precious\n" + zeros(512) + event));
}

class SetAside : public testing::Test {
 protected:
  static void write(const std::string& path, const std::string& text) {
    std::ofstream{path} << text;
  }
  static std::string read(const std::string& path) {
    std::ifstream in{path};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  TemporaryDirectory directory;
  std::string file = std::filesystem::canonical(directory.file("")) / "trace.jsonl";
};

TEST_F(SetAside, takes_the_first_name_that_is_free) {
  for (const char* number : {"1", "2", "3"}) {
    write(file, number);
    EXPECT_EQ(set_aside(file), file + ".damaged-" + number);
    EXPECT_FALSE(std::filesystem::exists(file));
  }
  for (const char* number : {"1", "2", "3"}) EXPECT_EQ(read(file + ".damaged-" + number), number);
}

TEST_F(SetAside, replaces_no_link_that_leads_nowhere) {
  std::filesystem::create_symlink("nowhere", file + ".damaged-1");
  write(file, "trace");
  EXPECT_EQ(set_aside(file), file + ".damaged-2");
}

TEST_F(SetAside, follows_no_link) {
  const std::string link = file + "-link";
  std::filesystem::create_symlink(file, link);
  write(file, "trace");
  EXPECT_EQ(set_aside(link), link + ".damaged-1");
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST_F(SetAside, leaves_nothing_behind_if_there_is_no_file) {
  EXPECT_THROW((void)set_aside(file), std::system_error);
  EXPECT_TRUE(std::filesystem::is_empty(std::filesystem::path{file}.parent_path()));
}

}  // namespace
}  // namespace dutiful
