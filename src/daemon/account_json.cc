#include "daemon/account_json.h"

#include <nlohmann/json.hpp>

#include "time/iso8601.h"

namespace dutiful {
namespace {

using Json = nlohmann::ordered_json;

void add_fates(Json& object, const PulseFates& fates) {
  PulseFates::for_each(
      fates, [&](const char* name, std::int64_t pulses) { object.emplace(name, pulses); });
}

}  // namespace

Json json_of(const TaskAccount& account) {
  Json object{{"taskName", account.name},
              {"cronExpression", account.cron},
              {"from", format_utc(account.from)},
              {"until", format_utc(account.until)},
              {"pulses", account.pulses}};
  add_fates(object, account.fates);
  object.update({{"owed", account.owed},
                 {"unknown", account.unknown},
                 {"recurred", account.recurred},
                 {"jumped", account.jumped}});
  if (account.stretches.empty()) return object;
  Json days = Json::array();
  for (const AccountStretch& stretch : account.stretches) {
    Json day{{"from", format_utc(stretch.sums.from)}, {"until", format_utc(stretch.until)}};
    add_fates(day, stretch.sums.fates);
    day.emplace("recurred", stretch.sums.recurred);
    days.push_back(std::move(day));
  }
  object.emplace("days", std::move(days));
  return object;
}

}  // namespace dutiful
