// Any text is either a cron expression that behaves like one, or rejected for a reason that helps.

#include <cstdlib>
#include <iostream>

#include <dutiful/calendar.h>

#include "cron/diagnosis.h"
#include "cron/english.h"
#include "support/mend.h"

namespace dutiful {
namespace {

void require(bool condition, const char* what) {
  if (condition) return;
  std::cerr << "violated: " << what << '\n';
  std::abort();
}

void check_schedule(const CronExpression& cron) {
  static const Calendar calendar{Zone::load("EST5EDT,M3.2.0,M11.1.0")};
  constexpr Instant from = std::chrono::sys_days{std::chrono::year{2025} / 3 / 9};

  require(CronExpression::parse(cron.to_string()) == cron, "print and parse round-trip");
  require(!to_english(cron).empty(), "every schedule has words");

  const auto next = calendar.find_next(cron, from);
  const auto previous = calendar.find_previous(cron, from);
  require(cron.never_matches() == !next, "there is a next one, or there is never one");
  require(next.has_value() == previous.has_value(), "there is a previous one as well");
  if (!next) return;
  require(*next > from && *previous <= from, "next lies after, previous at or before");
  require(calendar.find_next(cron, *previous) == next, "nothing lies between them");
}

void check_rejection(const std::string& text) {
  const auto details = diagnose(text);
  require(details.reason != "is not POSIX cron", "every rejection has its own reason");
  require(details.offset + details.length <= text.size(), "the fault lies in the text");
  require(std::string{InvalidCronExpressionError{details}.what()}.find('\n') == std::string::npos,
          "the message is one line");
  if (details.equivalent.empty()) return;
  require(details.reason.ends_with(details.equivalent), "the message ends with the equivalent");
  if (details.field == "expression") {
    require(CronExpression::try_parse(details.equivalent).has_value(), "the equivalent is valid");
    return;
  }

  // With the equivalent in its place, only a later field can be wrong.
  const std::string mended = mend(details);
  if (CronExpression::try_parse(mended)) return;
  require(diagnose(mended).field_offset > details.field_offset, "the equivalent mends the field");
}

}  // namespace
}  // namespace dutiful

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto cron = dutiful::CronExpression::try_parse(text)) {
    dutiful::check_schedule(*cron);
  } else {
    dutiful::check_rejection(text);
  }
  return 0;
}
