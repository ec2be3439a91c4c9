// Compute: how much the environment grants, and how much the axioms of liveness may spend.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <vector>

#include <dutiful/time.h>

namespace dutiful::theory {

using Micros = std::chrono::microseconds;

// (a, b, t_lag), the witnesses of T_sched(a, b, t_lag). A unit of compute is a microsecond.
struct Witnesses {
  std::int64_t a = 1;  // units per bit of the registration list
  Micros b = std::chrono::seconds{1};
  Micros lag = std::chrono::seconds{60};

  // F^lin(R)_comp := F^{≤ a·|R| + b}_comp, plus the lag (RULES H6).
  [[nodiscard]] Micros budget(std::size_t bits) const {
    return Micros{a * static_cast<std::int64_t>(bits)} + b + lag;
  }
};

// Stretches of time, ascending and disjoint.
class Stretches {
 public:
  struct Stretch {
    Instant begin, end;
  };

  // Requires that it begins at or after the end of the last one.
  void add(Instant begin, Instant end) {
    if (!stretches_.empty() && stretches_.back().end == begin) {
      stretches_.back().end = end;
    } else {
      stretches_.push_back({{begin, end}, total()});
      if (stretches_.size() > stretches_max) join_oldest();
    }
  }

  // Removes what is after an instant.
  void forget_after(Instant instant) {
    while (!stretches_.empty() && stretches_.back().begin >= instant) stretches_.pop_back();
    if (!stretches_.empty()) {
      stretches_.back().end = std::min(stretches_.back().end, instant);
    }
  }

  // Nothing before this instant is needed any more.
  void forget_before(Instant instant) {
    while (!stretches_.empty() && stretches_.front().end <= instant) stretches_.pop_front();
  }

  // How long they are together since an instant.
  [[nodiscard]] Micros since(Instant instant) const {
    const auto first = std::ranges::upper_bound(stretches_, instant, {}, &Stretch::end);
    if (first == stretches_.end()) return Micros{};
    return total() - first->before - std::max(instant - first->begin, Duration::zero());
  }

  // Appends what is after an instant.
  void copy_after(Instant instant, std::vector<Stretch>& out) const {
    auto stretch = std::ranges::upper_bound(stretches_, instant, {}, &Stretch::end);
    for (; stretch != stretches_.end(); ++stretch) {
      out.push_back({std::max(stretch->begin, instant), stretch->end});
    }
  }

  [[nodiscard]] bool empty() const { return stretches_.empty(); }

 private:
  struct Summed : Stretch {
    Duration before;  // the total length of all earlier ones
  };
  static constexpr std::size_t stretches_max = std::size_t{1} << 16;

  // The judge's memory must not grow with the trace. The two oldest stretches are merged into one
  // of their total length. Only an end recorded even later would show the difference.
  void join_oldest() {
    const Duration length = stretches_.front().end - stretches_.front().begin;
    stretches_.pop_front();
    stretches_.front().begin -= length;
    stretches_.front().before -= length;
  }

  [[nodiscard]] Duration total() const {
    if (stretches_.empty()) return Duration::zero();
    const Summed& last = stretches_.back();
    return last.before + (last.end - last.begin);
  }

  std::deque<Summed> stretches_;
};

// How long one member of a cluster has been frozen.
class FrozenTime {
 public:
  void freeze(Instant now, Instant until) {
    if (until <= until_) return;
    if (now >= until_) {
      before_ += until_ - begin_;
      begin_ = now;
    }
    until_ = until;
  }
  [[nodiscard]] Instant until() const { return until_; }
  [[nodiscard]] Duration total(Instant now) const {
    return before_ + (std::min(now, until_) - begin_);
  }

 private:
  Duration before_{};  // without the newest freeze
  Instant begin_ = Instant::min();
  Instant until_ = Instant::min();
};

// compute(S): a unit for every microsecond of S that is neither frozen nor in an Outage.
//
// Some of it is excused: it does not count for L1. That is the time in which some member ran as
// many callbacks as the limit allows (RULES H10), and the time in which every active member of a
// cluster was frozen.
//
// A callback runs until it returns, which the trace shows only later, when its end is recorded. So
// what is excused is corrected when an end shows that the callback returned earlier.
class ComputeClock {
 public:
  void advance(Instant to) {
    if (!started_) {
      now_ = to;
      started_ = true;
    }
    const Instant begin = std::max(now_, withheld_until_);
    if (to > begin) {
      granted_ += to - begin;
      if (!saturated_.empty() || asleep_until_ > begin) excuse(begin, to);
    }
    now_ = std::max(now_, to);
  }

  void freeze(Instant until) {
    frozen_until_ = std::max(frozen_until_, until);
    withhold(until);
  }
  void withhold(Instant until) { withheld_until_ = std::max(withheld_until_, until); }

  // Every active member is frozen until then.
  void set_all_frozen_until(Instant until) { asleep_until_ = until; }

  // Whether a member runs as many callbacks as the limit allows. `member` collects the time in
  // which it does, and must stay where it is.
  void set_saturated(Stretches& member, bool saturated) {
    const auto place = std::ranges::find(saturated_, &member);
    if (saturated == (place != saturated_.end())) return;
    if (saturated) {
      saturated_.push_back(&member);
    } else {
      saturated_.erase(place);
    }
  }

  // A callback of the member returned then, so the member has had room for another since. What the
  // other members excuse remains: `each_member` passes the stretches of every member to its
  // argument.
  template <typename EachMember>
  void make_room(Stretches& member, Instant since, const EachMember& each_member) {
    member.forget_after(since);
    excused_.forget_after(since);
    std::vector<Stretches::Stretch> rest;
    const auto collect = [&](const Stretches& stretches) { stretches.copy_after(since, rest); };
    collect(asleep_);
    each_member(collect);
    std::ranges::sort(rest, {}, &Stretches::Stretch::begin);
    for (const auto& [begin, end] : rest) {
      if (end > since) excused_.add(std::max(begin, since), end);
      since = std::max(since, end);
    }
  }

  // Nothing before this instant is needed any more.
  void forget_before(Instant instant) {
    excused_.forget_before(instant);
    asleep_.forget_before(instant);
  }

  // Frozen at i: the position lies in an interval in which everything is frozen.
  [[nodiscard]] bool frozen() const { return now_ < frozen_until_; }
  [[nodiscard]] Instant frozen_until() const { return frozen_until_; }
  [[nodiscard]] Instant withheld_until() const { return withheld_until_; }
  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] Micros granted() const { return granted_; }

  // How much of the compute granted since an instant counts for L1.
  [[nodiscard]] Micros usable_since(Instant instant, Micros granted_then) const {
    return granted_ - granted_then - excused_.since(instant);
  }

 private:
  void excuse(Instant begin, Instant end) {
    const Instant awake = std::min(end, asleep_until_);
    if (awake > begin) asleep_.add(begin, awake);
    for (Stretches* member : saturated_) member->add(begin, end);
    excused_.add(begin, saturated_.empty() ? awake : end);
  }

  bool started_ = false;
  Instant now_ = Instant::min();
  Instant frozen_until_ = Instant::min();
  Instant withheld_until_ = Instant::min();  // at least frozen_until_
  Instant asleep_until_ = Instant::min();
  Micros granted_{};
  std::vector<Stretches*> saturated_;  // of the members that are
  Stretches asleep_;
  Stretches excused_;  // the union of asleep_ and the stretches of every member
};

}  // namespace dutiful::theory
