// dutiful verify: checks a trace, or those of all members of a cluster, against the theory.

#include <algorithm>
#include <deque>
#include <memory>
#include <ostream>

#include <nlohmann/json.hpp>

#include "cli/duration_argument.h"
#include "cli/input_file.h"
#include "cli/json.h"
#include "cli/number_argument.h"
#include "cli/subcommands.h"
#include "text/quote.h"
#include "theory/monitor.h"
#include "time/iso8601.h"
#include "trace/lines.h"
#include "trace/merge.h"

namespace dutiful {
namespace {

using nlohmann::ordered_json;

struct Arguments {
  std::vector<std::string> files;
  std::string a = "1";  // µs for every bit
  std::string b = "1s";
  std::string lag = "60s";
  std::string repeated = "both";
  std::string override = "keep_history";
  bool json = false;
};

theory::Witnesses witnesses_of(const Arguments& arguments) {
  return {.a = static_cast<std::int64_t>(read_number("--a", arguments.a, {.most = 1'000'000})),
          .b = read_duration("--b", arguments.b),
          .lag = read_duration("--lag", arguments.lag)};
}

// The header with the policies that it does not state.
TraceHeader completed(TraceHeader header, const Arguments& arguments) {
  if (!header.repeated_minutes) header.repeated_minutes = repeated_minutes_of(arguments.repeated);
  if (!header.reinitialize) header.reinitialize = Reinitialize::reject;
  if (!header.override) header.override = override_of(arguments.override);
  return header;
}

// Settings that must be the same in all traces of a cluster: their names and their values.
std::vector<std::pair<std::string, std::string>> settings_in(const TraceHeader& header) {
  return {{"zone", quote(header.zone)},
          {"policy repeatedMinutes", std::string{name_of(*header.repeated_minutes)}},
          {"policy reinitialize", std::string{name_of(*header.reinitialize)}},
          {"policy override", std::string{name_of(*header.override)}},
          {"maxConcurrent", std::to_string(header.max_concurrent)}};
}

void require_same_settings(const std::vector<TraceHeader>& headers, const Arguments& arguments) {
  const auto first = settings_in(headers.front());
  for (std::size_t i = 1; i < headers.size(); ++i) {
    const auto other = settings_in(headers[i]);
    const auto [one, two] = std::ranges::mismatch(first, other);
    if (one == first.end()) continue;
    throw UsageError("the traces are not of one cluster: the " + one->first + " of " +
                     name_of_input(arguments.files.front()) + " is " + one->second + ", that of " +
                     name_of_input(arguments.files[i]) + " is " + two->second);
  }
}

void require_different(std::vector<std::string> files) {
  std::ranges::sort(files);
  const auto twice = std::ranges::adjacent_find(files);
  if (twice != files.end()) {
    throw UsageError(name_of_input(*twice) + " is given twice; give each trace once");
  }
}

// Prints violations as they are found, or collects everything for one JSON object.
class Report {
 public:
  Report(const Arguments& arguments, std::ostream& out)
      : json_(arguments.json), files_(arguments.files), out_(out) {}

  // What follows is about this file. It is named only if there are several.
  void set_file(std::size_t number) { file_ = number; }

  void violated(const theory::Violation& violation) {
    violated_ = true;
    if (!json_) {
      out_ << violation.text(file()) << '\n';
      return;
    }
    const bool ours = violation.blame() == theory::Blame::scheduler;
    ordered_json found{{"axiom", violation.axiom}};
    add_file(found);
    found["line"] = violation.line;
    found["at"] = format_utc(violation.at);
    found["blame"] = ours ? "scheduler" : "environment";
    found["what"] = violation.what;
    document_["violations"].push_back(std::move(found));
  }

  void refused(const theory::Refusal& refusal) {
    if (!json_) {
      refusals_.push_back(refusal.text(file()));
      return;
    }
    ordered_json found = ordered_json::object();
    add_file(found);
    found["line"] = refusal.line;
    found["at"] = format_utc(refusal.at);
    found["error"] = refusal.error;
    document_["refused"].push_back(std::move(found));
  }

  Exit malformed(const MalformedTrace& error) {
    if (!json_) {
      const std::string where = file();
      out_ << "malformed at " << where << (where.empty() ? "" : " ") << "line " << error.line()
           << ": " << error.what() << '\n';
      return Exit::usage;
    }
    document_["refused"] = ordered_json::array();
    add_file(document_);
    document_["line"] = error.line();
    document_["reason"] = error.what();
    print("malformed");
    return Exit::usage;
  }

  Exit judged(const std::vector<theory::Open>& open, std::size_t events) {
    if (json_) {
      document_["events"] = events;
      for (const theory::Open& obligation : open) {
        document_["open"].push_back({{"axiom", obligation.axiom},
                                     {"since", format_utc(obligation.since)},
                                     {"what", obligation.what}});
      }
      print(violated_ ? "violated" : "conforms");
    } else if (!violated_) {
      out_ << "conforms\n";
      for (const theory::Open& obligation : open) out_ << obligation.text() << '\n';
      for (const std::string& refusal : refusals_) out_ << refusal << '\n';
    }
    return violated_ ? Exit::no : Exit::done;
  }

 private:
  // Empty if there is only one.
  [[nodiscard]] std::string file() const {
    return files_.size() > 1 ? name_of_input(files_[file_]) : std::string{};
  }
  void add_file(ordered_json& object) const {
    if (files_.size() > 1) object["file"] = files_[file_];
  }

  void print(const char* verdict) {
    document_["verdict"] = verdict;
    out_ << to_text(document_) << '\n';
  }

  bool json_;
  const std::vector<std::string>& files_;
  std::ostream& out_;
  std::size_t file_ = 0;
  bool violated_ = false;
  std::vector<std::string> refusals_;
  ordered_json document_{{"verdict", ""},
                         {"violations", ordered_json::array()},
                         {"open", ordered_json::array()},
                         {"refused", ordered_json::array()}};
};

// Reads one trace as it is, and several as one.
class Traces {
 public:
  // Throws MalformedTrace after it has told the report in which file.
  Traces(const std::vector<std::string>& files, Report& report) : report_(report) {
    for (const std::string& file : files) inputs_.emplace_back(file);
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      report_.set_file(i);
      readers_.push_back(std::make_unique<TraceReader>(inputs_[i].get()));
      pointers_.push_back(readers_.back().get());
    }
    report_.set_file(0);
    if (readers_.size() > 1) merge_.emplace(pointers_);
  }

  [[nodiscard]] std::vector<TraceHeader> headers(const Arguments& arguments) const {
    std::vector<TraceHeader> headers;
    for (const auto& reader : readers_) headers.push_back(completed(reader->header(), arguments));
    return headers;
  }

  // Gives every event to the judge and returns their number. Throws MalformedTrace.
  std::size_t judge(theory::Monitor& monitor) {
    std::size_t events = 0;
    for (TracedEvent event; read(event); ++events) {
      monitor.on(line(), event.at, event.event, event.member);
    }
    return events;
  }

 private:
  bool read(TracedEvent& event) {
    if (!merge_) return readers_.front()->read(event);
    try {
      const bool found = merge_->read(event);
      report_.set_file(merge_->trace());
      return found;
    } catch (const MalformedTrace&) {
      report_.set_file(merge_->trace());
      throw;
    }
  }
  [[nodiscard]] std::size_t line() const {
    return merge_ ? merge_->line() : readers_.front()->line();
  }

  Report& report_;
  std::deque<InputStream> inputs_;
  std::vector<std::unique_ptr<TraceReader>> readers_;
  std::vector<TraceReader*> pointers_;
  std::optional<TraceMerge> merge_;
};

Exit verify(const Arguments& arguments, Console& console) {
  const theory::Witnesses witnesses = witnesses_of(arguments);
  require_different(arguments.files);
  Report report{arguments, console.out};
  try {
    Traces traces{arguments.files, report};
    const auto headers = traces.headers(arguments);
    require_same_settings(headers, arguments);
    std::optional<theory::Monitor> monitor;
    try {
      theory::Setting setting =
          theory::setting_of(headers.front(), Zone::load(headers.front().zone));
      setting.witnesses = witnesses;
      monitor.emplace(
          std::move(setting),
          [&report](const theory::Violation& v) { report.violated(v); },
          [&report](const theory::Refusal& r) { report.refused(r); });
    } catch (const ZoneError& error) {
      throw MalformedTrace(1, error.what());
    }
    const std::size_t events = traces.judge(*monitor);
    return report.judged(monitor->open(), events);
  } catch (const MalformedTrace& error) {
    return report.malformed(error);
  }
}

}  // namespace

CommandSyntax verify_command() {
  auto arguments = std::make_shared<Arguments>();
  return {
      .name = "verify",
      .description = "Check a trace against the theory of a correct scheduler",
      .arguments = {{.name = "TRACE",
                     .description = "Trace (JSON Lines), or the traces of all members of a "
                                    "cluster; - is standard input",
                     .target = &arguments->files}},
      .options =
          {{.name = "--lag",
            .value = "DURATION",
            .description = "How late an action may be",
            .target = &arguments->lag},
           {.name = "--a",
            .value = "N",
            .description = "Compute budget for each bit of the registration list, in microseconds",
            .target = &arguments->a},
           {.name = "--b",
            .value = "DURATION",
            .description = "Compute budget that does not depend on the list",
            .target = &arguments->b},
           {.name = "--repeated",
            .choices = {"both", "first_only"},
            .description = "Whether a minute that occurs twice is due both times or only the "
                           "first time, if the trace does not say",
            .target = &arguments->repeated},
           {.name = "--override",
            .choices = {"keep_history", "reset_history"},
            .description = "Whether a changed task keeps its history or starts over, if the "
                           "trace does not say",
            .target = &arguments->override},
           {.name = "--json", .description = "Print one JSON object", .target = &arguments->json}},
      .details =
          "Prints `conforms`, followed by the obligations that were still open when the trace "
          "ended and the lists that the environment refused. Otherwise prints each violation "
          "and exits with 1, or the line at which the trace is malformed and exits with 2. Several "
          "traces are merged by time and judged together; messages then name the file.",
      .example = "dutiful simulate scenario.json | dutiful verify -",
      .action = [=](Console& console) { return verify(*arguments, console); }};
}

}  // namespace dutiful
