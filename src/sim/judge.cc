#include "sim/judge.h"

#include "engine/header.h"
#include "sim/play.h"

namespace dutiful {

Judge::Judge(const Scenario& scenario)
    : monitor_(theory::setting_of(header_of(scenario.zone, scenario.policies), scenario.zone),
               [this](const theory::Violation& violation) { violations_.push_back(violation); }) {}

void Judge::on(Instant at, const TraceEvent& event) {
  ++events_;
  if (std::holds_alternative<RunStart>(event)) ++runs_;
  monitor_.on(events_, at, event);
}

std::vector<theory::Violation> judge(const Scenario& scenario) {
  Judge judge{scenario};
  play(scenario, judge);
  return judge.violations();
}

}  // namespace dutiful
