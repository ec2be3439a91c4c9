#include "cron_set.h"

#include <dutiful/cron.h>

#include "cron/field.h"

namespace dutiful {
namespace {

std::string random_field(Random& random, const FieldKind& kind) {
  const auto value = [&] { return random.between(kind.min, kind.max); };
  switch (random.between(0, 9)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return "*";
    case 4:
    case 5:
    case 6:
      return std::to_string(value());
    case 7:
    case 8: {
      std::string list = std::to_string(value());
      for (auto more = random.between(1, 3); more > 0; --more)
        list += ',' + std::to_string(value());
      return list;
    }
    default: {
      const auto low = value();
      return std::to_string(low) + '-' + std::to_string(random.between(low, kind.max));
    }
  }
}

}  // namespace

std::vector<std::string> bench_expressions(std::size_t count) {
  Random random{1};
  std::vector<std::string> expressions;
  while (expressions.size() < count) {
    std::string text;
    for (const FieldKind& kind : field_kinds) {
      text += (text.empty() ? "" : " ") + random_field(random, kind);
    }
    if (!CronExpression::parse(text).never_matches()) expressions.push_back(text);
  }
  return expressions;
}

std::vector<Instant> bench_instants(std::size_t count) {
  using std::chrono::sys_days;
  using namespace std::chrono_literals;
  const auto begin = static_cast<std::uint64_t>(sys_days{2000y / 1 / 1}.time_since_epoch() / 1s);
  const auto end = static_cast<std::uint64_t>(sys_days{2038y / 1 / 1}.time_since_epoch() / 1s);
  Random random{2};
  std::vector<Instant> instants;
  while (instants.size() < count) {
    instants.emplace_back(std::chrono::seconds{random.between(begin, end - 1)});
  }
  return instants;
}

}  // namespace dutiful
