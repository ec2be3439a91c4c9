#include "runtime/judgement.h"

#include <utility>

namespace dutiful {

void JudgementBoard::add_violation(event::TheoryViolated violation) {
  if (!first_) first_ = std::make_unique<const event::TheoryViolated>(std::move(violation));
  violations_.fetch_add(1, std::memory_order_release);
}

std::optional<Judgement> JudgementBoard::read() const {
  if (is_ended_) return std::nullopt;
  Judgement judgement{.events = events_.load(std::memory_order_relaxed),
                      .violations = violations_.load(std::memory_order_acquire)};
  if (judgement.violations > 0) judgement.first = *first_;
  return judgement;
}

}  // namespace dutiful
