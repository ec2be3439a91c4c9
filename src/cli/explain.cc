// dutiful explain: a cron expression in plain English, or why it is invalid.

#include <algorithm>
#include <functional>
#include <memory>
#include <ostream>

#include <nlohmann/json.hpp>

#include <dutiful/cron.h>
#include <dutiful/limits.h>

#include "cli/expression_argument.h"
#include "cli/json.h"
#include "cli/subcommands.h"
#include "cron/cause.h"
#include "cron/english.h"
#include "text/characters.h"
#include "text/quote.h"

namespace dutiful {
namespace {

struct Arguments {
  std::string expression;
  bool json = false;
};

// The expression on one line, and carets below the offending characters. Columns are counted in the
// escaped text, so that the carets are in place after a tab or a newline too.
std::string point_at(const InvalidCronExpressionError::Details& details) {
  const auto columns = [](std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, std::not_fn(is_continuation)));
  };
  const std::string_view expression = details.expression;
  const std::string before = escape(expression.substr(0, details.offset));
  const std::string where = escape(expression.substr(details.offset, details.length));
  return "  " + before + where + escape(expression.substr(details.offset + details.length)) +
         "\n  " + std::string(columns(before), ' ') +
         std::string(std::max<std::size_t>(columns(where), 1), '^');
}

nlohmann::ordered_json to_json(const CronExpression& cron, const std::string& text) {
  return {{"expression", text},
          {"valid", true},
          {"english", to_english(cron)},
          {"canonical", cron.to_string()},
          {"neverMatches", cron.never_matches()}};
}

nlohmann::ordered_json to_json(const InvalidCronExpressionError& error) {
  const auto& details = error.details();
  nlohmann::ordered_json document{{"expression", details.expression},
                                  {"valid", false},
                                  {"error", error.name()},
                                  {"field", details.field},
                                  {"reason", details.reason},
                                  {"equivalent", nullptr},
                                  {"offset", details.offset},
                                  {"length", details.length}};
  if (!details.equivalent.empty()) document["equivalent"] = details.equivalent;
  return document;
}

Exit explain(const Arguments& arguments, Console& console) try {
  const auto cron = CronExpression::parse(arguments.expression);
  if (arguments.json) {
    console.out << to_text(to_json(cron, arguments.expression)) << '\n';
    return Exit::done;
  }
  console.out << to_english(cron) << '\n';
  if (cron.never_matches()) {
    console.out << "It is never due: " << no_occurrence(cron, arguments.expression, Direction::next)
                << '\n';
  }
  return Exit::done;
} catch (const InvalidCronExpressionError& error) {
  if (arguments.json) console.out << to_text(to_json(error)) << '\n';
  console.err << "dutiful: " << error.what() << '\n';
  if (arguments.expression.size() <= cron_text_max)
    console.err << point_at(error.details()) << '\n';
  return Exit::no;
}

}  // namespace

CommandSyntax explain_command() {
  auto arguments = std::make_shared<Arguments>();
  return {.name = "explain",
          .description = "Explain a cron expression in plain English",
          .arguments = {expression_argument(arguments->expression)},
          .options = {{.name = "--json",
                       .description = "Print one JSON object",
                       .target = &arguments->json}},
          .example = "dutiful explain '15 3 * * 1-5'",
          .action = [=](Console& console) { return explain(*arguments, console); }};
}

}  // namespace dutiful
