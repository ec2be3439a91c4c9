#include "faults/promises.h"

#include <algorithm>
#include <array>
#include <utility>

#include "time/iso8601.h"

namespace dutiful::faults {
namespace {

Instant instant(long long milliseconds) {
  return Instant{Duration{milliseconds}};
}

std::string text_of(Instant instant) {
  return instant == no_instant ? "never" : format_utc(instant);
}

std::string text_of(const TaskProgress& progress) {
  static constexpr std::array<const char*, 3> states{"awaiting run", "running", "awaiting retry"};
  std::string text = states.at(static_cast<std::size_t>(progress.state));
  if (progress.orphan_pending) text += ", interrupted";
  return text + ", attempt " + std::to_string(progress.attempt) + " at " +
         text_of(progress.last_attempt) + ", succeeded " + text_of(progress.last_success) +
         ", failed " + text_of(progress.last_failure);
}

}  // namespace

void Promises::read(const Words& words) {
  ++life_;
  for (const std::string& text : words) {
    const Line line{text};
    if (line.verb == "time") time_ = std::max(time_, instant(line.number(0)));
    if (line.verb == "initializing") {
      under_way_ = line.word(0);
      initializing_life_ = life_;
    }
    if (line.verb == "initialized") accept(line.word(0));
    if (line.verb == "refused") {
      if (under_way_.empty())
        complaints_.push_back("refused, though a run of it has begun: " + text);
      if (line.word(1) == "in-doubt") possible_.insert(line.word(0));
      under_way_.clear();
    }
    if (line.verb == "started") on_started(line);
    if (line.verb == "returned" || line.verb == "ended") {
      const auto found = runs_.find(line.word(0));
      if (found == runs_.end()) {
        complaints_.push_back("no start precedes this line: " + text);
        continue;
      }
      Run& run = found->second;
      run.stage = line.verb == "ended" ? Stage::ended : Stage::returned;
      run.failed = line.word(1) == "failure";
      if (run.stage == Stage::ended && !run.failed) done_.insert({line.word(0), run.pulse});
    }
  }
  if (!under_way_.empty()) possible_.insert(std::exchange(under_way_, ""));
}

void Promises::on_started(const Line& line) {
  // A run shows that its list is durable, even before initialize() has returned.
  if (!under_way_.empty()) accept(under_way_);
  const std::string& task = line.word(0);
  const Run run{
      .started = instant(line.number(4)), .pulse = instant(line.number(3)), .life = life_};
  const std::string which = task + " of " + text_of(run.pulse);
  if (!attempts_.insert({task, run.pulse, line.number(2)}).second) {
    complaints_.push_back("attempt " + line.word(2) + " at " + which + " was made twice");
  }
  if (done_.contains({task, run.pulse})) {
    complaints_.push_back(which + " was started again after its success was printed");
  }
  runs_[task] = run;
}

void Promises::accept(const std::string& list) {
  resolve_to(list);
  under_way_.clear();
}

void Promises::resolve_to(const std::string& list) {
  list_ = list;
  possible_.clear();
  // Removed tasks are forgotten.
  const auto is_listed = [&](const std::string& task) {
    return !list.empty() && std::ranges::any_of(lists().at(list), [&](const Listed& listed) {
      return listed.name == task;
    });
  };
  std::erase_if(runs_, [&](const auto& run) { return !is_listed(run.first); });
}

Complaints Promises::broken_by(const std::vector<TaskRecord>& records) const {
  Complaints complaints = complaints_;
  const std::string found = list_of(records);
  if (found != list_ && !possible_.contains(found)) {
    std::string expected = list_.empty() ? "no list" : list_;
    for (const std::string& other : possible_) expected += " or " + other;
    complaints.push_back("the state has " + (found.empty() ? "no list" : "the list " + found) +
                         ", and should have " + expected);
    return complaints;
  }
  for (const TaskRecord& record : records) {
    const std::string fault = fault_of(record.config.name, record.progress);
    if (fault.empty()) continue;
    complaints.push_back(record.config.name + ": " + fault +
                         "; the record says: " + text_of(record.progress));
  }
  return complaints;
}

std::string Promises::fault_of(const std::string& task, const TaskProgress& found) const {
  const bool running = found.state == TaskState::running;
  const auto known = runs_.find(task);
  const Instant begun = known == runs_.end() ? no_instant : known->second.started;
  if (found.last_attempt < begun) return "its start at " + text_of(begun) + " is lost";

  // A start that was recorded, but whose callback had no time to print it.
  if (found.last_attempt > begun) {
    if (known != runs_.end() && known->second.stage == Stage::begun &&
        known->second.life >= initializing_life_) {
      return "it was started before its run at " + text_of(begun) + " ended";
    }
    return running || found.orphan_pending ? ""
                                           : "it is recorded as ended, but no callback was called";
  }
  if (known == runs_.end())
    return running || found.orphan_pending ? "it is running without a start" : "";

  const Run& run = known->second;
  const bool ended = !running && !found.orphan_pending;
  if (run.stage == Stage::ended && !ended) return "its end is lost";
  if (run.stage == Stage::begun && ended)
    return "it is recorded as ended, but its callback has not returned";
  if (found.orphan_pending && run.life >= initializing_life_) {
    return "it is marked as interrupted, but no later life has begun";
  }
  if (!ended) return "";
  const bool failed = found.state == TaskState::awaiting_retry;
  if (failed != run.failed) return run.failed ? "its failure is lost" : "its success is lost";
  const Instant when = failed ? found.last_failure : found.last_success;
  return when < begun ? "when it ended is lost" : "";
}

std::string list_of(const std::vector<TaskRecord>& records) {
  if (records.empty()) return "";
  List found;
  for (const TaskRecord& record : records) {
    found.push_back({record.config.name, record.config.cron, record.config.retry_delay});
  }
  std::ranges::sort(found, {}, &Listed::name);
  for (const auto& [name, list] : lists()) {
    if (found == list) return name;
  }
  return "?";
}

Complaints wrong_restarts(const std::vector<TaskRecord>& found, const Words& words, Extent extent) {
  Complaints complaints;
  std::map<std::string, const TaskProgress*> interrupted;
  for (const TaskRecord& record : found) {
    const TaskProgress& progress = record.progress;
    if (progress.state == TaskState::running || progress.orphan_pending) {
      interrupted[record.config.name] = &progress;
    }
  }
  for (const std::string& text : words) {
    const Line line{text};
    if (line.verb != "started") continue;
    const auto expected = interrupted.find(line.word(0));
    if (line.word(1) != "orphan") {
      if (expected != interrupted.end()) {
        complaints.push_back(line.word(0) +
                             " was interrupted, and started for another reason: " + text);
        interrupted.erase(expected);
      }
      continue;
    }
    if (expected == interrupted.end()) {
      complaints.push_back(line.word(0) + " was not interrupted, and restarted: " + text);
      continue;
    }
    const TaskProgress& progress = *expected->second;
    if (line.number(2) != progress.attempt + 1LL || instant(line.number(3)) != progress.pulse) {
      complaints.push_back("restarted as another run: " + text + "; the record said: " +
                           text_of(progress) + ", of " + text_of(progress.pulse));
    }
    interrupted.erase(expected);
  }
  if (extent == Extent::whole) {
    for (const auto& [task, progress] : interrupted) {
      complaints.push_back(task + " was interrupted, and not restarted");
    }
  }
  return complaints;
}

}  // namespace dutiful::faults
