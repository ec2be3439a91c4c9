// dutiful run, end to end. A task that is due every minute runs at once, so no test waits for one.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands/daemon_process.h"
#include "support/temporary_directory.h"

namespace dutiful {

class DutifulRun : public testing::Test {
 protected:
  // A task that is due now; `script` must not contain three single quotes in a row.
  static std::string task(const std::string& name,
                          const std::string& script,
                          const std::string& more = "") {
    return "[[task]]\nname = \"" + name + "\"\ncron = \"* * * * *\"\nretry = \"1h\"\nrun = '''" +
           script + "'''\n" + more + "\n";
  }
  // The same, and due again as soon as it has failed.
  static std::string impatient_task(const std::string& name, const std::string& script) {
    std::string text = task(name, script);
    return text.replace(text.find("1h"), 2, "0s");
  }
  // A script that waits for the pipe in its first run only: the next minute may begin at any
  // moment, and the task is due again.
  std::string waits_once(const Fifo& go) const {
    const std::string mark = go.path() + "-passed";
    return "test -e " + mark + " || { : > " + mark + "; read line < " + go.path() + "; }";
  }
  void write(const std::string& text) const { std::ofstream{file} << text; }
  Fifo fifo(const std::string& name) const { return Fifo{directory.file(name)}; }

  std::vector<std::string> arguments(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"run", file});
    return more;
  }

  TemporaryDirectory directory;
  std::string file = directory.file("tasks.toml");
  std::string state = directory.file("tasks.db");
};

}  // namespace dutiful
