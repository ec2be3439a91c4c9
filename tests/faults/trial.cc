#include "faults/trial.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "store/sqlite/sqlite_store.h"
#include "support/temporary_directory.h"
#include "theory/monitor.h"
#include "trace/lines.h"

namespace dutiful::faults {
namespace {

namespace fs = std::filesystem;

constexpr const char* state_file = "state.db";

void append(Complaints& to, const Complaints& more, const std::string& where) {
  for (const std::string& complaint : more) to.push_back(where + ": " + complaint);
}

// A directory with these files, by a path without links.
class Place {
 public:
  explicit Place(const Files& files) {
    for (const auto& [name, content] : files) {
      std::ofstream{path() + '/' + name, std::ios::binary} << content;
    }
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + '/' + name; }

  [[nodiscard]] Files files() const {
    Files files;
    for (const auto& entry : fs::directory_iterator{path_}) {
      std::ifstream in{entry.path(), std::ios::binary};
      files[entry.path().filename().string()] = {std::istreambuf_iterator<char>{in}, {}};
    }
    return files;
  }

 private:
  TemporaryDirectory directory_;
  std::string path_ = fs::canonical(directory_.file("")).string();
};

struct Found {
  std::vector<TaskRecord> records{};
  Complaints complaints{};
};

// Whether SQLite must roll back a transaction that was interrupted when the state was created,
// before it had its log. A reader may not do that.
bool has_hot_journal(const Files& files) {
  const auto journal = files.find(std::string{state_file} + "-journal");
  return journal != files.end() && !journal->second.empty();
}

// The records of a state, as seen by a holder and by a reader. Uses copies, because the next life
// must find everything unchanged.
Found look(const Files& files) {
  Found found;
  if (!files.contains(state_file)) return found;
  try {
    const Place taken{files};
    found.records = open_sqlite_store(taken.file(state_file))->load().records;
    const Place seen{has_hot_journal(files) ? taken.files() : files};
    if (read_sqlite_state(seen.file(state_file)) != found.records) {
      found.complaints.push_back("who only looks sees another state");
    }
  } catch (const std::exception& error) {
    found.complaints.push_back(std::string{"the state cannot be read: "} + error.what());
  }
  return found;
}

Complaints judge_trace(const std::string& file) {
  Complaints complaints;
  std::ifstream in{file};
  try {
    TraceReader reader{in};
    theory::Monitor monitor{
        theory::setting_of(reader.header(), Zone::utc()),
        [&](const theory::Violation& violation) { complaints.push_back(violation.text()); }};
    for (TracedEvent event; reader.read(event);) {
      monitor.on(reader.line(), event.at, event.event);
    }
    for (const theory::Open& open : monitor.open()) complaints.push_back(open.text());
  } catch (const MalformedTrace& error) {
    complaints.push_back("malformed at line " + std::to_string(error.line()) + ": " + error.what());
  }
  return complaints;
}

std::vector<std::string> arguments_of_next_life(const Past& past,
                                                const std::vector<TaskRecord>& found,
                                                const std::string& manner) {
  if (past.lives.empty()) return {manner, "live"};
  std::string list = list_of(found);
  if (lists().find(list) == lists().end()) list = "X";  // there is no list yet
  return {manner, "recover", list, std::to_string(past.promises.time().time_since_epoch().count())};
}

// Examines what a past has left, which resolves what was uncertain.
Found look_back(Past& past) {
  Found found = look(past.files);
  if (!found.complaints.empty()) return found;
  append(found.complaints, past.promises.broken_by(found.records), "a promise is broken");
  if (found.complaints.empty()) past.promises.resolve_to(list_of(found.records));
  return found;
}

// Whether the life got an error that excludes any change, and did nothing else.
bool was_only_refused(const Life& life) {
  bool refused = false;
  for (const std::string& text : life.words) {
    const Line line{text};
    if (line.verb == "initialized" || line.verb == "started") return false;
    if (line.verb == "refused" && line.word(1) != "certain") return false;
    refused = refused || line.verb == "refused" || line.verb == "unmade";
  }
  return refused;
}

std::string story_of(const Past& past) {
  std::ostringstream story;
  for (std::size_t i = 0; i < past.lives.size(); ++i) {
    story << "--- life " << i + 1 << '\n';
    for (const std::string& words : past.lives[i]) story << words << '\n';
  }
  if (const auto trace = past.files.find(trace_file); trace != past.files.end()) {
    story << "--- trace\n";
    for (const char c : trace->second) story << (c == '\0' ? '?' : c);  // a hole in the trace
  }
  return story.str();
}

void remember(Past& past, const Life& life, const Place& place) {
  past.promises.read(life.words);
  past.lives.push_back(life.words);
  past.files = place.files();
}

enum class Trace { is_judged, is_not_judged };

// The life after it, in which nothing goes wrong.
void recover(Past& past, const Found& before, Trace trace, Complaints& complaints) {
  const Place place{past.files};
  const auto arguments = arguments_of_next_life(past, before.records, "exit");
  const Life life = live({.directory = place.path(), .arguments = arguments});
  remember(past, life, place);
  if (!life.has_exited() || !has(life.words, "initialized") || !has(life.words, "stopped") ||
      has(life.words, "gave") || has(life.words, "refused")) {
    complaints.push_back("the life after does not go well");
  }
  append(complaints, wrong_restarts(before.records, life.words, Extent::whole), "the life after");
  const Found after = look(past.files);
  append(complaints, after.complaints, "after recovery");
  append(complaints, past.promises.broken_by(after.records), "after recovery a promise is broken");
  if (trace == Trace::is_judged) {
    append(complaints, judge_trace(place.file(trace_file)), "the trace");
  }
}

// Whether the trace can never be written again. It lacks what happened since; everything else
// continues.
bool spoils_trace(const Life& life, const Fault& fault) {
  if (fault.scope == Fault::Scope::once) return false;
  for (const std::string& text : life.words) {
    const Line line{text};
    if (line.verb == struck) return line.word(2) == trace_file;
  }
  return false;
}

// Judges the struck life.
Complaints fault_of(const Life& life, const Fault& fault) {
  Complaints complaints;
  const bool should_die = fault.kills() || (has(life.words, "refused") && life.was_killed());
  if (life.hung) complaints.push_back("it hangs");
  if (!has(life.words, struck)) complaints.push_back("the fault did not strike");
  if (should_die != life.was_killed() || (!should_die && !life.has_exited())) {
    complaints.push_back("it ended with status " + std::to_string(life.status));
  }
  // What fails once is retried (RULES X3), unless the call was rejected. A trace never holds up
  // anything.
  const bool trace_alone = fault.scope == Fault::Scope::file && spoils_trace(life, fault);
  const bool gave_up = has(life.words, "gave") || has(life.words, "unstopped");
  if (gave_up && (fault.scope == Fault::Scope::once || trace_alone)) {
    complaints.push_back("it gave up on what would have gone well the next time");
  }
  if (trace_alone && has(life.words, "refused")) {
    complaints.push_back("it was refused for its trace");
  }
  return complaints;
}

}  // namespace

std::vector<LoggedCall> calls_of_next_life(const Past& past) {
  const Place place{past.files};
  const TemporaryDirectory elsewhere;
  const std::string log = elsewhere.file("log");
  (void)live({.directory = place.path(),
              .arguments = arguments_of_next_life(past, look(past.files).records, "exit"),
              .log = log});
  std::ifstream in{log, std::ios::binary};
  return parse_log({std::istreambuf_iterator<char>{in}, {}});
}

Past struck_by(const Past& past, const Fault& fault) {
  Past here = past;
  const Found before = look_back(here);
  const Place place{here.files};
  const Life life = live({.directory = place.path(),
                          .arguments = arguments_of_next_life(here, before.records, "exit"),
                          .fault = fault});
  remember(here, life, place);
  return here;
}

Verdict suffer(const Past& past, const Fault& fault, const std::string& manner) {
  Past here = past;
  const Found before = look_back(here);
  const Place place{here.files};
  const Life life = live({.directory = place.path(),
                          .arguments = arguments_of_next_life(here, before.records, manner),
                          .fault = fault});
  remember(here, life, place);

  Verdict verdict{.complaints = fault_of(life, fault),
                  .refused = has(life.words, "refused") || has(life.words, "unmade")};
  Complaints& complaints = verdict.complaints;
  append(complaints, wrong_restarts(before.records, life.words, Extent::part), "it");
  if (manner == "again" && !has(life.words, "stopped")) complaints.push_back("it is refused again");

  const Found left = look_back(here);
  append(complaints, left.complaints, "after it");
  if (was_only_refused(life) && left.records != before.records) {
    complaints.push_back("what was refused has changed the state");
  }
  if (left.complaints.empty()) {
    const Trace trace = spoils_trace(life, fault) ? Trace::is_not_judged : Trace::is_judged;
    recover(here, left, trace, complaints);
  }
  if (!complaints.empty()) verdict.story = story_of(here);
  return verdict;
}

Verdict cut_power(const Past& past,
                  const std::vector<LoggedCall>& log,
                  std::size_t after,
                  Disk::Kept kept,
                  std::uint32_t seed,
                  TraceLies lies) {
  Past here = past;
  (void)look_back(here);
  Disk disk{
      past.files,
      lies == TraceLies::elsewhere ? std::set<std::string>{trace_file} : std::set<std::string>{}};
  std::string said;
  for (std::size_t i = 0; i < after; ++i) {
    disk.on(log[i]);
    if (log[i].call.kind == Kind::said) said += log[i].call.data;
  }
  Words words;
  std::istringstream lines{said};
  for (std::string line; std::getline(lines, line);) words.push_back(line);
  here.promises.read(words);
  here.lives.push_back(words);
  std::mt19937 random{seed};
  here.files = disk.after_cut(kept, random);

  Verdict verdict;
  const Found left = look_back(here);
  append(verdict.complaints, left.complaints, "after the cut");
  if (left.complaints.empty()) {
    const Trace trace = lies == TraceLies::elsewhere ? Trace::is_judged : Trace::is_not_judged;
    recover(here, left, trace, verdict.complaints);
  }
  if (!verdict.complaints.empty()) verdict.story = story_of(here);
  return verdict;
}

}  // namespace dutiful::faults
