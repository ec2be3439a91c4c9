#include <dutiful/run.h>

#include "runtime/settler.h"
#include "time/iso8601.h"

namespace dutiful {

std::string RunInfo::key() const {
  return task + '@' + format_utc(pulse) + '#' + std::to_string(attempt);
}

Run::Run(RunInfo info, std::shared_ptr<Settler> settler)
    : info_(std::move(info)), settler_(std::move(settler)) {}

Run& Run::operator=(Run&& other) noexcept {
  if (this != &other) {
    if (settler_) fail("it was dropped unsettled");
    info_ = std::move(other.info_);
    settler_ = std::move(other.settler_);
  }
  return *this;
}

Run::~Run() {
  if (settler_) fail("it was dropped unsettled");
}

void Run::succeed() {
  if (const auto settler = std::exchange(settler_, nullptr)) settler->settle(Outcome::success, "");
}

void Run::fail(const std::string& reason) {
  if (const auto settler = std::exchange(settler_, nullptr)) {
    settler->settle(Outcome::failure, reason);
  }
}

void Callback::operator()(Run run) const noexcept {
  // Whatever it throws is its failure, and nobody else's (RULES K7).
  try {
    if (asynchronous_) {
      asynchronous_(std::move(run));
      return;
    }
    synchronous_(run.info());
    run.succeed();
  } catch (const std::exception& error) {
    run.fail(error.what());
  } catch (...) {
    run.fail("it threw something that is not an exception");
  }
}

}  // namespace dutiful
