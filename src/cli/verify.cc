// dutiful verify: checks a trace against the theory.

#include <memory>
#include <ostream>

#include <nlohmann/json.hpp>

#include "cli/duration_argument.h"
#include "cli/input_file.h"
#include "cli/json.h"
#include "cli/number_argument.h"
#include "cli/subcommands.h"
#include "theory/monitor.h"
#include "time/iso8601.h"
#include "trace/lines.h"

namespace dutiful {
namespace {

using nlohmann::ordered_json;

struct Arguments {
  std::string file;
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

theory::Setting setting_of(TraceHeader header, const Arguments& arguments) {
  if (!header.repeated_minutes) header.repeated_minutes = repeated_minutes_of(arguments.repeated);
  if (!header.override) header.override = override_of(arguments.override);
  return theory::setting_of(header, Zone::load(header.zone));
}

// Prints violations as they are found, or collects everything for one JSON object.
class Report {
 public:
  Report(bool json, std::ostream& out) : json_(json), out_(out) {}

  void violated(const theory::Violation& violation) {
    violated_ = true;
    if (!json_) {
      out_ << violation.text() << '\n';
      return;
    }
    const bool ours = violation.blame() == theory::Blame::scheduler;
    document_["violations"].push_back({{"axiom", violation.axiom},
                                       {"line", violation.line},
                                       {"at", format_utc(violation.at)},
                                       {"blame", ours ? "scheduler" : "environment"},
                                       {"what", violation.what}});
  }

  void refused(const theory::Refusal& refusal) { refusals_.push_back(refusal); }

  Exit malformed(const MalformedTrace& error) {
    if (!json_) {
      out_ << "malformed at line " << error.line() << ": " << error.what() << '\n';
      return Exit::usage;
    }
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
      for (const theory::Refusal& refusal : refusals_) {
        document_["refused"].push_back(
            {{"line", refusal.line}, {"at", format_utc(refusal.at)}, {"error", refusal.error}});
      }
      print(violated_ ? "violated" : "conforms");
    } else if (!violated_) {
      out_ << "conforms\n";
      for (const theory::Open& obligation : open) out_ << obligation.text() << '\n';
      for (const theory::Refusal& refusal : refusals_) out_ << refusal.text() << '\n';
    }
    return violated_ ? Exit::no : Exit::done;
  }

 private:
  void print(const char* verdict) {
    document_["verdict"] = verdict;
    out_ << to_text(document_) << '\n';
  }

  bool json_;
  std::ostream& out_;
  bool violated_ = false;
  std::vector<theory::Refusal> refusals_;
  ordered_json document_{{"verdict", ""},
                         {"violations", ordered_json::array()},
                         {"open", ordered_json::array()},
                         {"refused", ordered_json::array()}};
};

Exit verify(const Arguments& arguments, Console& console) {
  const theory::Witnesses witnesses = witnesses_of(arguments);
  InputStream input{arguments.file};
  Report report{arguments.json, console.out};
  try {
    TraceReader reader{input.get()};
    std::optional<theory::Monitor> monitor;
    try {
      theory::Setting setting = setting_of(reader.header(), arguments);
      setting.witnesses = witnesses;
      monitor.emplace(
          std::move(setting),
          [&report](const theory::Violation& v) { report.violated(v); },
          [&report](const theory::Refusal& r) { report.refused(r); });
    } catch (const ZoneError& error) {
      throw MalformedTrace(reader.line(), error.what());
    }
    for (TracedEvent event; reader.read(event);) {
      monitor->on(reader.line(), event.at, event.event);
    }
    return report.judged(monitor->open(), reader.line() - 1);
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
                     .description = "Trace (JSON Lines); - is standard input",
                     .target = &arguments->file}},
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
          "and exits with 1, or the line at which the trace is malformed and exits with 2.",
      .example = "dutiful simulate scenario.json | dutiful verify -",
      .action = [=](Console& console) { return verify(*arguments, console); }};
}

}  // namespace dutiful
