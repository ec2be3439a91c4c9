#include "tasks/task_name.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "text/characters.h"

namespace dutiful {
namespace {

using Words = std::vector<std::string_view>;
using namespace std::string_view_literals;

// These only prepare for the command after the next && or ;.
constexpr std::array preparations{"cd"sv,
                                  "test"sv,
                                  "["sv,
                                  "[["sv,
                                  "export"sv,
                                  "set"sv,
                                  "umask"sv,
                                  "sleep"sv,
                                  "true"sv,
                                  ":"sv,
                                  "."sv,
                                  "source"sv,
                                  "command"sv,
                                  "if"sv,
                                  "mkdir"sv,
                                  "unset"sv};
// These run the command that follows them.
constexpr std::array wrappers{"nice"sv,
                              "ionice"sv,
                              "nohup"sv,
                              "sudo"sv,
                              "env"sv,
                              "time"sv,
                              "timeout"sv,
                              "exec"sv,
                              "setsid"sv,
                              "flock"sv,
                              "chronic"sv,
                              "cronic"sv,
                              "stdbuf"sv,
                              "taskset"sv,
                              "then"sv,
                              "do"sv};
// These run a script.
constexpr std::array interpreters{"sh"sv,
                                  "bash"sv,
                                  "dash"sv,
                                  "zsh"sv,
                                  "ksh"sv,
                                  "perl"sv,
                                  "php"sv,
                                  "ruby"sv,
                                  "python"sv,
                                  "python2"sv,
                                  "node"sv,
                                  "lua"sv,
                                  "java"sv,
                                  "Rscript"sv,
                                  "python3"sv};
// These say little without their last argument.
constexpr std::array talkers{
    "run-parts"sv, "systemctl"sv, "service"sv, "make"sv, "docker"sv, "git"sv, "npm"sv};
constexpr std::array extensions{".sh"sv, ".py"sv, ".pl"sv, ".php"sv, ".rb"sv, ".js"sv, ".jar"sv};

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

std::string_view base(std::string_view word) {
  while (word.ends_with('/')) word.remove_suffix(1);
  return word.substr(word.rfind('/') + 1);
}

bool is_assignment(std::string_view word) {
  const auto equals = word.find('=');
  return equals != std::string_view::npos && equals > 0 && (is_letter(word[0]) || word[0] == '_') &&
         word.substr(0, equals).find('/') == std::string_view::npos;
}

Words split(std::string_view text, std::string_view at) {
  Words parts;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(at), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

// The words of a simple command from its program on, without assignments, wrappers and the options
// of wrappers.
std::span<const std::string_view> strip_wrappers(std::span<const std::string_view> words) {
  bool wrapped = false;
  while (!words.empty()) {
    const std::string_view word = words[0];
    const bool option = wrapped && (word.starts_with('-') || is_digit(word[0]));
    if (is_one_of(base(word), wrappers)) {
      wrapped = true;
      // The lock file comes before the command.
      if (base(word) == "flock") {
        words = words.subspan(1);
        while (!words.empty() && words[0].starts_with('-')) words = words.subspan(1);
        if (words.empty()) break;
      }
    } else if (!option && !is_assignment(word)) {
      break;
    }
    const bool names_a_user = option && (word == "-u" || word == "-g");
    words = words.subspan(names_a_user && words.size() > 1 ? 2 : 1);
  }
  return words;
}

std::string_view without_extension(std::string_view name) {
  for (const std::string_view extension : extensions) {
    if (name.size() > extension.size() && name.ends_with(extension))
      return name.substr(0, name.size() - extension.size());
  }
  return name;
}

// Keeps only characters that never need quotes, and at most 40 of them.
std::string clean(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = is_letter(c) || is_digit(c) || c == '_' || c == '.';
    if (plain) {
      out += c;
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  const auto first = out.find_first_not_of("-.");
  if (first == std::string::npos) return "";
  out.erase(0, first);
  if (out.size() > 40) out.resize(40);
  out.erase(out.find_last_not_of("-.") + 1);
  return out;
}

std::string name_of_simple_command(std::string_view text) {
  const Words all = split(text, " \t\"'`$");
  const auto words = strip_wrappers(all);
  if (words.empty() || is_one_of(words[0], preparations)) return "";
  const std::string_view program = base(words[0]);
  if (is_one_of(program, interpreters)) {
    for (const std::string_view word : words.subspan(1)) {
      if (word.starts_with('-')) continue;
      if (std::string name = clean(without_extension(base(word))); !name.empty()) return name;
    }
  }
  std::string name{without_extension(program)};
  if (is_one_of(program, talkers) && words.size() > 1) {
    for (const std::string_view word : words.subspan(1)) {
      if (word.find_first_of("<>") != std::string_view::npos) break;
      if (!word.starts_with('-')) name.append("-").append(base(word));
    }
  }
  return clean(name);
}

}  // namespace

std::string name_of_command(std::string_view command) {
  for (const std::string_view simple : split(command, ";&|(){}\n")) {
    if (std::string name = name_of_simple_command(simple); !name.empty()) return name;
  }
  return "task";
}

}  // namespace dutiful
