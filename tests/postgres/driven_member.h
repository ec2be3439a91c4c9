// A member of a cluster, driven by real time on a real database. Its runs last for a moment.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <poll.h>
#include <time.h>

#include "cluster/member.h"
#include "postgres/connections.h"

namespace dutiful {

inline cluster::BootTime boot_now() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return cluster::BootTime{Duration{now.tv_sec * 1000 + now.tv_nsec / 1'000'000}};
}

class DrivenMember {
 public:
  // Told of a run that begins.
  using Begin = std::function<void(const cluster::RunKey&)>;

  DrivenMember(const postgres::Options& options,
               std::string settings,
               cluster::MemberId id,
               Begin begin)
      : connections_(options),
        member_(
            {.calendar = options.calendar, .lease = options.lease, .settings = std::move(settings)},
            id),
        begin_(std::move(begin)) {}

  void initialize(const std::vector<TaskConfig>& list) { member_.initialize(list, boot_now()); }
  void stop() { member_.stop(boot_now()); }

  // Whether it runs this task now: a run ends with the lease (N5).
  [[nodiscard]] bool runs(const std::string& task) const {
    return boot_now() < lease_ &&
           std::ranges::any_of(running_, [&](const auto& run) { return run.first.task == task; });
  }
  [[nodiscard]] bool is_initialized() const { return initialized_; }
  [[nodiscard]] bool is_stopped() const { return stopped_; }
  [[nodiscard]] bool has_recorded_all() const { return recorded_all_; }

  // Does what is to be done now. A member that has stopped must hear of nothing more: it would take
  // the answer to its last renewal for its death, and join again.
  void drive() {
    if (stopped_) return;
    for (auto& happening : connections_.take()) {
      if (stopped_) return;
      std::visit([this](auto& what) { heed(what); }, happening);
      perform();
    }
    end_runs();
    member_.wake(boot_now());
    perform();
  }
  [[nodiscard]] cluster::BootTime next_wake() const {
    if (stopped_) return cluster::BootTime::max();
    cluster::BootTime next = std::min(member_.next_wake(), lease_);
    for (const auto& [run, until] : running_) next = std::min(next, until);
    return next;
  }
  void add_to(std::vector<pollfd>& waiting) const {
    if (!stopped_) connections_.add_to(waiting);
  }

 private:
  using Connections = cluster::Connections;

  void heed(Connections::Connected& connected) { member_.connected(connected.channel, boot_now()); }
  void heed(Connections::Disconnected& lost) { member_.disconnected(lost.channel, boot_now()); }
  void heed(Connections::Answered& answered) {
    member_.answered(answered.channel, std::move(answered.answer), boot_now());
  }
  void heed(Connections::Notified& /*notified*/) { member_.notified(boot_now()); }

  void end_runs() {
    const cluster::BootTime now = boot_now();
    const auto running = running_;
    for (const auto& [run, until] : running) {
      const bool is_cut = now >= lease_;
      if (!is_cut && now < until) continue;
      running_.erase(run);
      member_.ended(
          run, is_cut ? cluster::RunResult::interrupted : cluster::RunResult::success, now);
      perform();
    }
  }

  void perform() {
    for (cluster::Effect& effect : member_.take_effects()) {
      std::visit([this](auto& what) { this->perform(what); }, effect);
    }
  }
  void perform(cluster::Connect& connect) { connections_.connect(connect.channel); }
  void perform(cluster::Send& send) { connections_.send(send.channel, std::move(send.request)); }
  void perform(cluster::StartRun& start) {
    if (boot_now() >= lease_) {  // it never began
      running_[start.run] = boot_now();
      return;
    }
    begin_(start.run);
    running_[start.run] = boot_now() + std::chrono::milliseconds{150};
  }
  void perform(cluster::ExtendLease& lease) { lease_ = lease.until; }
  void perform(cluster::EndRuns& /*end*/) { running_.clear(); }
  void perform(cluster::Initialized& /*initialized*/) { initialized_ = true; }
  void perform(cluster::Superseded& /*superseded*/) {}
  void perform(cluster::Stopped& stopped) {
    stopped_ = true;
    recorded_all_ = stopped.all_recorded;
  }
  void perform(cluster::Forgotten& /*forgotten*/) {}

  postgres::Connections connections_;
  cluster::Member member_;
  Begin begin_;
  cluster::BootTime lease_ = cluster::BootTime::min();
  std::map<cluster::RunKey, cluster::BootTime> running_;  // and when they end
  bool initialized_ = false;
  bool stopped_ = false;
  bool recorded_all_ = false;
};

}  // namespace dutiful
