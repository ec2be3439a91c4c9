// The daemon while others look at it. Prints JSON lines, each a figure and its limit.

#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

#include "observe_subjects.h"

using namespace dutiful;

int main(int argc, char** argv) {
  const std::string subject = argc == 3 ? argv[1] : "";
  const std::size_t tasks = argc == 3 ? std::strtoul(argv[2], nullptr, 10) : 0;
  try {
    if (tasks > 0 && subject == "answers") {
      bench::answers(tasks);
      return 0;
    }
    if (tasks > 0 && (subject == "clients" || subject == "storm")) {
      bench::lateness_under(subject == "storm" ? bench::Load::storm : bench::Load::clients, tasks);
      return 0;
    }
  } catch (const std::exception& error) {
    std::cerr << "observe_bench: " << error.what() << '\n';
    return 1;
  }
  std::cerr << "usage: observe_bench answers|clients|storm TASKS\n";
  return 2;
}
