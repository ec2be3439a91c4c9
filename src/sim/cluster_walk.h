// A cluster of two members, one shard and one task, after some steps.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/member.h"
#include "sim/shared_copy.h"
#include "sim/virtual_database.h"
#include "theory/verdict.h"

namespace dutiful {

struct ClusterStep {
  enum class Kind : std::uint8_t {
    disconnects,  // a member notices that its connection has broken
    connects,
    executes,  // the database, a request
    answers,   // the answer to it arrives
    notifies,
    wakes,
    begins,   // a run that was handed out
    reports,  // a member learns that a run has ended
    succeeds,
    fails,
    passes,  // time, until something is due
    restarts,
    resumes,
    executes_late,  // a request whose connection is gone
    // Faults, and what a user does.
    crashes,
    pauses,
    breaks,   // a connection; its request may be executed later, or never
    slows,    // a connection: the request that is on its way, or its answer, takes as long as it
              // likes
    loses,    // a notification
    refuses,  // the database, a commit, because it failed
    changes_list,
    stops,
    breaks_commit,  // as breaks, but only a connection with a commit on its way
  };
  static constexpr std::size_t kinds = 23;
  static constexpr Kind first_fault = Kind::crashes;

  Kind kind{};
  std::uint8_t host = 0;
  std::uint8_t number = 0;  // of the channel, the list or the late request

  [[nodiscard]] bool is_fault() const { return kind >= first_fault; }
};

// Everything takes no time, unless something goes wrong: time passes when nothing else is left to
// do. What can happen at one instant happens in any order. Both hosts have exact clocks.
class ClusterWalk : private DatabaseObserver {
 public:
  static constexpr Duration lease{2400};

  // Both members have joined, and the only pulse is near.
  ClusterWalk();

  // What may happen next. Without faults, the first of them happens if nobody is slow.
  [[nodiscard]] std::vector<ClusterStep> steps() const;
  [[nodiscard]] bool is_allowed(const ClusterStep& fault, int repeats) const {
    return used_[static_cast<std::size_t>(fault.kind)] < repeats;
  }
  void take(const ClusterStep& step);

  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] static Instant pulse();
  [[nodiscard]] const std::optional<theory::Violation>& violation() const { return violation_; }
  // Whether nothing is owed, nothing is recorded that is not so, and the task has a decider.
  [[nodiscard]] bool is_settled() const;
  // Equal for states that have the same future.
  [[nodiscard]] std::uint64_t digest() const;
  [[nodiscard]] std::string text(const ClusterStep& step) const;

 private:
  struct Line {
    std::optional<Instant> connects{};  // then
    bool is_open = false;
    bool is_broken = false;  // and the member has not noticed
    bool is_slow = false;
    std::optional<cluster::Request> request{};
    std::optional<cluster::Answer> answer{};
  };
  struct RealRun {
    cluster::RunKey run;
    cluster::MemberId member{};
  };
  struct Host {
    std::optional<cluster::Member> member{};  // none: its process does not run
    std::uint64_t process = 0;
    std::size_t list = 0;
    bool is_paused = false;
    bool is_stopping = false;
    std::array<Line, 2> lines{};
    std::optional<Instant> notified{};  // then
    std::vector<cluster::RunKey> begins{};
    std::optional<RealRun> run{};
    std::vector<std::pair<cluster::RunKey, cluster::RunResult>> reports{};
    cluster::BootTime lease_until = cluster::BootTime::min();  // what the guard knows

    [[nodiscard]] bool is_able() const {
      return member && !is_paused && !is_stopping && !member->is_superseded();
    }
  };

  // The boot clock of both hosts.
  [[nodiscard]] cluster::BootTime boot() const {
    return cluster::BootTime{now_.time_since_epoch()};
  }
  [[nodiscard]] Instant next_instant_of(const Host& host) const;
  [[nodiscard]] std::optional<Instant> next_instant() const;
  void add_steps_of_member(std::size_t number, std::vector<ClusterStep>& steps) const;
  void add_ends(std::size_t number, std::vector<ClusterStep>& steps) const;
  void add_faults(std::size_t number, std::vector<ClusterStep>& steps) const;

  void take_first_steps(Instant until);
  void start(Host& host);
  void end_process(Host& host);
  void drain(Host& host);
  void perform(Host& host, const cluster::Connect& connect);
  static void perform(Host& host, const cluster::Send& send);
  static void perform(Host& host, const cluster::StartRun& start);
  static void perform(Host& host, const cluster::ExtendLease& extend);
  static void perform(Host& host, const cluster::EndRuns& end);
  void perform(Host& host, const cluster::Stopped& stopped);
  template <typename Effect>
  static void perform(Host& /*host*/, const Effect& /*effect*/) {}

  void leave_request(Line& line);
  [[nodiscard]] cluster::Answer execute(const cluster::Request& request);
  void execute(Line& line);
  void begin_run(Host& host);
  void end_run(Host& host, cluster::RunResult result);
  void pass_time();
  void renew();

  void list_applied(cluster::MemberId member, const std::vector<TaskConfig>& list) override;
  void run_started(cluster::MemberId member, const cluster::RunKey& run) override;
  void run_ended(const cluster::RunKey& run, cluster::RunResult result) override;
  void member_left(cluster::MemberId /*member*/) override {}
  void member_declared_dead(cluster::MemberId member) override;
  void violate(std::string_view axiom, std::string what);

  Instant now_;
  SharedCopy<VirtualDatabase> database_;
  std::vector<SharedCopy<Host>> hosts_;
  std::vector<cluster::Request> late_;  // on their way, and nobody waits for the answer
  bool may_fail_ = true;                // the next run
  std::array<std::uint8_t, ClusterStep::kinds> used_{};

  // What is recorded as running, and where.
  std::map<cluster::RunKey, cluster::MemberId> recorded_;
  // How runs ended whose ends are not durable.
  std::map<cluster::RunKey, cluster::RunResult> ended_;
  bool has_succeeded_ = false;
  bool was_removed_ = false;  // the task, by a list
  std::optional<theory::Violation> violation_;
};

}  // namespace dutiful
