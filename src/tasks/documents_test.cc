// What we tell people to write can be read.

#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tasks/task_file.h"

namespace dutiful {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

std::string read(const std::string& path) {
  const std::ifstream file{DUTIFUL_TEST_DATA "/../../" + path};
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Documents, the_manual_shows_task_files_that_load) {
  std::istringstream manual{read("docs/man/dutiful-tasks.5")};
  std::string block;
  int blocks = 0;
  bool inside = false;
  for (std::string line; std::getline(manual, line);) {
    if (line.starts_with(".Bd -literal")) {
      inside = true;
      block.clear();
    } else if (line == ".Ed") {
      inside = false;
      ++blocks;
      const TaskFile file = parse_task_file(block);
      EXPECT_THAT(file.problems, IsEmpty()) << block;
      EXPECT_THAT(file.tasks, SizeIs(1)) << block;
    } else if (inside) {
      block += line + '\n';
    }
  }
  EXPECT_EQ(blocks, 2);
}

TEST(Documents, the_manual_tells_of_every_key) {
  const std::string manual = read("docs/man/dutiful-tasks.5");
  for (const char* key :
       {"name", "cron", "run", "retry", "timeout", "directory", "environment", "user"}) {
    EXPECT_NE(manual.find(std::string{".It Ic "} + key + " No = "), std::string::npos) << key;
  }
}

}  // namespace
}  // namespace dutiful
