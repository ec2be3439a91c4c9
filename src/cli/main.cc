#include <cerrno>
#include <chrono>
#include <cstring>
#include <iostream>

#include "cli/program.h"

int main(int argc, char** argv) {
  using dutiful::Exit;
  std::ios::sync_with_stdio(false);
  dutiful::Console console{
      .out = std::cout, .err = std::cerr, .now = [] {
        return std::chrono::floor<dutiful::Duration>(std::chrono::system_clock::now());
      }};
  Exit status = dutiful::run_program({argv + (argc > 0 ? 1 : 0), argv + argc}, console);

  // A result that was not written is not a result, whatever the command thought.
  errno = 0;
  if (!std::cout.flush()) {
    std::cerr << "dutiful: cannot write the result: "
              << (errno != 0 ? std::strerror(errno) : "standard output is closed") << '\n';
    status = Exit::no;
  }
  return static_cast<int>(status);
}
