#include <chrono>
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

  // A result that cannot be written is a failure, even if the subcommand succeeded.
  if (!std::cout.flush()) {
    std::cerr << "dutiful: cannot write the result: standard output is full or closed\n";
    status = Exit::no;
  }
  return static_cast<int>(status);
}
