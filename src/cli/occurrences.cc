// dutiful next, dutiful prev: when a cron expression is due.

#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include <nlohmann/json.hpp>

#include <dutiful/calendar.h>

#include "cli/expression_argument.h"
#include "cli/json.h"
#include "cli/number_argument.h"
#include "cli/policy_argument.h"
#include "cli/subcommands.h"
#include "cli/time_argument.h"
#include "cron/cause.h"
#include "text/quote.h"
#include "time/iso8601.h"

namespace dutiful {
namespace {

struct Arguments {
  std::string expression;
  std::optional<std::string> from;
  std::optional<std::string> zone;
  std::string repeated = "both";
  std::string count = "1";
  bool json = false;
};

// What --from means. Throws UsageError if its local year does not have four digits in ISO 8601.
Instant read_printable_from(const std::string& text, const Zone& zone) {
  const Instant from = read_instant("--from", text, zone);
  const auto local = from + zone.offset_at(from);
  const std::chrono::year year =
      std::chrono::year_month_day{std::chrono::floor<std::chrono::days>(local)}.year();
  if (year < year_min || year > year_max) {
    throw UsageError("--from: " + quote(text) + " is outside the years 1 to 9999 in this zone");
  }
  return from;
}

// Prints occurrences one by one, because there may be many: as lines or as one JSON object.
class Printer {
 public:
  Printer(const Arguments& arguments, const Zone& zone, Instant from, std::ostream& out)
      : arguments_(arguments), zone_(zone), from_(from), out_(out) {}

  void print(Instant instant) {
    const std::string text = format_second(instant, zone_.offset_at(instant));
    if (!arguments_.json) {
      out_ << text << '\n';
      return;
    }
    out_ << (printed_ ? "," : head()) << '"' << text << '"';
    printed_ = true;
  }

  void finish() {
    if (printed_) out_ << "]}\n";
  }

 private:
  // The object up to the first occurrence.
  [[nodiscard]] std::string head() const {
    const nlohmann::ordered_json document{{"expression", arguments_.expression},
                                          {"zone", zone_.name()},
                                          {"repeated", arguments_.repeated},
                                          {"from", format_second(from_, zone_.offset_at(from_))}};
    std::string text = to_text(document);
    text.pop_back();
    return text + ",\"occurrences\":[";
  }

  const Arguments& arguments_;
  const Zone& zone_;
  Instant from_;
  std::ostream& out_;
  bool printed_ = false;
};

Exit print_occurrences(const Arguments& arguments, Direction direction, Console& console) {
  const std::uint64_t count = read_number("--count", arguments.count, {.least = 1});
  const auto cron = CronExpression::parse(arguments.expression);
  if (arguments.zone == "") {
    throw UsageError("--zone: the zone name is empty; use one such as Europe/Berlin or UTC");
  }
  const Zone zone = arguments.zone ? Zone::load(*arguments.zone) : Zone::host();
  const Instant from = arguments.from ? read_printable_from(*arguments.from, zone) : console.now();
  const Calendar calendar{zone, read_repeated(arguments.repeated)};

  Printer printer{arguments, zone, from, console.out};
  Instant at = from;
  try {
    for (std::uint64_t printed = 0; printed < count && console.out; ++printed) {
      const bool next = direction == Direction::next;
      const Instant found = next ? calendar.next(cron, at, arguments.expression)
                                 : calendar.previous(cron, at, arguments.expression);
      printer.print(found);
      at = next ? found : found - Duration{1};
    }
  } catch (const CronCalculationError&) {
    printer.finish();
    throw;
  }
  printer.finish();
  return Exit::done;
}

CommandSyntax command_of(Direction direction) {
  const bool next = direction == Direction::next;
  auto arguments = std::make_shared<Arguments>();
  return {
      .name = next ? "next" : "prev",
      .description = next ? "Show when a cron expression is next due"
                          : "Show when a cron expression was last due, newest first",
      .arguments = {expression_argument(arguments->expression)},
      .options = {{.name = "--from",
                   .value = "TIME",
                   .description =
                       std::string{next ? "Search strictly after this time"
                                        : "Search at and before this time"} +
                       ": ISO 8601 with an offset or Z, or a local time in the zone (default: now)",
                   .target = &arguments->from},
                  {.name = "--count",
                   .value = "N",
                   .description = "How many occurrences to show",
                   .target = &arguments->count},
                  {.name = "--zone",
                   .value = "ZONE",
                   .description = "Time zone, written as in TZ: Europe/Berlin, UTC, "
                                  "CET-1CEST,M3.5.0,M10.5.0/3 (default: the host's)",
                   .target = &arguments->zone},
                  repeated_option(arguments->repeated),
                  {.name = "--json",
                   .description = "Print one JSON object",
                   .target = &arguments->json}},
      .example = std::string{"dutiful "} + (next ? "next" : "prev") +
                 " '15 3 * * 1-5' --zone America/New_York --count 3",
      .action = [=](Console& console) {
        return print_occurrences(*arguments, direction, console);
      }};
}

}  // namespace

CommandSyntax next_command() {
  return command_of(Direction::next);
}

CommandSyntax prev_command() {
  return command_of(Direction::previous);
}

}  // namespace dutiful
