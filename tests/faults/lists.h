// The lists that victims register, by the names that they and their judge use, and the beginning of
// the first life.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace dutiful::faults {

// Half past a minute: 2025-03-03T10:00:30Z.
inline constexpr std::chrono::sys_time<std::chrono::milliseconds> first_life_begins{
    std::chrono::seconds{1'740'996'030}};

struct Listed {
  std::string name;
  std::string cron;
  std::chrono::milliseconds retry_delay;

  friend bool operator==(const Listed&, const Listed&) = default;
};
using List = std::vector<Listed>;  // in the order of their names

// Y overrides steady, removes dropped and adds late. Z removes late and adds dropped again. Every
// task is due every minute.
inline const std::map<std::string, List>& lists() {
  using namespace std::chrono_literals;
  static const std::map<std::string, List> all{
      {"X",
       {{"dropped", "* * * * *", 20s}, {"shaky", "* * * * *", 10s}, {"steady", "* * * * *", 20s}}},
      {"Y",
       {{"late", "* * * * *", 20s}, {"shaky", "* * * * *", 10s}, {"steady", "0-59 * * * *", 20s}}},
      {"Z",
       {{"dropped", "* * * * *", 20s},
        {"shaky", "* * * * *", 10s},
        {"steady", "0-59 * * * *", 20s}}},
  };
  return all;
}

}  // namespace dutiful::faults
