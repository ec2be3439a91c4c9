#include "commands/commands.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <new>
#include <optional>
#include <set>
#include <stop_token>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include "commands/environment.h"
#include "commands/lingering_output.h"
#include "commands/output_reader.h"
#include "commands/output_tail.h"
#include "commands/spawn.h"
#include "leftovers/daemon_journal.h"
#include "leftovers/marks.h"
#include "posix/bell.h"
#include "posix/descriptor.h"
#include "runtime/prompt_callback.h"
#include "sync/mutex.h"

namespace dutiful {
namespace {

using Steady = std::chrono::steady_clock;

// How many commands are started before those that run are looked after again.
constexpr int spawns_per_turn = 16;

// How many pipes are read before that: a turn is short however much is written. Those that are left
// come first in the next.
constexpr int reads_per_turn = 16;

Descriptor checked(int descriptor, const char* what) {
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), what);
  return Descriptor{descriptor};
}

// Whether there was anything.
bool drain(const Descriptor& descriptor) {
  std::array<char, 4096> ignored{};
  bool any = false;
  while (read(descriptor.get(), ignored.data(), ignored.size()) > 0) any = true;
  return any;
}

struct Order {
  std::shared_ptr<const Command> command;
  std::shared_ptr<const UserAccount> account;
  Run run;
};

// A run on its way from SIGTERM to its end.
enum class Stage { running, terminating, killed };

constexpr Steady::time_point never = Steady::time_point::max();

// By which everything is known: process ids come back, serials do not.
using Serial = std::uint64_t;
constexpr Serial bell_serial = 0;
constexpr Serial death_serial = 1;

// In the place of one that is not there yet.
constexpr pid_t unknown_process = 0;

struct Running {
  explicit Running(Run taken, std::size_t output_max) : run(std::move(taken)), tail(output_max) {}

  Run run;
  OutputTail tail;
  Child child;
  JournalLine line;
  Serial serial = 0;
  Steady::time_point begin;
  Stage stage = Stage::running;
  Steady::time_point deadline = never;  // of the stage
  bool reaped = false;
  bool has_leftovers = false;  // in its group, which was not waited for any longer
  CommandResult result;
  std::optional<std::stop_callback<std::function<void()>>> on_stop;
};

}  // namespace

class Commands::Impl {
 public:
  explicit Impl(CommandOptions options)
      : options_(std::move(options)),
        environment_(daemon_environment()),
        epoll_(checked(epoll_create1(EPOLL_CLOEXEC), "epoll")),
        reader_(options_.on_output),
        lingering_(reader_, lingering_pipes_max(), options_.on_output_end) {
    if (!options_.instance.empty()) environment_[instance_variable] = options_.instance;
    sigset_t deaths;
    sigemptyset(&deaths);
    sigaddset(&deaths, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &deaths, nullptr);
    deaths_ = checked(signalfd(-1, &deaths, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd");
    // Descendants that lose their parents come to us, and not to an init that may not be there.
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (!watch(bell_.descriptor(), bell_serial) || !watch(deaths_.get(), death_serial)) {
      throw std::system_error(errno, std::generic_category(), "epoll");
    }
    thread_ = std::thread{[this] { loop(); }};
  }

  ~Impl() {
    {
      const Lock lock{mutex_};
      quitting_ = true;
    }
    bell_.ring();
    thread_.join();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void take(Order order) {
    {
      const Lock lock{mutex_};
      orders_.push_back(std::move(order));
    }
    bell_.ring();
  }

  void open() {
    {
      const Lock lock{mutex_};
      open_ = true;
    }
    bell_.ring();
  }

  void end_all() {
    {
      const Lock lock{mutex_};
      ending_ = true;
    }
    bell_.ring();
  }

  bool are_any() {
    const Lock lock{mutex_};
    return any_run_ || !orders_.empty();
  }

  bool has_leftovers() {
    const Lock lock{mutex_};
    return forgot_leftovers_ || !std::ranges::all_of(leftovers_, group_is_gone);
  }

 private:
  [[nodiscard]] bool watch(int descriptor, Serial serial) {
    epoll_event event{.events = EPOLLIN, .data = {.u64 = serial}};
    return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) == 0;
  }

  // A command whose output nobody reads would be killed by it.
  void watch_output(int output, Serial serial) {
    if (watch(output, serial)) return;
    const int error = errno;
    throw SpawnError(std::string{"its output cannot be watched: "} + std::strerror(error) +
                     (error == ENOSPC ? "; raise fs.epoll.max_user_watches" : ""));
  }

  void loop() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    std::array<epoll_event, reads_per_turn> events{};
    while (take_messages()) {
      const int count = epoll_wait(epoll_.get(), events.data(), reads_per_turn, timeout());
      // No end waits for what others write: not even for epoll to come to it.
      if (drain(deaths_)) reap();
      enforce_deadlines();
      for (int i = 0; i < count; ++i) {
        const Serial serial = events[static_cast<std::size_t>(i)].data.u64;
        if (serial == bell_serial) {
          bell_.take();
        } else if (serial != death_serial) {
          read_some(serial);
        }
      }
    }
    for (auto& [serial, running] : running_) kill(-running->child.process, SIGKILL);
  }

  // Takes what other threads have asked for; says whether to go on.
  bool take_messages() {
    bool ending = false;
    {
      const Lock lock{mutex_};
      if (quitting_) return false;
      overdue_taken_.swap(overdue_);
      ending = ending_;
    }
    start_some(ending);
    for (const Serial serial : overdue_taken_) {
      const auto found = running_.find(serial);
      if (found == running_.end()) continue;
      found->second->result.past_time_limit = true;
      terminate(*found->second);
    }
    overdue_taken_.clear();
    if (ending && !std::exchange(ended_all_, true)) {
      for (auto& [serial, running] : running_) {
        running->result.forced = true;
        terminate(*running);
      }
    }
    return true;
  }

  // All of them where they only have to fail.
  void start_some(bool ending) {
    for (int i = 0; ending || i < spawns_per_turn; ++i) {
      Lock lock{mutex_};
      more_ = (ending || open_) && !orders_.empty();
      any_run_ = more_ || !running_.empty();
      if (!more_) return;
      Order order = std::move(orders_.front());
      orders_.pop_front();
      lock.unlock();
      start(std::move(order), ending);
    }
  }

  [[nodiscard]] int timeout() const {
    if (more_) return 0;
    if (deadlines_.empty() || deadlines_.begin()->first == never) return -1;
    const auto left = std::chrono::ceil<Duration>(deadlines_.begin()->first - Steady::now());
    return static_cast<int>(std::clamp<Duration::rep>(left.count(), 0, 3'600'000));
  }

  // Where even memory is not to be had, the order is dropped, and with it its run has failed.
  void start(Order order, bool ending) {
    try {
      auto running = std::make_unique<Running>(std::move(order.run), options_.output_max);
      running->begin = Steady::now();
      running->result.run = running->run.info();
      try {
        spawn(running, order, ending);
      } catch (const std::exception& error) {
        running->result.spawn_error = error.what();
        settle(*running);
      }
    } catch (const std::bad_alloc&) {
      // Told by the run.
    }
  }

  // Takes the run if it could be started; throws if not. From the moment that there is a child
  // nothing may fail, so there is room for everything before.
  void spawn(std::unique_ptr<Running>& running, const Order& order, bool ending) {
    if (ending) throw SpawnError("the daemon is ending");
    if (running->run.info().must_end.stop_requested()) {
      running->result.past_time_limit = true;
      throw SpawnError("its time limit was over before it could be");
    }
    const Serial serial = running->serial = ++last_serial_;
    try {
      deadlines_.insert({never, serial});
      running_.try_emplace(serial);
      by_process_.emplace(unknown_process, serial);
      make_room_for_overdue();
      if (options_.journal != nullptr) running->line = options_.journal->add();
      running->child =
          spawner_.spawn(*order.command,
                         run_environment(environment_, *order.command, running->run.info()),
                         running->line,
                         order.account.get(),
                         [this, serial](int output) { watch_output(output, serial); });
    } catch (...) {
      cross_out(*running);
      by_process_.erase(unknown_process);
      running_.erase(serial);
      deadlines_.erase({never, serial});
      throw;
    }
    auto entry = by_process_.extract(unknown_process);
    entry.key() = running->child.process;
    by_process_.insert(std::move(entry));
    Running& started = *(running_.at(serial) = std::move(running));
    // May be called at once, and by any thread.
    started.on_stop.emplace(started.run.info().must_end, [this, serial] {
      {
        const Lock lock{mutex_};
        overdue_.push_back(serial);
      }
      bell_.ring();
    });
  }

  void cross_out(const Running& running) {
    if (options_.journal == nullptr) return;
    if (running.has_leftovers) {
      DaemonJournal::keep(running.line, running.child.process);
    } else {
      options_.journal->remove(running.line);
    }
  }

  // For every run once: nobody can catch what a stop callback throws.
  void make_room_for_overdue() {
    const Lock lock{mutex_};
    for (std::vector<Serial>* list : {&overdue_, &overdue_taken_}) {
      if (list->capacity() < running_.size()) list->reserve(2 * running_.size());
    }
  }

  void read_some(Serial serial) {
    const auto found = running_.find(serial);
    if (found == running_.end()) return lingering_.read_some(serial);
    Running& running = *found->second;
    reader_.read_some(running.child.output, &running.tail, running.run.info());
  }

  void reap() {
    int status = 0;
    rusage usage{};
    pid_t process = 0;
    while ((process = wait4(-1, &status, WNOHANG, &usage)) > 0) {
      const auto found = by_process_.find(process);
      if (found == by_process_.end()) continue;  // a descendant that had lost its parent
      const Serial serial = found->second;
      by_process_.erase(found);
      Running& running = *running_.at(serial);
      running.reaped = true;
      record_end(running.result, status, usage);
      if (running.stage == Stage::running || group_is_gone(running.child.process)) {
        end(serial);
      }
    }
    // The group of a run that was asked to stop may outlive the command itself.
    for (auto next = deadlines_.begin(); next != deadlines_.end() && next->first != never;) {
      const Running& running = *running_.at((next++)->second);
      if (running.reaped && group_is_gone(running.child.process)) end(running.serial);
    }
  }

  static bool group_is_gone(pid_t group) { return kill(-group, 0) != 0 && errno == ESRCH; }

  void terminate(Running& running) {
    if (running.stage != Stage::running) return;
    kill(-running.child.process, SIGTERM);
    // One that was stopped cannot end before it goes on.
    kill(-running.child.process, SIGCONT);
    enter(Stage::terminating, options_.kill_grace, running);
  }

  void enter(Stage stage, Duration length, Running& running) {
    auto entry = deadlines_.extract({running.deadline, running.serial});
    running.stage = stage;
    running.deadline = Steady::now() + length;
    entry.value().first = running.deadline;
    deadlines_.insert(std::move(entry));
  }

  void enforce_deadlines() {
    while (!deadlines_.empty() && deadlines_.begin()->first <= Steady::now()) {
      const Serial serial = deadlines_.begin()->second;
      Running& running = *running_.at(serial);
      if (running.stage == Stage::terminating) {
        kill(-running.child.process, SIGKILL);
        enter(Stage::killed, options_.death_max, running);
      } else if (running.reaped) {
        remember_leftovers(running);
        end(serial);
      } else {
        enter(Stage::killed, options_.death_max, running);  // the command itself must be gone
      }
    }
  }

  void remember_leftovers(Running& running) {
    running.has_leftovers = true;
    const Lock lock{mutex_};
    try {
      leftovers_.push_back(running.child.process);
    } catch (const std::bad_alloc&) {
      forgot_leftovers_ = true;
    }
  }

  void end(Serial serial) {
    const auto found = running_.find(serial);
    const std::unique_ptr<Running> running = std::move(found->second);
    running_.erase(found);
    deadlines_.erase({running->deadline, serial});
    running->on_stop.reset();
    cross_out(*running);
    Descriptor& output = running->child.output;
    reader_.read_rest(output, &running->tail, running->run.info());
    if (output.is_open()) lingering_.keep(serial, std::move(output), running->run.info());
    settle(*running);
  }

  void settle(Running& running) {
    CommandResult& result = running.result;
    const bool succeeded = result.succeeded();
    std::string reason;
    try {
      result.duration = std::chrono::floor<Duration>(Steady::now() - running.begin);
      result.output_total = running.tail.total();
      result.output = running.tail.take();
      if (!succeeded) reason = reason_of(result);
      if (options_.on_end) options_.on_end(std::move(result));
    } catch (...) {
      // The run ends all the same.
    }
    if (succeeded) {
      running.run.succeed();
    } else {
      running.run.fail(reason);
    }
  }

  const CommandOptions options_;
  Environment environment_;
  Spawner spawner_;
  Descriptor epoll_;
  Bell bell_;
  Descriptor deaths_;

  Mutex mutex_;
  std::deque<Order> orders_ GUARDED_BY(mutex_);
  std::vector<Serial> overdue_ GUARDED_BY(mutex_);
  // Groups that were still there when their runs ended.
  std::vector<pid_t> leftovers_ GUARDED_BY(mutex_);
  bool forgot_leftovers_ GUARDED_BY(mutex_) = false;
  bool any_run_ GUARDED_BY(mutex_) = false;
  bool open_ GUARDED_BY(mutex_) = false;
  bool ending_ GUARDED_BY(mutex_) = false;
  bool quitting_ GUARDED_BY(mutex_) = false;

  // The thread's own.
  OutputReader reader_;
  LingeringOutput lingering_;
  std::vector<Serial> overdue_taken_;
  std::unordered_map<Serial, std::unique_ptr<Running>> running_;
  std::unordered_map<pid_t, Serial> by_process_;  // those that are not reaped
  std::set<std::pair<Steady::time_point, Serial>>
      deadlines_;  // of all; those that run have `never`
  Serial last_serial_ = death_serial;
  bool more_ = false;  // there are orders left that could be started
  bool ended_all_ = false;

  std::thread thread_;
};

Commands::Commands(CommandOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Commands::~Commands() = default;

Callback Commands::callback(Command command, std::shared_ptr<const UserAccount> account) {
  auto shared = std::make_shared<const Command>(std::move(command));
  return PromptCallback::make([impl = impl_.get(), shared, account = std::move(account)](Run run) {
    impl->take({.command = shared, .account = account, .run = std::move(run)});
  });
}

void Commands::open() {
  impl_->open();
}
void Commands::end_all() {
  impl_->end_all();
}
bool Commands::are_any() const {
  return impl_->are_any();
}
bool Commands::has_leftovers() const {
  return impl_->has_leftovers();
}

}  // namespace dutiful
