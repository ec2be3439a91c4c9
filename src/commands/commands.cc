#include "commands/commands.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include "commands/command_inbox.h"
#include "commands/command_starter.h"
#include "commands/lingering_output.h"
#include "commands/output_reader.h"
#include "commands/running_commands.h"
#include "posix/descriptor.h"
#include "runtime/prompt_callback.h"
#include "runtime/settler.h"
#include "sync/mutex.h"

namespace dutiful {
namespace {

using Steady = std::chrono::steady_clock;

// How many commands are started before those that run get their turn.
constexpr int starts_per_turn = 16;

// How many pipes are read in a turn, so that a turn is short however much is written. The other
// pipes come first in the next turn.
constexpr int reads_per_turn = 16;

// How many pipes are kept open for processes that commands beside the tasks left behind.
constexpr std::size_t lingering_beside_max = 16;

// The serials of the two descriptors that belong to no command.
constexpr Serial inbox_serial = 0;
constexpr Serial death_serial = 1;

Descriptor checked(int descriptor, const char* what) {
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), what);
  return Descriptor{descriptor};
}

// Whether there was anything to read.
bool drain(const Descriptor& descriptor) {
  std::array<char, 4096> ignored{};
  bool any = false;
  while (read(descriptor.get(), ignored.data(), ignored.size()) > 0) any = true;
  return any;
}

void lose(const CommandOptions& options) noexcept {
  if (options.on_lost) options.on_lost();
}

// Reports the result and settles the run.
void finish(RunningCommand& command, const CommandOptions& options) {
  CommandResult& result = command.result;
  const bool succeeded = result.succeeded();
  Run::Settler::note_process_of(
      command.run,
      {.process = result.process, .exit_status = result.exit_status, .signal = result.signal});
  std::string reason;
  try {
    result.output_total = command.tail.total();
    result.output = command.tail.take();
    // The scheduler itself says that a time limit was exceeded.
    const bool is_said = result.past_time_limit && !command.is_beside;
    if (!succeeded) reason = is_said ? end_of(result) : reason_of(result);
  } catch (...) {
    // The run ends all the same, without them.
  }
  try {
    if (options.on_end && !command.is_beside) options.on_end(std::move(result));
  } catch (...) {
    lose(options);
  }
  // Whoever waits for the run finds the command gone.
  command.counted.leave();
  if (succeeded) {
    command.run.succeed();
  } else {
    command.run.fail(reason);
  }
}

}  // namespace

class Commands::Impl {
 public:
  explicit Impl(CommandOptions options)
      : options_(std::move(options)),
        starter_({.instance = options_.instance, .journal = options_.journal}),
        epoll_(checked(epoll_create1(EPOLL_CLOEXEC), "epoll")),
        reader_(options_.on_output),
        lingering_(reader_, lingering_pipes_max(), options_.on_output_end),
        reader_beside_({}),
        lingering_beside_(reader_beside_, lingering_beside_max, {}),
        running_({.kill_grace = options_.kill_grace,
                  .death_max = options_.death_max,
                  .on_end = [this](std::unique_ptr<RunningCommand> ended) { end(*ended); }}) {
    sigset_t deaths;
    sigemptyset(&deaths);
    sigaddset(&deaths, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &deaths, nullptr);
    deaths_ = checked(signalfd(-1, &deaths, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd");
    // Descendants that lose their parent become our children: there may be no init to reap them.
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (!watch(inbox_.descriptor(), inbox_serial) || !watch(deaths_.get(), death_serial)) {
      throw std::system_error(errno, std::generic_category(), "epoll");
    }
    thread_ = std::thread{[this] { loop(); }};
  }

  ~Impl() {
    inbox_.quit();
    thread_.join();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  CommandInbox& inbox() { return inbox_; }

  // A run of a task.
  void put(CommandOrder order) {
    try {
      inbox_.put(std::move(order));
    } catch (const std::bad_alloc&) {
      lose(options_);
      throw;
    }
  }

  bool has_leftovers() {
    const Lock lock{mutex_};
    return forgot_leftovers_ || !std::ranges::all_of(leftovers_, is_group_gone);
  }

 private:
  [[nodiscard]] bool watch(int descriptor, Serial serial) {
    epoll_event event{.events = EPOLLIN, .data = {.u64 = serial}};
    return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) == 0;
  }

  // A command whose output nobody reads would block or be killed by it.
  void watch_output(int output, Serial serial) {
    if (watch(output, serial)) return;
    const int error = errno;
    throw SpawnError(std::string{"cannot watch its output: "} + std::strerror(error) +
                     (error == ENOSPC ? "; raise fs.epoll.max_user_watches" : ""));
  }

  void loop() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    std::array<epoll_event, reads_per_turn> events{};
    while (take_messages()) {
      const int count = epoll_wait(epoll_.get(), events.data(), reads_per_turn, timeout());
      // Look at the deaths in every turn: no end waits for output, not even until epoll reports it.
      if (drain(deaths_)) reap();
      running_.enforce_deadlines(Steady::now());
      for (int i = 0; i < count; ++i) {
        const Serial serial = events[static_cast<std::size_t>(i)].data.u64;
        if (serial == inbox_serial) {
          inbox_.take_rings();
        } else if (serial != death_serial) {
          read_some(serial);
        }
      }
    }
    running_.kill_all();
    running_.for_each([](RunningCommand& command) {
      if (!command.is_beside) return;
      command.counted.leave();
      try {
        command.run.fail("killed with the daemon");
      } catch (const std::bad_alloc&) {
        // It fails without a reason.
      }
    });
  }

  // Does what other threads have asked for. Returns whether to continue.
  bool take_messages() {
    const auto [quit, ending] = inbox_.requests();
    if (quit) return false;
    start_some(ending);
    const auto now = Steady::now();
    for (const Serial serial : inbox_.take_overdue()) {
      RunningCommand* const command = running_.find(serial);
      if (command == nullptr) continue;
      command->result.past_time_limit = true;
      running_.terminate(*command, now);
    }
    if (ending && !std::exchange(ended_all_, true)) {
      running_.for_each([&](RunningCommand& command) {
        command.result.forced = true;
        running_.terminate(command, now);
      });
    }
    return true;
  }

  // Takes all orders if they only have to fail.
  void start_some(bool ending) {
    for (int i = 0; ending || i < starts_per_turn; ++i) {
      auto order = inbox_.next_order();
      more_ = order.has_value();
      if (!more_) return;
      start(std::move(*order), ending);
    }
  }

  [[nodiscard]] int timeout() const {
    if (more_) return 0;
    const auto deadline = running_.next_deadline();
    if (deadline == RunningCommand::never) return -1;
    const auto left = std::chrono::ceil<Duration>(deadline - Steady::now());
    return static_cast<int>(std::clamp<Duration::rep>(left.count(), 0, 3'600'000));
  }

  // If memory runs out, the order is dropped, and its run fails by that.
  void start(CommandOrder order, bool ending) {
    const bool is_beside = order.beside != nullptr;
    try {
      auto command = std::make_unique<RunningCommand>(
          ++last_serial_, std::move(order.run), options_.output_max, std::move(order.counted));
      command->begin = Steady::now();
      command->is_beside = is_beside;
      try {
        start(command, order, ending);
      } catch (const std::exception& error) {
        command->result.spawn_error = error.what();
        finish_now(*command);
      }
    } catch (const std::bad_alloc&) {
      if (!is_beside) lose(options_);
    }
  }

  // Takes the command if it could be started, and throws otherwise. Once there is a child nothing
  // may fail, so room for everything is made first.
  void start(std::unique_ptr<RunningCommand>& command, const CommandOrder& order, bool ending) {
    if (ending) {
      command->result.forced = true;
      throw SpawnError("the daemon is stopping");
    }
    const Beside* const beside = order.beside.get();
    if (beside == nullptr && command->run.info().must_end.stop_requested()) {
      command->result.past_time_limit = true;
      throw SpawnError("its time limit expired while it was waiting");
    }
    const Serial serial = command->serial;
    RunningCommands::Place place{running_, serial};
    inbox_.reserve_overdue(running_.size());
    starter_.start(
        *command, *order.command, order.account.get(), beside, [this, serial](int output) {
          watch_output(output, serial);
        });
    RunningCommand& started = place.take(std::move(command));
    if (beside != nullptr) return running_.limit(started, started.begin + beside->time_limit);
    // Any thread may call it, also at once.
    started.on_stop.emplace(started.run.info().must_end,
                            [this, serial] { inbox_.put_overdue(serial); });
  }

  void read_some(Serial serial) {
    RunningCommand* const command = running_.find(serial);
    if (command == nullptr) {
      lingering_.read_some(serial);
      lingering_beside_.read_some(serial);
      return;
    }
    OutputReader& reader = command->is_beside ? reader_beside_ : reader_;
    reader.read_some(command->child.output, &command->tail, command->run.info());
  }

  void reap() {
    int status = 0;
    rusage usage{};
    pid_t process = 0;
    while ((process = wait4(-1, &status, WNOHANG, &usage)) > 0) {
      running_.on_death(process, status, usage);
    }
    running_.end_dead_groups();
  }

  void end(RunningCommand& command) {
    command.on_stop.reset();
    if (command.has_leftovers) remember_leftovers(command.child.process);
    starter_.record_end(command);
    Descriptor& output = command.child.output;
    OutputReader& reader = command.is_beside ? reader_beside_ : reader_;
    reader.read_rest(output, &command.tail, command.run.info());
    if (output.is_open()) {
      LingeringOutput& lingering = command.is_beside ? lingering_beside_ : lingering_;
      lingering.keep(command.serial, std::move(output), command.run.info());
    }
    finish_now(command);
  }

  void finish_now(RunningCommand& command) {
    command.result.duration = std::chrono::floor<Duration>(Steady::now() - command.begin);
    finish(command, options_);
  }

  void remember_leftovers(pid_t group) {
    const Lock lock{mutex_};
    try {
      leftovers_.push_back(group);
    } catch (const std::bad_alloc&) {
      forgot_leftovers_ = true;
    }
  }

  const CommandOptions options_;
  CommandStarter starter_;
  Descriptor epoll_;
  Descriptor deaths_;
  CommandInbox inbox_;  // outlives the stop callbacks of running_

  Mutex mutex_;
  // Groups that still existed when their runs ended.
  std::vector<pid_t> leftovers_ GUARDED_BY(mutex_);
  bool forgot_leftovers_ GUARDED_BY(mutex_) = false;

  // Only the thread uses these.
  OutputReader reader_;
  LingeringOutput lingering_;
  OutputReader reader_beside_;
  LingeringOutput lingering_beside_;
  RunningCommands running_;
  Serial last_serial_ = death_serial;
  bool more_ = false;  // there may be orders left that could be started
  bool ended_all_ = false;

  std::thread thread_;
};

Commands::Commands(CommandOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Commands::~Commands() = default;

Callback Commands::callback(Command command, std::shared_ptr<const UserAccount> account) {
  auto shared = std::make_shared<const Command>(std::move(command));
  return PromptCallback::make([impl = impl_.get(), shared, account = std::move(account)](Run run) {
    impl->put({.command = shared, .account = account, .run = std::move(run)});
  });
}

void Commands::run_beside(Run run,
                          Command command,
                          Beside beside,
                          std::shared_ptr<const UserAccount> account) {
  impl_->inbox().put({.command = std::make_shared<const Command>(std::move(command)),
                      .account = std::move(account),
                      .run = std::move(run),
                      .beside = std::make_unique<const Beside>(std::move(beside))});
}

void Commands::open() {
  impl_->inbox().open();
}
void Commands::end_all() {
  impl_->inbox().end_all();
}
bool Commands::are_any() const {
  return impl_->inbox().are_any();
}
bool Commands::has_leftovers() const {
  return impl_->has_leftovers();
}

}  // namespace dutiful
