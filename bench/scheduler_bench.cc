// The scheduler with many tasks. Prints JSON lines, each a figure and the limit of the machine that
// it is compared with, measured in the same process.

#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>

#include "subjects.h"

using namespace dutiful;

int main(int argc, char** argv) {
  const std::map<std::string, std::function<void(std::size_t)>> subjects{
      {"burst_memory", bench::burst_memory},
      {"burst_sqlite", bench::burst_sqlite},
      {"downtime", bench::downtime},
      {"idle", bench::idle},
      {"initialize", bench::initialize_sqlite},
      {"lateness_memory", bench::lateness_memory},
      {"lateness_sqlite", bench::lateness_sqlite},
      {"memory", bench::memory},
      {"naive_scan", bench::naive_scan},
      {"recovery", bench::recovery},
      {"simulated_year", bench::simulated_year},
      {"status", bench::status},
      {"stop", bench::stop_running},
  };
  const auto number = [&](int argument) { return std::strtoul(argv[argument], nullptr, 10); };
  try {
    if (argc == 6 && std::string{argv[1]} == "recover") {
      bench::recover(argv[2], number(3), number(4), std::strtod(argv[5], nullptr));
      return 0;
    }
    const auto subject = argc == 3 ? subjects.find(argv[1]) : subjects.end();
    if (subject != subjects.end() && number(2) > 0) {
      subject->second(number(2));
      return 0;
    }
  } catch (const std::exception& error) {
    std::cerr << "scheduler_bench: " << error.what() << '\n';
    return 1;
  }
  std::cerr << "usage: scheduler_bench SUBJECT TASKS, the subject one of:";
  for (const auto& [name, measure] : subjects) std::cerr << ' ' << name;
  std::cerr << '\n';
  return 2;
}
