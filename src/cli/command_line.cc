#include "cli/command_line.h"

#include <algorithm>
#include <ostream>
#include <string_view>
#include <utility>

#include "cli/help.h"
#include "text/nearest.h"
#include "text/quote.h"

namespace dutiful {
namespace {

bool asks_for_help(const std::string& word) {
  return word == "-h" || word == "--help";
}

std::string see_help(const std::string& whose) {
  return "; see " + whose + " --help";
}

// The words of one command.
class Reader {
 public:
  Reader(const CommandSyntax& command, std::string whose, std::span<const std::string> words)
      : command_(command), whose_(std::move(whose)), words_(words) {}

  void read() {
    bool options_end = false;
    while (!words_.empty()) {
      const std::string& word = take();
      if (!options_end && word == "--") {
        options_end = true;
      } else if (!options_end && word.starts_with('-') && word != "-") {
        read_option(word);
      } else {
        read_argument(word);
      }
    }
    if (arguments_read_ == command_.arguments.size()) return;
    const auto& missing = command_.arguments[arguments_read_];
    auto* const* rest = std::get_if<std::vector<std::string>*>(&missing.target);
    if (rest != nullptr ? (*rest)->empty() : std::holds_alternative<std::string*>(missing.target)) {
      throw UsageError("missing argument " + missing.name + see_help(whose_));
    }
  }

 private:
  using Option = CommandSyntax::Option;

  const std::string& take() {
    const std::string& word = words_.front();
    words_ = words_.subspan(1);
    return word;
  }

  void read_argument(const std::string& word) {
    const auto& arguments = command_.arguments;
    if (arguments_read_ == arguments.size()) {
      const bool known = !arguments.empty() && !arguments.back().when_more.empty();
      throw UsageError("unexpected argument " + quote(word) +
                       (known ? "; " + arguments.back().when_more : see_help(whose_)));
    }
    const auto& target = arguments[arguments_read_].target;
    if (auto* const* rest = std::get_if<std::vector<std::string>*>(&target)) {
      (*rest)->push_back(word);
      return;
    }
    if (auto* const* text = std::get_if<std::string*>(&target)) {
      **text = word;
    } else {
      *std::get<std::optional<std::string>*>(target) = word;
    }
    ++arguments_read_;
  }

  void read_option(const std::string& word) {
    const std::size_t equals = word.find('=');
    const auto option = std::ranges::find(command_.options, word.substr(0, equals), &Option::name);
    if (option == command_.options.end()) refuse_unknown(word);
    std::optional<std::string> value;
    if (equals != std::string::npos) value = word.substr(equals + 1);
    if (bool* const* flag = std::get_if<bool*>(&option->target)) {
      if (value) throw UsageError(option->name + " takes no value; remove " + quote('=' + *value));
      **flag = true;
      return;
    }
    if (!value && !words_.empty() && !words_.front().starts_with("--")) value = take();
    if (!value) throw UsageError(option->name + " requires a value; write " + form_of(*option));
    set(*option, *value);
  }

  void set(const Option& option, const std::string& value) {
    auto* const* list = std::get_if<std::vector<std::string>*>(&option.target);
    if (list == nullptr && std::ranges::find(given_, &option) != given_.end()) {
      throw UsageError(option.name + " is given twice, the second time as " + quote(value) +
                       "; give it once");
    }
    given_.push_back(&option);
    const auto& choices = option.choices;
    if (!choices.empty() && std::ranges::find(choices, value) == choices.end()) {
      throw UsageError(option.name + ": unknown value " + quote(value) + "; write " +
                       form_of(option));
    }
    if (list != nullptr) {
      (*list)->push_back(value);
    } else if (auto* const* text = std::get_if<std::string*>(&option.target)) {
      **text = value;
    } else {
      *std::get<std::optional<std::string>*>(option.target) = value;
    }
  }

  [[noreturn]] void refuse_unknown(const std::string& word) const {
    constexpr std::string_view hyphens = "--";
    std::vector<std::string_view> known{"help"};
    for (const Option& option : command_.options) {
      known.push_back(std::string_view{option.name}.substr(hyphens.size()));
    }
    const std::size_t begin = std::min(word.find_first_not_of('-'), word.size());
    const std::string_view meant =
        nearest(std::string_view{word}.substr(begin, word.find('=') - begin), known);
    std::string remedy = see_help(whose_);
    if (!meant.empty()) {
      remedy = "; did you mean --" + std::string{meant} + '?';
    } else if (!word.starts_with(hyphens)) {
      remedy += ", or write -- before an argument that begins with a hyphen";
    }
    throw UsageError("unknown option " + quote(word) + remedy);
  }

  const CommandSyntax& command_;
  const std::string whose_;  // how the command is called: dutiful next
  std::span<const std::string> words_;
  std::size_t arguments_read_ = 0;
  std::vector<const Option*> given_;
};

const CommandSyntax* find(const ProgramSyntax& program, const std::string& name) {
  const auto command = std::ranges::find(program.commands, name, &CommandSyntax::name);
  return command == program.commands.end() ? nullptr : &*command;
}

[[noreturn]] void refuse_unknown(const ProgramSyntax& program, const std::string& word) {
  if (word.starts_with('-')) {
    throw UsageError("unknown option " + quote(word) + "; the command comes first, see " +
                     program.name + " --help");
  }
  std::string all;
  std::vector<std::string_view> known;
  for (const CommandSyntax& command : program.commands) {
    all += (all.empty() ? "" : ", ") + command.name;
    known.push_back(command.name);
  }
  const std::string meant{nearest(word, known)};
  throw UsageError("unknown command " + quote(word) + "; " +
                   (meant.empty() ? "" : "did you mean " + meant + "? ") + "the commands are " +
                   all);
}

}  // namespace

const CommandSyntax* read_command_line(const ProgramSyntax& program,
                                       std::span<const std::string> words,
                                       std::ostream& out) {
  if (words.empty()) throw UsageError("missing command" + see_help(program.name));
  const std::string& first = words.front();
  if (asks_for_help(first)) {
    const CommandSyntax* command = words.size() > 1 ? find(program, words[1]) : nullptr;
    if (words.size() > 1 && command == nullptr && !words[1].starts_with('-')) {
      refuse_unknown(program, words[1]);
    }
    out << (command == nullptr ? help_of(program) : help_of(program, *command));
    return nullptr;
  }
  if (first == "--version" && !program.version.empty()) {
    out << program.name << ' ' << program.version << '\n';
    return nullptr;
  }
  const CommandSyntax* command = find(program, first);
  if (command == nullptr) refuse_unknown(program, first);

  // --help works even if the rest of the command line is wrong.
  words = words.subspan(1);
  if (std::any_of(words.begin(), std::ranges::find(words, "--"), asks_for_help)) {
    out << help_of(program, *command);
    return nullptr;
  }
  Reader{*command, program.name + ' ' + command->name, words}.read();
  return command;
}

}  // namespace dutiful
