#include "tasks/crontab.h"

#include <algorithm>
#include <array>
#include <utility>

#include "cron/nonposix.h"
#include "tasks/crontab_fields.h"
#include "text/quote.h"
#include "text/utf8.h"

namespace dutiful {
namespace {

constexpr std::string_view blanks = " \t";
constexpr std::string_view spaces = " \t\v\f\r";

std::string_view trim_left(std::string_view text, std::string_view what) {
  text.remove_prefix(std::min(text.find_first_not_of(what), text.size()));
  return text;
}

// Takes a word and the blanks after it.
std::string_view take_word(std::string_view& rest) {
  const std::string_view word = rest.substr(0, rest.find_first_of(blanks));
  rest = trim_left(rest.substr(word.size()), blanks);
  return word;
}

// Reads NAME = value, each optionally in quotes of either kind; nothing if the line is not that.
// Without quotes, trailing spaces are ignored; no other character is special, not even #.
std::optional<std::pair<std::string, std::string>> read_variable(std::string_view line) {
  const auto take_quote = [&line]() -> char {
    if (!line.starts_with('"') && !line.starts_with('\'')) return '\0';
    const char quote = line[0];
    line.remove_prefix(1);
    return quote;
  };

  const char name_quote = take_quote();
  const std::string name_end =
      name_quote != '\0' ? std::string{name_quote, '='} : std::string{spaces} + '=';
  const std::string name{line.substr(0, line.find_first_of(name_end))};
  line.remove_prefix(name.size());
  if (name_quote != '\0' && line.starts_with(name_quote)) line.remove_prefix(1);
  line = trim_left(line, spaces);
  if (name.empty() || !line.starts_with('=')) return std::nullopt;
  line = trim_left(line.substr(1), spaces);

  if (const char quote = take_quote(); quote != '\0') {
    const auto end = line.find(quote);
    if (end == std::string_view::npos || !trim_left(line.substr(end + 1), spaces).empty())
      return std::nullopt;
    return std::pair{name, std::string{line.substr(0, end)}};
  }
  return std::pair{name, std::string{line.substr(0, line.find_last_not_of(spaces) + 1)}};
}

// Splits the text after the fields: the first % without a backslash before it ends the command and
// begins its input, in which every further such % is a newline. \% is a plain %. Where cron
// implementations differ, this follows Debian's: a backslash may be escaped too, so \\% ends the
// command, in which \\ is one backslash; in the input it stays two, and \\% is \ and a plain %.
void split_command(std::string_view text, CrontabJob& job) {
  bool escaped = false;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%' && !escaped) break;
    if (escaped && (c == '%' || c == '\\')) job.command.pop_back();
    job.command += c;
    escaped = c == '\\' && !escaped;
  }
  if (i + 1 >= text.size()) return;

  bool needs_newline = false;
  escaped = false;
  for (const char c : text.substr(i + 1)) {
    if (escaped && c != '%') job.input += '\\';
    const char read = c == '%' && !escaped ? '\n' : c;
    escaped = c == '\\';
    if (escaped) continue;
    job.input += read;
    needs_newline = read != '\n';
  }
  if (escaped) job.input += '\\';
  if (needs_newline) job.input += '\n';
}

// What is lost of a variable that controls cron itself; empty if nothing is.
std::string_view effect_of(std::string_view name, std::string_view value) {
  if (name == "MAILTO" && !value.empty())
    return "cron mails the output of every run; on_failure of the tasks below mails the end of the "
           "output of a run that fails, and needs /usr/sbin/sendmail";
  if (name == "MAILFROM" && !value.empty())
    return "the mail of on_failure has the sender that sendmail chooses; add a From line to it";
  if (name == "CRON_TZ") return "dutiful runs tasks only in the host's time zone";
  if (name == "RANDOM_DELAY") return "dutiful does not delay runs at random";
  return "";
}

class Reader {
 public:
  explicit Reader(CrontabForm form) : form_(form) {}

  std::vector<CrontabLine> read(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      line_ = {.number = line_.number, .text = std::string{text.substr(0, end)}};
      read_line();
      ++line_.number;
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return std::move(lines_);
  }

 private:
  void keep() { lines_.push_back(line_); }
  void refuse(std::string reason) {
    line_.no_equivalent = std::move(reason);
    keep();
  }

  void read_line() {
    const std::string text = line_.text;
    const std::string_view content = trim_left(text, blanks);
    if (content.empty() || content == "\r") return;
    if (content.starts_with('#')) return keep();
    if (content.find('\0') != std::string_view::npos)
      return refuse("the line contains a NUL character");
    if (find_not_utf8(content) != std::string_view::npos)
      return refuse("the line contains bytes that are not UTF-8, which a task file cannot contain");
    if (content.ends_with('\r'))
      return refuse(
          "the line ends with a carriage return, which cron treats as part of the command");
    if (const auto variable = read_variable(content)) {
      set_variable(variable->first, variable->second);
    } else {
      read_job(content);
    }
  }

  void set_variable(const std::string& name, const std::string& value) {
    if (name == "CRON_TZ") zone_ = value;
    if (name != "LOGNAME") environment_[name] = value;  // cron ignores it
    if (const auto effect = effect_of(name, value); !effect.empty()) refuse(std::string{effect});
  }

  void read_job(std::string_view rest) {
    auto expression = rest.starts_with('@') ? read_macro(take_word(rest)) : read_fields(rest);
    if (const auto* fault = std::get_if<NoEquivalent>(&expression)) return refuse(fault->reason);

    CrontabJob job{.cron = std::get<std::string>(expression), .environment = environment_};
    if (form_ == CrontabForm::system) job.user = take_word(rest);
    if (rest.empty()) {
      return refuse(form_ == CrontabForm::system ? "the line has no user or no command"
                                                 : "the line has no command");
    }
    split_command(rest, job);
    if (!zone_.empty()) return refuse("CRON_TZ sets its time zone to " + quote(zone_));
    const auto shell = environment_.find("SHELL");
    if (shell != environment_.end() && shell->second.empty()) return refuse("SHELL is empty");
    line_.job = std::move(job);
    keep();
  }

  static std::variant<std::string, NoEquivalent> read_macro(std::string_view macro) {
    if (macro == "@reboot")
      return NoEquivalent{"@reboot is not a time; use a systemd unit to run it at boot"};
    // cron's macros are lower case only; expression_of_macro() ignores case.
    const std::string_view expression = expression_of_macro(macro);
    if (expression.empty() ||
        std::ranges::any_of(macro, [](char c) { return c >= 'A' && c <= 'Z'; }))
      return NoEquivalent{"cron has no macro " + quote(macro)};
    return std::string{expression};
  }

  static std::variant<std::string, NoEquivalent> read_fields(std::string_view& rest) {
    std::array<std::string_view, 5> fields;
    for (std::string_view& field : fields) field = take_word(rest);
    if (fields[4].empty())
      return NoEquivalent{"the line is neither a variable nor five fields and a command"};
    return to_posix(fields);
  }

  CrontabForm form_;
  CrontabLine line_;
  std::map<std::string, std::string> environment_;
  std::string zone_;
  std::vector<CrontabLine> lines_;
};

}  // namespace

std::vector<CrontabLine> read_crontab(std::string_view text, CrontabForm form) {
  return Reader{form}.read(text);
}

}  // namespace dutiful
