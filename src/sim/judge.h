// Judges a world by the theory while it is played.
#pragma once

#include <vector>

#include "sim/scenario.h"
#include "theory/monitor.h"

namespace dutiful {

// A trace sink that collects the violations in what it receives.
class Judge : public TraceSink {
 public:
  explicit Judge(const Scenario& scenario);

  void on(Instant at, const TraceEvent& event) override;

  [[nodiscard]] const std::vector<theory::Violation>& violations() const { return violations_; }
  [[nodiscard]] std::uint64_t digest(Duration horizon) const { return monitor_.digest(horizon); }
  [[nodiscard]] std::size_t events() const { return events_; }
  [[nodiscard]] std::size_t runs() const { return runs_; }

 private:
  theory::Monitor monitor_;
  std::vector<theory::Violation> violations_;
  std::size_t events_ = 1;  // the header is line 1
  std::size_t runs_ = 0;
};

// Plays the scenario and returns the violations in its trace.
[[nodiscard]] std::vector<theory::Violation> judge(const Scenario& scenario);

}  // namespace dutiful
