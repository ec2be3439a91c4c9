#include <dutiful/run.h>

#include "runtime/settler.h"
#include "runtime/stop_state.h"
#include "time/iso8601.h"

namespace dutiful {
namespace {

// A callback that this thread is in. If the thread drops the run of that callback meanwhile, the
// cause may be an exception, whose message is known only to the handler that catches it.
struct Call {
  explicit Call(const Run::Settler* of) : settler(of), outer(std::exchange(innermost, this)) {}
  ~Call() { innermost = outer; }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  static Call* find(const Run::Settler* settler) {
    Call* call = innermost;
    while (call != nullptr && call->settler != settler) call = call->outer;
    return call;
  }

  const Run::Settler* settler;
  bool dropped = false;
  Call* outer;
  static thread_local Call* innermost;
};
thread_local Call* Call::innermost = nullptr;

constexpr std::string_view dropped_unsettled = "the Run was destroyed before it was settled";

}  // namespace

const char* name_of(StopReason reason) noexcept {
  return reason == StopReason::time_limit ? "time_limit" : "stopping";
}

std::optional<StopReason> RunInfo::stop_reason() const noexcept {
  return stop_state ? stop_state->reason() : std::nullopt;
}

std::string RunInfo::key() const {
  std::string key = task + '@' + format_utc(pulse);
  if (recurrence != 0) key += '~' + std::to_string(recurrence);
  return key;
}

Run::Run(RunInfo info, std::shared_ptr<Settler> settler)
    : info_(std::move(info)), settler_(std::move(settler)) {}

Run& Run::operator=(Run&& other) noexcept {
  if (this != &other) {
    drop();
    info_ = std::move(other.info_);
    settler_ = std::move(other.settler_);
  }
  return *this;
}

Run::~Run() {
  drop();
}

void Run::succeed() {
  if (const auto settler = std::exchange(settler_, nullptr)) settler->settle(Outcome::success, "");
}

void Run::fail(const std::string& reason) {
  if (const auto settler = std::exchange(settler_, nullptr)) {
    settler->settle(Outcome::failure, reason);
  }
}

void Run::drop() noexcept {
  const auto settler = std::exchange(settler_, nullptr);
  if (!settler) return;
  if (Call* call = Call::find(settler.get())) {
    call->dropped = true;
  } else {
    settler->settle(Outcome::failure, dropped_unsettled);
  }
}

void Callback::operator()(Run run) const noexcept {
  const auto settler = run.settler_;
  Call call{settler.get()};
  const auto fail_if_dropped = [&](std::string_view reason) {
    if (call.dropped) settler->settle(Outcome::failure, reason);
  };
  // Whatever the callback throws is a failure of this run alone (RULES K7).
  try {
    work_->call(run);
    fail_if_dropped(dropped_unsettled);
  } catch (const std::exception& error) {
    run.drop();  // a synchronous callback has not taken it
    fail_if_dropped(error.what());
  } catch (...) {
    run.drop();
    fail_if_dropped("it threw something that is not an exception");
  }
}

}  // namespace dutiful
