// The syntax of a command line, and reading it.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "cli/console.h"

namespace dutiful {

// A wrong command line or unusable input: exit status 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A subcommand and the words that may follow it. Values are stored in their targets as text; the
// action checks them.
struct CommandSyntax {
  // Positional arguments, in this order; the optional ones come last. A vector takes the rest of
  // them, at least one, so nothing may follow it.
  struct Argument {
    std::string name{};  // FILE
    std::string description{};
    std::variant<std::string*, std::optional<std::string>*, std::vector<std::string>*>
        target{};             // a string is required
    std::string when_more{};  // what to do about further words, instead of "see --help"
  };

  struct Option {
    std::string name{};                  // --count
    std::string value{};                 // the name of its value in help: N
    std::vector<std::string> choices{};  // the values it may have; empty: any
    std::string description{};
    // A bool makes it a flag, which takes no value; a string holds the default; an option with a
    // vector may be given several times.
    std::variant<bool*, std::string*, std::optional<std::string>*, std::vector<std::string>*>
        target{};
  };

  std::string name{};
  std::string description{};
  std::vector<Argument> arguments{};
  std::vector<Option> options{};
  std::string details{};  // one paragraph of help
  std::string example{};
  // Runs the subcommand after its words are read; it also owns the targets.
  std::function<Exit(Console&)> action{};
};

struct ProgramSyntax {
  std::string name{};
  std::string description{};
  std::string version{};
  std::vector<CommandSyntax> commands{};
};

// Sets the targets of the subcommand that the words name (without the program's own name) and
// returns it. Returns null after printing help or the version on `out`. Throws UsageError.
//
//   --count 3 and --count=3 are the same. Every word after -- is an argument; so is a lone hyphen.
//   A value that begins with two hyphens is written --name=--value.
[[nodiscard]] const CommandSyntax* read_command_line(const ProgramSyntax& program,
                                                     std::span<const std::string> words,
                                                     std::ostream& out);

}  // namespace dutiful
