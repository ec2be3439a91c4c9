#include "cli/help.h"

#include <algorithm>
#include <sstream>

namespace dutiful {
namespace {

// As wide as the narrowest terminal in use.
constexpr std::size_t width_max = 80;
// A wider label has its description on the next line.
constexpr std::size_t label_max = 28;

// Breaks the text into lines; all but the first are indented.
std::string wrap(const std::string& text, std::size_t indent) {
  std::istringstream words{text};
  std::string out;
  std::string line;
  for (std::string word; words >> word;) {
    if (!line.empty() && indent + line.size() + 1 + word.size() > width_max) {
      out += line + '\n' + std::string(indent, ' ');
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return out + line;
}

struct Row {
  std::string label;
  std::string description;
};

// Two columns under a title; empty if there are no rows.
std::string section(const std::string& title, const std::vector<Row>& rows) {
  if (rows.empty()) return "";
  std::size_t width = 0;
  for (const Row& row : rows) {
    if (row.label.size() <= label_max) width = std::max(width, row.label.size());
  }
  const std::size_t indent = width + 4;
  std::string out = '\n' + title + ":\n";
  for (const auto& [label, description] : rows) {
    out += "  " + label +
           (label.size() <= width ? std::string(width - label.size() + 2, ' ')
                                  : '\n' + std::string(indent, ' ')) +
           wrap(description, indent) + '\n';
  }
  return out;
}

Row help_row() {
  return {"-h, --help", "Print this help and exit"};
}

std::string description_of(const CommandSyntax::Option& option) {
  const auto* value = std::get_if<std::string*>(&option.target);
  if (value == nullptr) return option.description;
  return option.description + " (default: " + **value + ')';
}

}  // namespace

std::string form_of(const CommandSyntax::Option& option) {
  std::string value = option.value;
  for (const std::string& choice : option.choices) value += (value.empty() ? "" : "|") + choice;
  return option.name + (value.empty() ? "" : ' ' + value);
}

std::string help_of(const ProgramSyntax& program) {
  std::vector<Row> commands;
  for (const CommandSyntax& command : program.commands) {
    commands.push_back({command.name, command.description});
  }
  std::vector<Row> options{help_row()};
  if (!program.version.empty()) options.push_back({"--version", "Print the version and exit"});
  return "Usage: " + program.name + " COMMAND [OPTIONS]\n\n" + program.description + '\n' +
         section("Commands", commands) + section("Options", options) + "\n`" + program.name +
         " COMMAND --help` describes a command.\n";
}

std::string help_of(const ProgramSyntax& program, const CommandSyntax& command) {
  std::string usage = program.name + ' ' + command.name + " [OPTIONS]";
  std::vector<Row> arguments;
  for (const CommandSyntax::Argument& argument : command.arguments) {
    const bool optional = std::holds_alternative<std::optional<std::string>*>(argument.target);
    const bool several = std::holds_alternative<std::vector<std::string>*>(argument.target);
    usage += optional ? " [" + argument.name + ']' : ' ' + argument.name + (several ? "..." : "");
    arguments.push_back({argument.name, argument.description});
  }
  std::vector<Row> options;
  for (const CommandSyntax::Option& option : command.options) {
    options.push_back({form_of(option), description_of(option)});
  }
  options.push_back(help_row());
  std::string out = "Usage: " + usage + "\n\n" + command.description + ".\n" +
                    section("Arguments", arguments) + section("Options", options);
  if (!command.details.empty()) out += '\n' + wrap(command.details, 0) + '\n';
  if (!command.example.empty()) out += "\nExample:\n  " + command.example + '\n';
  return out;
}

}  // namespace dutiful
