#include "sim/shrink.h"

#include <utility>

namespace dutiful {
namespace {

// Every scenario that is smaller by one thing.
class Smaller {
 public:
  Smaller(const Scenario& scenario, const std::function<bool(const Scenario&)>& fails)
      : scenario_(scenario), fails_(fails) {}

  std::optional<Scenario> find() {
    for (std::size_t i = 0; i + 1 < scenario_.steps.size() && !found_; ++i) without_step(i);
    for (std::size_t i = 0; i + 1 < scenario_.steps.size() && !found_; ++i) without_tasks(i);
    without_callbacks();
    if (!found_) shorter();
    return std::move(found_);
  }

 private:
  bool attempt(Scenario smaller) {
    if (!found_ && fails_(smaller)) found_ = std::move(smaller);
    return found_.has_value();
  }

  void without_step(std::size_t i) {
    Scenario smaller = scenario_;
    smaller.steps.erase(smaller.steps.begin() + static_cast<std::ptrdiff_t>(i));
    attempt(std::move(smaller));
  }

  void without_tasks(std::size_t i) {
    for (std::size_t task = 0; task < scenario_.steps[i].registrations.size(); ++task) {
      Scenario smaller = scenario_;
      auto& list = smaller.steps[i].registrations;
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(task));
      if (attempt(std::move(smaller))) return;
    }
  }

  void without_callbacks() {
    for (const auto& [name, runs] : scenario_.callbacks) {
      Scenario none = scenario_;
      none.callbacks.erase(name);
      if (attempt(std::move(none))) return;
      for (std::size_t run = 0; run < runs.size() && runs.size() > 1; ++run) {
        Scenario fewer = scenario_;
        auto& script = fewer.callbacks[name];
        script.erase(script.begin() + static_cast<std::ptrdiff_t>(run));
        if (attempt(std::move(fewer))) return;
      }
    }
  }

  // Moves the end closer to the last step that has an effect.
  void shorter() {
    Scenario smaller = scenario_;
    const std::size_t count = smaller.steps.size();
    const Instant last = count > 1 ? smaller.steps[count - 2].at : smaller.steps.back().at;
    const Instant middle = last + (smaller.steps.back().at - last) / 2;
    if (smaller.steps.back().at - middle < std::chrono::minutes{1}) return;
    smaller.steps.back().at = middle;
    attempt(std::move(smaller));
  }

  const Scenario& scenario_;
  const std::function<bool(const Scenario&)>& fails_;
  std::optional<Scenario> found_;
};

}  // namespace

Scenario shrink(Scenario scenario, const std::function<bool(const Scenario&)>& fails) {
  while (auto smaller = Smaller{scenario, fails}.find()) scenario = std::move(*smaller);
  return scenario;
}

}  // namespace dutiful
