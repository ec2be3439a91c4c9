// The units for systemd: each of them starts a command line that works.

#include <sstream>

#include "commands/run_in_test.h"

namespace dutiful {
namespace {

class Units : public DutifulRun {
 protected:
  // The words after a key, with the variables of systemd and the installation replaced.
  std::vector<std::string> words(const std::filesystem::path& unit, const std::string& key) const {
    const std::string text = contents(unit);
    const auto line = text.find("\n" + key + "=");
    if (line == std::string::npos) return {};
    const auto begin = line + key.size() + 2;
    std::istringstream parts{text.substr(begin, text.find('\n', begin) - begin)};
    std::vector<std::string> found;
    for (std::string word; parts >> word;) {
      if (word == "@sysconfdir@/dutiful/tasks.toml") word = file;
      if (word == "%S/dutiful/tasks.db") word = state;
      found.push_back(word);
    }
    return found;
  }
};

TEST_F(Units, start_reload_and_stop) {
  write("");
  int units = 0;
  for (const auto& entry : std::filesystem::directory_iterator{DUTIFUL_PACKAGING}) {
    if (!entry.path().string().ends_with(".service.in")) continue;
    SCOPED_TRACE(entry.path().string());
    ++units;
    // Debian 12's systemd knows no notify-reload.
    EXPECT_EQ(words(entry, "Type"), (std::vector<std::string>{"notify"}));
    // Decision 7. The mode also ends services that tasks started, so the unit has to say so.
    EXPECT_EQ(words(entry, "KillMode"), (std::vector<std::string>{"mixed"}));
    const std::string text = contents(entry.path());
    EXPECT_LT(text.find("in the background"), text.find("\nKillMode="));
    EXPECT_EQ(words(entry, "ExecReload"), (std::vector<std::string>{"kill", "-HUP", "$MAINPID"}));

    std::vector<std::string> start = words(entry, "ExecStart");
    ASSERT_FALSE(start.empty());
    EXPECT_EQ(start.front(), "@bindir@/dutiful");
    start.erase(start.begin());
    Process daemon{start};
    daemon.await("TaskFileLoaded");
    write(task("a", "true"));
    daemon.signal(SIGHUP);
    daemon.await("TaskFileLoaded");
    daemon.signal(SIGTERM);
    const Ended ended = daemon.end();
    EXPECT_EQ(ended.status, 0) << ended.err;
  }
  EXPECT_EQ(units, 2);
}

}  // namespace
}  // namespace dutiful
