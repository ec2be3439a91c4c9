// What other threads ask of the thread that serves the commands.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include <dutiful/run.h>

#include "commands/beside.h"
#include "commands/command.h"
#include "commands/live_count.h"
#include "commands/running_commands.h"
#include "commands/user_account.h"
#include "posix/bell.h"
#include "sync/mutex.h"

namespace dutiful {

// A run that waits for its command to be started.
struct CommandOrder {
  std::shared_ptr<const Command> command;
  std::shared_ptr<const UserAccount> account;
  Run run;
  std::unique_ptr<const Beside> beside{};  // set if it is not the command of a task
  LiveCount::Member counted{};             // set by the inbox; leaves before the run is settled
};

class CommandInbox {
 public:
  // These are for any thread, and ring the bell.

  void put(CommandOrder order);
  // Before it is open, orders are kept and not handed out.
  void open();
  void end_all();
  void quit();
  // The run of that command must end. Takes no memory if there is room for it, and must not throw:
  // it is called by a stop callback.
  void put_overdue(Serial serial) noexcept;

  // Whether orders wait, or were handed out and their runs are not settled.
  [[nodiscard]] bool are_any() const noexcept { return !live_.is_zero(); }

  // The rest is for the thread.

  struct Requests {
    bool quit = false;
    bool end_all = false;
  };
  [[nodiscard]] Requests requests() const;
  // The next order, if it is open or everything has to end: commands that run beside the tasks wait
  // for those of tasks.
  [[nodiscard]] std::optional<CommandOrder> next_order();
  // The commands that became overdue since the last call. Valid until the next.
  [[nodiscard]] const std::vector<Serial>& take_overdue();
  // Makes room for every one of so many runs to become overdue once.
  void reserve_overdue(std::size_t runs);

  // Readable after a ring.
  [[nodiscard]] int descriptor() const noexcept { return bell_.descriptor(); }
  void take_rings() noexcept { bell_.take(); }

 private:
  Bell bell_;
  LiveCount live_;
  mutable Mutex mutex_;
  std::deque<CommandOrder> orders_ GUARDED_BY(mutex_);
  std::deque<CommandOrder> beside_ GUARDED_BY(mutex_);
  std::vector<Serial> overdue_ GUARDED_BY(mutex_);
  bool is_open_ GUARDED_BY(mutex_) = false;
  Requests requests_ GUARDED_BY(mutex_);
  std::vector<Serial> overdue_taken_;  // the thread's own
};

}  // namespace dutiful
