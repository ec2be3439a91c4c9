// The task files in the documentation load.

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

// For /bin/sh a pipeline succeeds if its last command does: a backup would succeed without pg_dump.
void expect_no_failure_to_be_hidden(const TaskFile& file) {
  for (const TaskDefinition& task : file.tasks) {
    const std::vector<std::string>& command = task.command.arguments;
    if (command.front() != "/bin/sh") continue;
    for (auto pipe = command.back().find('|'); pipe != std::string::npos;
         pipe = command.back().find('|', pipe + 2)) {
      EXPECT_EQ(command.back().substr(pipe, 2), "||") << command.back();
    }
  }
}

TEST(Documents, the_examples_load_and_hide_no_failure) {
  for (const char* example : {"examples/hello.toml", "examples/server.toml"}) {
    const TaskFile file = parse_task_file(read(example));
    EXPECT_THAT(file.problems, IsEmpty()) << example;
    expect_no_failure_to_be_hidden(file);
  }
}

TEST(Documents, the_readme_and_the_tour_hide_no_failure) {
  int commands = 0;
  for (const char* page : {"README.md", "docs/tour.md"}) {
    std::istringstream lines{read(page)};
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("run = \"")) continue;
      ++commands;
      expect_no_failure_to_be_hidden(parse_task_file(
          "[[task]]\nname = 'a'\ncron = '* * * * *'\nretry = '0s'\n" + line + '\n'));
    }
  }
  EXPECT_GE(commands, 2);
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
      expect_no_failure_to_be_hidden(file);
    } else if (inside) {
      block += line + '\n';
    }
  }
  EXPECT_EQ(blocks, 3);
}

TEST(Documents, the_guide_shows_notifications_that_load) {
  const std::string guide = read("docs/guide.md");
  const std::string begin = "```toml\n";
  const std::size_t from = guide.find(begin) + begin.size();
  const TaskFile file = parse_task_file(guide.substr(from, guide.find("```", from) - from));
  EXPECT_THAT(file.problems, IsEmpty());
  ASSERT_THAT(file.tasks, SizeIs(2));
  EXPECT_EQ(file.tasks[0].notifications.after, 3U);
  EXPECT_THAT(file.tasks[0].notifications.on_failure, SizeIs(3));
  EXPECT_THAT(file.tasks[1].notifications.on_failure, IsEmpty());
}

TEST(Documents, the_manual_describes_every_key) {
  const std::string manual = read("docs/man/dutiful-tasks.5");
  for (const char* key : {"name",
                          "cron",
                          "run",
                          "retry",
                          "timeout",
                          "directory",
                          "environment",
                          "user",
                          "on_failure",
                          "on_recovery",
                          "on_success",
                          "notify_after"}) {
    EXPECT_NE(manual.find(std::string{".It Ic "} + key + " No = "), std::string::npos) << key;
  }
}

}  // namespace
}  // namespace dutiful
