// What the engine shows of its tasks to other threads, without a lock.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/core.h"

namespace dutiful {

// The progress of a task that the board shows, as it was recorded at one moment.
struct ShownTask {
  // Without retries, recurrence and recurs_until.
  TaskProgress progress;
  std::optional<Reason> reason;  // of the newest run, if this list started it
};

// The tasks of one list in the byte order of their names. Only their progress changes.
//
// The progress of a task is a slot of one cache line under a sequence lock: the writer never waits,
// and a reader that meets a write reads again. docs/concurrency.md explains the memory order.
class ShownList : public std::enable_shared_from_this<ShownList> {
 public:
  // Of all registered tasks, which are this many. Throws if there is no memory.
  ShownList(const Core& core, std::size_t tasks);

  struct Schedule {
    std::string_view text;
    CronExpression cron;
  };

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::string_view name(std::size_t place) const {
    return text(constant_[place].name);
  }
  [[nodiscard]] Schedules::Number schedule(std::size_t place) const {
    return constant_[place].schedule;
  }
  [[nodiscard]] const std::vector<Schedule>& schedules() const { return schedules_; }

  // Any thread may read.
  [[nodiscard]] ShownTask read(std::size_t place) const noexcept;

  // Shows the progress of a registered task, and why its newest run started, if that is new. One
  // thread at a time may write.
  void write(const Core::Task& task, std::optional<Reason> started_for) noexcept;
  // The same, for a task that only ended.
  void write_end(const Core::Task& task) noexcept;

 private:
  friend class StatusBoard;

  // The words of a slot, which are atomic from the moment that the list is shown. The first one
  // changes with every write:
  //
  //   bits 0-1 state   2 boot   3 orphan   4-6 reason + 1   7 a write is in progress
  //   8-31 number of the write   32-63 attempt
  enum Word : std::size_t {
    what,
    fence,
    pulse,
    served_until,
    last_attempt,
    last_success,
    last_failure,
    retry_at,
    words
  };
  struct alignas(64) Slot {
    std::array<std::uint64_t, words> values;
  };

  struct Constant {
    std::uint64_t name;  // the place in the texts, and in the lowest bits the length
    Instant first_coming;
    Schedules::Number schedule;
  };

  [[nodiscard]] std::string_view text(std::uint64_t place) const;
  template <typename Change>
  static void change_slot(Slot& slot, const TaskProgress& progress, Change change) noexcept;

  std::size_t size_;
  // Not vectors, which would write zeros first.
  // NOLINTBEGIN(modernize-avoid-c-arrays)
  std::unique_ptr<char[]> texts_;
  std::unique_ptr<Constant[]> constant_;
  std::unique_ptr<Slot[]> slots_;
  // NOLINTEND(modernize-avoid-c-arrays)
  std::vector<Schedule> schedules_;
  std::shared_ptr<ShownList> older_;  // replaced before this one; the board's
};

// The list, and facts about the engine. One thread at a time may write, and never waits for a
// reader, even if that is preempted in the middle. Any thread may read at any time.
class StatusBoard {
 public:
  // Replaces the list.
  void show(std::shared_ptr<ShownList> list) noexcept;
  // The list that is shown, for its writer; nullptr: none.
  [[nodiscard]] ShownList* current() noexcept { return current_.get(); }
  // Shows no list, as before the first one.
  void clear() noexcept;
  void show_running(std::size_t running) noexcept;
  // The time of a step. The board keeps the latest one since the clock was corrected (T7).
  void show_time(Instant now) noexcept;
  void show_store_failure(Instant now, Instant retry_at) noexcept;
  void show_store_works() noexcept;

  [[nodiscard]] std::shared_ptr<const ShownList> list() const noexcept;
  [[nodiscard]] std::size_t running() const noexcept { return running_.load(); }
  [[nodiscard]] Instant time() const noexcept { return time_.load(); }
  [[nodiscard]] Instant store_failing_since() const noexcept { return failing_since_.load(); }
  [[nodiscard]] Instant store_retry_at() const noexcept { return store_retry_at_.load(); }

 private:
  void free_replaced() noexcept;

  std::shared_ptr<ShownList> current_;   // the writer's
  std::shared_ptr<ShownList> replaced_;  // the newest; a reader may be about to share one of them
  std::atomic<const ShownList*> shown_ = nullptr;
  mutable std::atomic<std::size_t> readers_ = 0;  // between their look at `shown_` and their share
  std::atomic<std::size_t> running_ = 0;
  std::atomic<Instant> time_ = Instant{};
  std::atomic<Instant> failing_since_ = no_instant;
  std::atomic<Instant> store_retry_at_ = no_instant;
};

}  // namespace dutiful
