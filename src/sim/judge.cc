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
  if (std::holds_alternative<InitStart>(event)) {
    initialize_ = TracedEvent{at, event};
    return;
  }
  if (initialize_) {
    const auto* failure = std::get_if<InitFailure>(&event);
    const bool excused = failure != nullptr && failure->error == "StoreError";
    if (!excused) monitor_.on(events_ - 1, initialize_->at, initialize_->event);
    initialize_.reset();
    if (excused) return;
  }
  monitor_.on(events_, at, event);
}

std::vector<theory::Violation> judge(const Scenario& scenario) {
  Judge judge{scenario};
  play(scenario, judge);
  return judge.violations();
}

}  // namespace dutiful
