#include "sim/cluster_world.h"

#include <algorithm>
#include <array>
#include <ostream>
#include <utility>

#include "sim/cluster_host.h"
#include "sim/cluster_judge.h"
#include "sim/dice.h"
#include "sim/virtual_database.h"
#include "time/iso8601.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using namespace cluster;
using Kind = ClusterFault::Kind;

class World {
 public:
  World(const ClusterScenario& scenario, std::ostream* log)
      : scenario_(scenario),
        log_(log),
        calendar_(scenario.zone, scenario.policies.repeated_minutes),
        dice_(scenario.seed ^ 0x9e3779b97f4a7c15U),
        now_(scenario.begin),
        database_(scenario.shards, calendar_, scenario.policies.override),
        hosts_(scenario.hosts),
        judge_(scenario, hosts_, database_, log) {
    for (std::size_t number = 0; number < hosts_.size(); ++number) {
      ClusterHost& host = hosts_[number];
      host.begin = scenario.begin;
      host.booted = dice_.up_to(24h * 365);
      host.drift_ppm = dice_.between(-450, 450);
      at(now_ + dice_.up_to(1s), StartProcess{number, 0});
    }
    for (std::size_t i = 0; i < scenario.faults.size(); ++i) {
      if (scenario.faults[i].kind == Kind::database_forgets) {
        at(scenario.faults[i].at - scenario.faults[i].length, RememberDatabase{});
      }
      at(scenario.faults[i].at, FaultHappens{i});
    }
  }

  ClusterVerdict play() {
    Instant before = now_;
    for (int steps = 0; now_ < scenario_.end; ++steps) {
      step();
      if (std::exchange(before, now_) != now_) steps = 0;
      if (steps > 10'000) {
        judge_.time_stands_still();
        break;
      }
    }
    return judge_.conclude();
  }

 private:
  // What happens at some instant.
  struct StartProcess {
    std::size_t host;
    std::uint64_t process;  // only if no later one has started
  };
  struct FaultHappens {
    std::size_t number;
  };
  struct RememberDatabase {};
  struct Connected {
    std::size_t host;
    Channel channel;
    std::uint64_t connection;
    bool succeeds;
  };
  struct Disconnected {
    std::size_t host;
    Channel channel;
    std::uint64_t connection;
  };
  struct Execute {
    std::uint64_t number;
    std::size_t host;
    Channel channel;
    std::uint64_t connection;
    Request request;
  };
  struct Answered {
    std::size_t host;
    Channel channel;
    std::uint64_t connection;
    Answer answer;
  };
  struct Notified {
    std::size_t host;
  };
  struct RunBegins {
    std::size_t host;
    std::uint64_t process;
    std::uint64_t ended_runs;  // only if there was no EndRuns since
    RunKey run;
  };
  struct RunEnds {
    std::size_t host;
    std::uint64_t process;
    std::uint64_t number;
    RunKey run;
    RunResult result;
  };
  struct EndReported {
    std::size_t host;
    std::uint64_t process;
    RunKey run;
    RunResult result;
  };
  struct StopCalled {
    std::size_t host;
    std::uint64_t process;
    Duration away;
  };
  using Happening = std::variant<StartProcess,
                                 FaultHappens,
                                 RememberDatabase,
                                 Connected,
                                 Disconnected,
                                 Execute,
                                 Answered,
                                 Notified,
                                 RunBegins,
                                 RunEnds,
                                 EndReported,
                                 StopCalled>;

  template <typename What>
  void at(Instant instant, What&& what) {
    queue_.try_emplace({std::max(instant, now_), order_++}, std::forward<What>(what));
  }

  // Time.

  void step() {
    Instant next = queue_.empty() ? scenario_.end : queue_.begin()->first.first;
    ClusterHost* wakes = nullptr;
    ClusterHost* kills = nullptr;
    for (ClusterHost& host : hosts_) {
      if (!host.runs.empty()) {
        const Instant deadline = std::max(now_, host.lease_ends);
        if (deadline < next) next = deadline, kills = &host, wakes = nullptr;
      }
      if (!host.member || host.wake == Instant::max()) continue;
      const Instant wake = std::max({host.wake, host.paused_until, now_});
      if (wake < next) next = wake, wakes = &host, kills = nullptr;
    }
    // Until somebody is there who can, nothing can be expected.
    if (std::ranges::none_of(hosts_, is_able))
      judge_.nobody_is_able(std::min(next, scenario_.end) - now_);
    if (next >= scenario_.end) return pass_time(scenario_.end);
    pass_time(next);
    if (kills != nullptr) return guard(*kills);
    if (wakes != nullptr) {
      wakes->member->wake(wakes->boot(now_));
      return drain(*wakes);
    }
    auto node = queue_.extract(queue_.begin());
    std::visit([this](auto& happening) { happen(happening); }, node.mapped());
  }

  void pass_time(Instant to) {
    now_ = to;
    judge_.pass_time(now_, database_clock());
  }
  [[nodiscard]] Instant database_clock() const { return now_ + database_ahead_; }

  // The log.

  void note(std::size_t host, std::string_view what) {
    if (log_ != nullptr) *log_ << format_utc(now_) << " host " << host << ": " << what << '\n';
  }
  void note(std::size_t host, const Request& request) {
    if (log_ == nullptr) return;
    static constexpr std::array<const char*, 9> names{
        "Join", "Renew", "Declare", "Take", "Release", "Commit", "Post", "Apply", "Leave"};
    note(host, std::string{"the database executes "} + names[request.index()]);
  }

  // Processes.

  void happen(const StartProcess& start) {
    ClusterHost& host = hosts_[start.host];
    if (host.member || start.process != host.process) return;
    ++host.process;
    host.runs.clear();  // it ends what an earlier process left
    const auto id = MemberId{((start.host + 1) << 40U) + (host.process << 20U)};
    host.member.emplace(MemberOptions{.calendar = calendar_,
                                      .max_concurrent = scenario_.policies.max_concurrent,
                                      .lease = scenario_.lease},
                        id);
    host.paused_until = now_;
    judge_.process_starts();
    initialize(host);
  }

  void initialize(ClusterHost& host) {
    const ClusterList& list = scenario_.lists[host.list];
    judge_.initialize_called(number_of(host));
    host.member->initialize(list.tasks, host.boot(now_), list.version);
    drain(host);
  }

  void end_process(ClusterHost& host, Duration away) {
    host.member.reset();
    host.stopping = MemberId::none;
    host.wake = Instant::max();
    for (ClusterHost::Connection& connection : host.connections) {
      connection = {.number = connection.number + 1};
    }
    at(now_ + away, StartProcess{number_of(host), host.process});
  }

  [[nodiscard]] std::size_t number_of(const ClusterHost& host) const {
    return static_cast<std::size_t>(&host - hosts_.data());
  }
  [[nodiscard]] static bool is_able(const ClusterHost& host) {
    return host.member && host.stopping == MemberId::none && !host.member->is_superseded();
  }
  [[nodiscard]] bool is_paused(const ClusterHost& host) const { return now_ < host.paused_until; }

  // Does what the member asks for.
  void drain(ClusterHost& host) {
    const std::uint64_t process = host.process;
    for (Effect& effect : host.member->take_effects()) {
      std::visit([&](auto& wanted) { this->perform(host, wanted); }, effect);
      if (!host.member || host.process != process) return;
    }
    host.wake = host.when(host.member->next_wake());
  }

  void perform(ClusterHost& host, const Connect& connect) {
    auto& connection = host.connections[static_cast<std::size_t>(connect.channel)];
    connection = {.number = connection.number + 1};
    const bool reaches = now_ >= host.cut_off_until && now_ >= database_down_until_;
    at(now_ + (reaches ? latency(host) : 100ms),
       Connected{number_of(host), connect.channel, connection.number, reaches});
  }
  void perform(ClusterHost& host, Send& send) {
    auto& connection = host.connections[static_cast<std::size_t>(send.channel)];
    if (!connection.is_open) return;
    connection.request = requests_++;
    at(now_ + latency(host),
       Execute{*connection.request,
               number_of(host),
               send.channel,
               connection.number,
               std::move(send.request)});
    auto& breaks = host.breaks[static_cast<std::size_t>(send.channel)];
    if (const auto broken = std::exchange(breaks, {})) {
      judge_.excuse(std::max(scenario_.lease, broken->late));
      break_connection(host, send.channel, broken->fate, broken->late);
    }
  }
  void perform(ClusterHost& host, const StartRun& start) {
    if (const auto pause = std::exchange(host.pause, {})) {
      judge_.excuse(*pause);
      host.paused_until = std::max(host.paused_until, now_ + *pause);
    }
    at(now_ + dice_.up_to(3ms),
       RunBegins{number_of(host), host.process, host.ended_runs, start.run});
  }
  static void perform(ClusterHost& host, const ExtendLease& extend) {
    host.extend_lease(extend.until);
  }
  void perform(ClusterHost& host, const EndRuns& /*end*/) {
    note(number_of(host), "all runs must end");
    host.runs.clear();
    ++host.ended_runs;
  }
  void perform(ClusterHost& host, const Initialized& initialized) {
    judge_.initialized(number_of(host), initialized.generation);
  }
  static void perform(ClusterHost& /*host*/, const Superseded& /*superseded*/) {}
  void perform(ClusterHost& /*host*/, const Forgotten& /*forgotten*/) { judge_.excuse(0s); }
  void perform(ClusterHost& host, const Stopped& stopped) {
    judge_.stop_returned(host.stopping, stopped);
    end_process(host, host.away);
  }

  // Connections.

  [[nodiscard]] Duration latency(const ClusterHost& host) {
    return now_ < host.slow_until ? dice_.up_to(600ms) : dice_.up_to(12ms);
  }

  // Whether the message is for the process and the connection that are there. If the process stands
  // still, it gets the message later.
  template <typename Message>
  bool receives(ClusterHost& host, Message& message) {
    const auto& connection = host.connections[static_cast<std::size_t>(message.channel)];
    if (!host.member || connection.number != message.connection) return false;
    if (!is_paused(host)) return true;
    at(host.paused_until, std::move(message));
    return false;
  }

  void happen(Connected& message) {
    ClusterHost& host = hosts_[message.host];
    if (!receives(host, message)) return;
    host.connections[static_cast<std::size_t>(message.channel)].is_open = message.succeeds;
    if (message.succeeds) {
      host.member->connected(message.channel, host.boot(now_));
    } else {
      host.member->disconnected(message.channel, host.boot(now_));
    }
    drain(host);
  }

  void happen(Disconnected& message) {
    ClusterHost& host = hosts_[message.host];
    if (!receives(host, message)) return;
    host.connections[static_cast<std::size_t>(message.channel)].is_open = false;
    host.member->disconnected(message.channel, host.boot(now_));
    drain(host);
  }

  void happen(Execute& message) {
    if (now_ < database_down_until_) {
      if (database_restarts_) return;  // the connection is gone
      at(database_down_until_, std::move(message));
      return;
    }
    ClusterHost& host = hosts_[message.host];
    auto& connection = host.connections[static_cast<std::size_t>(message.channel)];
    const bool fails = now_ < host.fails_until && std::holds_alternative<Commit>(message.request);
    if (!std::holds_alternative<Renew>(message.request)) note(message.host, message.request);
    const bool is_heard = connection.number == message.connection && connection.is_open;
    Answer answer =
        fails ? Answer{Failed{}} : database_.execute(message.request, database_clock(), judge_);
    notify();
    if (connection.number == message.connection) connection.request.reset();
    if (!is_heard) return;
    at(now_ + latency(host),
       Answered{message.host, message.channel, message.connection, std::move(answer)});
  }

  void notify() {
    if (!database_.take_notification()) return;
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      if (now_ < notifications_lost_until_ || dice_.chance(5)) {
        judge_.notification_lost();
        continue;
      }
      at(now_ + latency(hosts_[host]), Notified{host});
      if (dice_.chance(10)) at(now_ + dice_.up_to(2s), Notified{host});
    }
  }

  void happen(Answered& message) {
    ClusterHost& host = hosts_[message.host];
    if (!receives(host, message)) return;
    host.member->answered(message.channel, std::move(message.answer), host.boot(now_));
    drain(host);
  }

  void happen(const Notified& message) {
    ClusterHost& host = hosts_[message.host];
    if (!host.member || now_ < host.cut_off_until) return;
    if (is_paused(host)) return at(host.paused_until, message);
    host.member->notified(host.boot(now_));
    drain(host);
  }

  // Runs.

  void happen(const RunBegins& begins) {
    ClusterHost& host = hosts_[begins.host];
    if (!host.member || host.process != begins.process) return;
    if (host.ended_runs != begins.ended_runs) return;
    if (is_paused(host)) return at(host.paused_until, begins);
    // At the last moment before it begins (N5).
    if (host.boot(now_) >= host.lease_until) {
      return at(now_, EndReported{begins.host, begins.process, begins.run, RunResult::interrupted});
    }
    judge_.run_begins(begins.host, begins.run);
    note(begins.host, "a run of " + begins.run.task + " begins");
    const std::uint64_t number = runs_++;
    host.runs[begins.run] = {number};
    const Duration takes = dice_.chance(60)   ? dice_.up_to(2s)
                           : dice_.chance(70) ? dice_.up_to(30s)
                                              : dice_.up_to(3min);
    const RunResult result = dice_.chance(70) ? RunResult::success : RunResult::failure;
    at(now_ + takes + 1ms, RunEnds{begins.host, begins.process, number, begins.run, result});
  }

  void happen(const RunEnds& ends) {
    ClusterHost& host = hosts_[ends.host];
    const auto place = host.runs.find(ends.run);
    if (place == host.runs.end() || place->second.number != ends.number) return;
    host.runs.erase(place);
    judge_.run_ends(ends.run);
    at(now_, EndReported{ends.host, ends.process, ends.run, ends.result});
  }

  // Ends what still runs when the lease ends, whatever the process does.
  void guard(ClusterHost& host) {
    note(number_of(host), "the guard ends the runs");
    for (const auto& [run, real] : std::exchange(host.runs, {})) {
      at(now_, EndReported{number_of(host), host.process, run, RunResult::interrupted});
    }
  }

  void happen(const EndReported& reported) {
    ClusterHost& host = hosts_[reported.host];
    if (!host.member || host.process != reported.process) return;
    if (is_paused(host)) return at(host.paused_until, reported);
    host.member->ended(reported.run, reported.result, host.boot(now_));
    drain(host);
  }

  void happen(const StopCalled& call) {
    ClusterHost& host = hosts_[call.host];
    if (!host.member || host.process != call.process) return;
    if (host.stopping != MemberId::none) return;
    if (is_paused(host)) return at(host.paused_until, call);
    // A start that is on its way was decided before the call, and the theory would take it for one
    // that was decided after it.
    const bool decides = std::ranges::any_of(queue_, [&](const auto& entry) {
      const auto* const execute = std::get_if<Execute>(&entry.second);
      return execute != nullptr && execute->host == call.host &&
             std::holds_alternative<Commit>(execute->request);
    });
    if (decides) return at(now_ + 10ms, call);
    host.away = call.away;
    host.stopping = host.member->id();
    judge_.stop_called(host.stopping);
    host.member->stop(host.boot(now_));
    drain(host);
  }

  // Faults.

  void happen(const RememberDatabase& /*remember*/) { remembered_ = database_; }

  void happen(const FaultHappens& happens) {
    const ClusterFault& fault = scenario_.faults[happens.number];
    ClusterHost& host = hosts_[fault.host];
    const Duration length = fault.length;
    // Nobody can call a process that stands still.
    if (fault.kind == Kind::change_list && is_paused(host)) return at(host.paused_until, happens);
    note(fault.host, dutiful::name_of(fault.kind));
    switch (fault.kind) {
      case Kind::crash:
        judge_.process_dies(host);
        if (host.member) end_process(host, length);
        break;
      case Kind::pause:
        if (fault.waits) {
          host.pause = length;
          break;
        }
        judge_.excuse(length);
        host.paused_until = std::max(host.paused_until, now_ + length);
        break;
      case Kind::break_connection:
        if (fault.waits) {
          host.breaks[static_cast<std::size_t>(fault.channel)] = {fault.fate, length};
          break;
        }
        judge_.excuse(std::max(scenario_.lease, length));
        break_connection(host, fault.channel, fault.fate, length);
        break;
      case Kind::partition:
        judge_.excuse(scenario_.lease + length);
        host.cut_off_until = std::max(host.cut_off_until, now_ + length);
        for (const Channel channel : {Channel::renewals, Channel::work}) {
          break_connection(host, channel, ClusterFault::Fate::never_executed, {});
        }
        break;
      case Kind::slow_network:
        judge_.excuse(length);
        host.slow_until = now_ + length;
        break;
      case Kind::database_pause:
        judge_.excuse(length);
        if (database_down_until_ <= now_) database_restarts_ = false;
        database_down_until_ = std::max(database_down_until_, now_ + length);
        break;
      case Kind::database_forgets:
        database_ = *remembered_;
        judge_.transactions_lost(length);
        [[fallthrough]];
      case Kind::database_restart:
        judge_.excuse(scenario_.lease + length);
        database_restarts_ = true;
        database_down_until_ = std::max(database_down_until_, now_ + length);
        for (ClusterHost& any : hosts_) {
          for (const Channel channel : {Channel::renewals, Channel::work}) {
            break_connection(any, channel, ClusterFault::Fate::never_executed, {});
          }
        }
        break;
      case Kind::clock_step:
        database_ahead_ += length;
        judge_.clock_steps(length);
        break;
      case Kind::failing_commits:
        judge_.excuse(length, 3 * scenario_.lease);  // it accepts no tasks for a while (N12)
        host.fails_until = std::max(host.fails_until, now_ + length);
        break;
      case Kind::leave:
        at(now_, StopCalled{fault.host, host.process, length});
        break;
      case Kind::change_list:
        judge_.excuse(1s);
        host.list = fault.list;
        if (host.member && host.stopping == MemberId::none) initialize(host);
        break;
      case Kind::lost_notifications:
        notifications_lost_until_ = now_ + length;
        break;
    }
  }

  void break_connection(ClusterHost& host,
                        Channel channel,
                        ClusterFault::Fate fate,
                        Duration late) {
    auto& connection = host.connections[static_cast<std::size_t>(channel)];
    if (!host.member || !connection.is_open) return;
    connection.is_open = false;
    if (connection.request) {
      const auto place = std::ranges::find_if(queue_, [&](const auto& entry) {
        const auto* const execute = std::get_if<Execute>(&entry.second);
        return execute != nullptr && execute->number == *connection.request;
      });
      if (place != queue_.end() && fate != ClusterFault::Fate::executed) {
        auto node = queue_.extract(place);
        if (fate == ClusterFault::Fate::executed_late) at(now_ + late, std::move(node.mapped()));
      }
    }
    // Half of the time only the keepalive of the connection tells, if the member does not lose
    // patience before.
    at(now_ + (dice_.chance(50) ? dice_.up_to(300ms) : scenario_.lease),
       Disconnected{number_of(host), channel, connection.number});
  }

  const ClusterScenario& scenario_;
  std::ostream* log_;
  Calendar calendar_;
  Dice dice_;
  Instant now_;
  std::map<std::pair<Instant, std::uint64_t>, Happening> queue_;
  std::uint64_t order_ = 0;

  VirtualDatabase database_;
  std::optional<VirtualDatabase> remembered_;
  Duration database_ahead_{};
  Instant database_down_until_ = Instant::min();
  bool database_restarts_ = false;
  Instant notifications_lost_until_ = Instant::min();
  std::uint64_t requests_ = 0;

  std::vector<ClusterHost> hosts_;
  std::uint64_t runs_ = 0;
  ClusterJudge judge_;
};

}  // namespace

ClusterVerdict play(const ClusterScenario& scenario, std::ostream* log) {
  return World{scenario, log}.play();
}

}  // namespace dutiful
