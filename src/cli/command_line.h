// What may stand on a command line, what --help says of it, and reading it.
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

// A command line, or a value on it, that cannot be understood: exit status 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A command and the words that may follow it. Texts go to their targets as they are; whoever uses
// them says what is wrong with them.
struct CommandSyntax {
  // What stands without a name, in this order; those that are not required come last.
  struct Argument {
    std::string name{};  // FILE
    std::string description{};
    std::variant<std::string*, std::optional<std::string>*> target{};  // a string is required
    std::string when_more{};  // the remedy where more words come than arguments
  };

  struct Option {
    std::string name{};                  // --count
    std::string value{};                 // what help calls its value: N
    std::vector<std::string> choices{};  // the only values, where there are so few
    std::string description{};
    // For a bool it is a flag and takes no value; a string holds the default.
    std::variant<bool*, std::string*, std::optional<std::string>*> target{};
  };

  std::string name{};
  std::string description{};
  std::vector<Argument> arguments{};
  std::vector<Option> options{};
  std::string details{};  // one paragraph
  std::string example{};
  // What it does once its words are read; it also keeps the targets.
  std::function<Exit(Console&)> action{};
};

struct ProgramSyntax {
  std::string name{};
  std::string description{};
  std::string version{};
  std::vector<CommandSyntax> commands{};
};

// Sets the targets of the command that the words name (without the program's own name) and returns
// it. Null where help or the version was asked for, which is then on `out`. Throws UsageError.
//
//   --count 3 and --count=3 are the same. A word after -- is an argument, whatever it begins with;
//   so is a lone hyphen. A value that begins with two hyphens is written --name=--value.
[[nodiscard]] const CommandSyntax* read_command_line(const ProgramSyntax& program,
                                                     std::span<const std::string> words,
                                                     std::ostream& out);

}  // namespace dutiful
