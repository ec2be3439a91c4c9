#include "engine/status_board.h"

#include <cstring>
#include <thread>
#include <utility>

namespace dutiful {
namespace {

// Bits of the first word of a slot.
constexpr std::uint64_t state_mask = 0b11;
constexpr unsigned boot_shift = 2;
constexpr unsigned orphan_shift = 3;
constexpr std::uint64_t boot_bit = 1U << boot_shift;
constexpr std::uint64_t orphan_bit = 1U << orphan_shift;
constexpr unsigned reason_shift = 4;
constexpr std::uint64_t reason_mask = std::uint64_t{0b111} << reason_shift;
constexpr std::uint64_t writing_bit = 1U << 7U;
constexpr std::uint64_t number_one = 1U << 8U;
constexpr std::uint64_t number_mask = std::uint64_t{0xffffff} << 8U;
constexpr unsigned attempt_shift = 32;

// A name or a cron expression has at most 1,024 bytes.
constexpr unsigned length_bits = 16;

// A reader that meets a write tries this often before it lets the writer run.
constexpr int spins = 100;

using Atomic = std::atomic_ref<std::uint64_t>;

std::uint64_t word_of(Instant instant) {
  return static_cast<std::uint64_t>(instant.time_since_epoch().count());
}

Instant instant_of(std::uint64_t word) {
  return Instant{Duration{static_cast<Duration::rep>(word)}};
}

std::uint64_t bits_of(Reason reason) {
  return (static_cast<std::uint64_t>(reason) + 1) << reason_shift;
}

std::uint64_t pack(const TaskProgress& progress) {
  return static_cast<std::uint64_t>(progress.state) |
         static_cast<std::uint64_t>(progress.boot_pending) << boot_shift |
         static_cast<std::uint64_t>(progress.orphan_pending) << orphan_shift |
         static_cast<std::uint64_t>(progress.attempt) << attempt_shift;
}

}  // namespace

// NOLINTBEGIN(modernize-avoid-c-arrays): see the members
ShownList::ShownList(const Core& core, std::size_t tasks)
    : size_(tasks),
      constant_(std::make_unique_for_overwrite<Constant[]>(tasks)),
      slots_(std::make_unique_for_overwrite<Slot[]>(tasks)) {
  const Schedules& schedules = core.schedules();
  std::size_t bytes = 0;
  for (Schedules::Number number = 0; number < schedules.size(); ++number) {
    bytes += schedules.text(number).size();
  }
  core.for_each_registered([&](const Core::Task& task) { bytes += task.name.size(); });
  texts_ = std::make_unique_for_overwrite<char[]>(bytes);
  // NOLINTEND(modernize-avoid-c-arrays)

  std::size_t end = 0;
  const auto add = [&](const std::string& text) {
    const std::uint64_t place = end << length_bits | text.size();
    std::memcpy(&texts_[end], text.data(), text.size());
    end += text.size();
    return place;
  };
  schedules_.reserve(schedules.size());
  for (Schedules::Number number = 0; number < schedules.size(); ++number) {
    schedules_.push_back({text(add(schedules.text(number))), schedules.cron(number)});
  }
  core.for_each_registered([&](const Core::Task& task) {
    const TaskProgress& progress = task.progress;
    constant_[task.rank] = {add(task.name), progress.first_coming, task.schedule};
    slots_[task.rank].values = {pack(progress),
                                progress.fence,
                                word_of(progress.pulse),
                                word_of(progress.served_until),
                                word_of(progress.last_attempt),
                                word_of(progress.last_success),
                                word_of(progress.last_failure),
                                word_of(progress.retry_at)};
  });
}

std::string_view ShownList::text(std::uint64_t place) const {
  constexpr std::uint64_t length_mask = (1U << length_bits) - 1;
  return {texts_.get() + (place >> length_bits), static_cast<std::size_t>(place & length_mask)};
}

// Numbers the change. Keeps the reason.
template <typename Change>
void ShownList::change_slot(Slot& slot, const TaskProgress& progress, Change change) noexcept {
  const Atomic first{slot.values[what]};
  std::uint64_t kept = first.load(std::memory_order_relaxed);
  first.store(kept | writing_bit, std::memory_order_relaxed);
  change(
      [&](Word word, std::uint64_t value) {
        Atomic{slot.values[word]}.store(value, std::memory_order_release);
      },
      kept);
  kept = (kept + number_one) & (number_mask | reason_mask);
  first.store(pack(progress) | kept, std::memory_order_release);
}

void ShownList::write(const Core::Task& task, std::optional<Reason> started_for) noexcept {
  const TaskProgress& progress = task.progress;
  change_slot(slots_[task.rank], progress, [&](const auto& set, std::uint64_t& kept) {
    set(fence, progress.fence);
    set(pulse, word_of(progress.pulse));
    set(served_until, word_of(progress.served_until));
    set(last_attempt, word_of(progress.last_attempt));
    set(last_success, word_of(progress.last_success));
    set(last_failure, word_of(progress.last_failure));
    set(retry_at, word_of(progress.retry_at));
    if (started_for) kept = (kept & ~reason_mask) | bits_of(*started_for);
  });
}

void ShownList::write_end(const Core::Task& task) noexcept {
  const TaskProgress& progress = task.progress;
  change_slot(slots_[task.rank], progress, [&](const auto& set, std::uint64_t& /*kept*/) {
    set(last_success, word_of(progress.last_success));
    set(last_failure, word_of(progress.last_failure));
    set(retry_at, word_of(progress.retry_at));
  });
}

ShownTask ShownList::read(std::size_t place) const noexcept {
  Slot& slot = slots_[place];
  const auto get = [&](Word word) {
    return Atomic{slot.values[word]}.load(std::memory_order_acquire);
  };
  for (int tries = 1;; ++tries) {
    const std::uint64_t bits = get(what);
    ShownTask shown{.progress = {.state = static_cast<TaskState>(bits & state_mask),
                                 .boot_pending = (bits & boot_bit) != 0,
                                 .orphan_pending = (bits & orphan_bit) != 0,
                                 .attempt = static_cast<std::uint32_t>(bits >> attempt_shift),
                                 .fence = get(fence),
                                 .pulse = instant_of(get(pulse)),
                                 .first_coming = constant_[place].first_coming,
                                 .served_until = instant_of(get(served_until)),
                                 .last_attempt = instant_of(get(last_attempt)),
                                 .last_success = instant_of(get(last_success)),
                                 .last_failure = instant_of(get(last_failure)),
                                 .retry_at = instant_of(get(retry_at))},
                    .reason = {}};
    if (get(what) == bits && (bits & writing_bit) == 0) {
      const std::uint64_t reason = (bits & reason_mask) >> reason_shift;
      if (reason != 0) shown.reason = static_cast<Reason>(reason - 1);
      return shown;
    }
    if (tries % spins == 0) std::this_thread::yield();  // the writer may be preempted
  }
}

// No reader can be about to share a list that was replaced before `readers_` was 0: it counted
// itself before it looked.
void StatusBoard::free_replaced() noexcept {
  if (!replaced_ || readers_.load() != 0) return;
  while (replaced_) replaced_ = std::exchange(replaced_->older_, nullptr);
}

void StatusBoard::show(std::shared_ptr<ShownList> list) noexcept {
  time_.store(clock_begin, std::memory_order_relaxed);
  shown_.store(list.get());
  std::swap(current_, list);
  if (list) {
    list->older_ = std::move(replaced_);
    replaced_ = std::move(list);
  }
  free_replaced();
}

void StatusBoard::clear() noexcept {
  show(nullptr);
  show_running(0);
  show_store_works();
}

void StatusBoard::show_running(std::size_t running) noexcept {
  running_.store(running, std::memory_order_relaxed);
  free_replaced();
}

void StatusBoard::show_time(Instant now) noexcept {
  const Instant latest = time_.load(std::memory_order_relaxed);
  if (now > latest || now + clock_ahead_max < latest) time_.store(now, std::memory_order_relaxed);
}

void StatusBoard::show_store_failure(Instant now, Instant retry_at) noexcept {
  store_retry_at_.store(retry_at);
  if (failing_since_.load(std::memory_order_relaxed) == no_instant) failing_since_.store(now);
}

void StatusBoard::show_store_works() noexcept {
  if (failing_since_.load(std::memory_order_relaxed) == no_instant) return;
  failing_since_.store(no_instant);
  store_retry_at_.store(no_instant);
}

std::shared_ptr<const ShownList> StatusBoard::list() const noexcept {
  readers_.fetch_add(1);
  const ShownList* const shown = shown_.load();
  auto list = shown == nullptr ? nullptr : shown->weak_from_this().lock();
  readers_.fetch_sub(1);
  return list;
}

}  // namespace dutiful
