// dutiful simulate: runs a scenario in virtual time and prints its trace.

#include <memory>
#include <ostream>

#include "cli/input_file.h"
#include "cli/subcommands.h"
#include "engine/header.h"
#include "sim/play.h"

namespace dutiful {
namespace {

// Holds back the first mebibyte of a trace, so that a scenario that turns out to be malformed
// prints nothing unless its trace is longer.
class Printer : public TraceSink {
 public:
  explicit Printer(std::ostream& out) : out_(out) {}

  void on(Instant at, const TraceEvent& event) override { add(to_line(at, event)); }
  void add(const std::string& line) {
    text_.append(line).append("\n");
    if (text_.size() >= kept_max) print();
  }
  void print() {
    out_ << text_;
    text_.clear();
  }

 private:
  static constexpr std::size_t kept_max = std::size_t{1} << 20;
  std::ostream& out_;
  std::string text_;
};

Exit simulate(const std::string& file, Console& console) try {
  const Scenario scenario = parse_scenario(read_input(file));
  Printer printer{console.out};
  printer.add(to_line(header_of(scenario.zone, scenario.policies)));
  play(scenario, printer);
  printer.print();
  return Exit::done;
} catch (const MalformedScenario& error) {
  throw UsageError(name_of_input(file) + ": " + error.what());
}

}  // namespace

CommandSyntax simulate_command() {
  auto file = std::make_shared<std::string>();
  return {.name = "simulate",
          .description = "Run a scenario in virtual time and print its trace",
          .arguments = {{.name = "SCENARIO",
                         .description = "Scenario (JSON); - is standard input",
                         .target = file.get()}},
          .example = "dutiful simulate scenario.json | dutiful verify -",
          .action = [=](Console& console) { return simulate(*file, console); }};
}

}  // namespace dutiful
