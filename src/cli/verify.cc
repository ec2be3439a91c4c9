// dutiful verify: judges a trace by the theory.

#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/duration_argument.h"
#include "cli/input_file.h"
#include "cli/json.h"
#include "theory/monitor.h"
#include "time/iso8601.h"
#include "trace/lines.h"

namespace dutiful {
namespace {

using nlohmann::ordered_json;

struct Arguments {
  std::string file;
  std::int64_t a = 1;  // µs for every bit
  std::string b = "1s";
  std::string lag = "60s";
  std::string repeated = "both";
  std::string override = "keep_history";
  bool json = false;
};

theory::Setting setting_of(TraceHeader header, const Arguments& arguments) {
  if (!header.repeated_minutes) header.repeated_minutes = repeated_minutes_of(arguments.repeated);
  if (!header.override) header.override = override_of(arguments.override);
  theory::Setting setting = theory::setting_of(header, Zone::load(header.zone));
  setting.witnesses = {.a = arguments.a,
                       .b = read_duration("--b", arguments.b),
                       .lag = read_duration("--lag", arguments.lag)};
  return setting;
}

// Says what is found, in one of two ways, as soon as it is.
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
      print(violated_ ? "violated" : "conforms");
    } else if (!violated_) {
      out_ << "conforms\n";
      for (const theory::Open& obligation : open) out_ << obligation.text() << '\n';
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
  ordered_json document_{
      {"verdict", ""}, {"violations", ordered_json::array()}, {"open", ordered_json::array()}};
};

Exit verify(const Arguments& arguments, Console& console) {
  InputStream input{arguments.file};
  Report report{arguments.json, console.out};
  try {
    TraceReader reader{input.get()};
    std::optional<theory::Monitor> monitor;
    try {
      monitor.emplace(setting_of(reader.header(), arguments),
                      [&report](const theory::Violation& v) { report.violated(v); });
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

void add_verify(CLI::App& program, Action& chosen) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command =
      program.add_subcommand("verify", "Check a trace against the theory of a correct scheduler");
  command->add_option("TRACE", arguments->file, "The trace; - is standard input")->required();
  command->add_option("--lag", arguments->lag, "How late anything may be")
      ->type_name("DURATION")
      ->capture_default_str();
  command->add_option("--a", arguments->a, "Microseconds more for every bit of the list")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000}));
  command->add_option("--b", arguments->b, "Time to compute, whatever the list")
      ->type_name("DURATION")
      ->capture_default_str();
  command
      ->add_option("--repeated",
                   arguments->repeated,
                   "Whether a minute that occurs twice is due both times, where the trace does not "
                   "say")
      ->check(CLI::IsMember({"both", "first_only"}));
  command
      ->add_option("--override",
                   arguments->override,
                   "Whether a changed task keeps its history, where the trace does not say")
      ->check(CLI::IsMember({"keep_history", "reset_history"}));
  command->add_flag("--json", arguments->json, "Print one JSON object");
  command->footer(
      "Prints `conforms`, and what was still to be done when the trace ended; or each violation, "
      "and\nexits with 1; or where the trace is malformed, and exits with 2.\n\nExample:\n  "
      "dutiful simulate scenario.json | dutiful verify -");
  command->callback(
      [=, &chosen] { chosen = [=](Console& console) { return verify(*arguments, console); }; });
}

}  // namespace dutiful
