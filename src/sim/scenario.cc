#include "sim/scenario.h"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "text/quote.h"
#include "time/iso8601.h"
#include "trace/lines.h"

namespace dutiful {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::array<std::pair<const char*, Step::Kind>, 8> kinds{
    {{"initialize", Step::Kind::initialize},
     {"stop", Step::Kind::stop},
     {"crash", Step::Kind::crash},
     {"crashInCommit", Step::Kind::crash_in_commit},
     {"failCommits", Step::Kind::fail_commits},
     {"freeze", Step::Kind::freeze},
     {"setClock", Step::Kind::set_clock},
     {"end", Step::Kind::end}}};

// A value in the document and its place, for messages: `steps[3].at`.
class Value {
 public:
  Value(const json& value, std::string place) : value_(value), place_(std::move(place)) {}

  [[noreturn]] void fail(const std::string& reason) const {
    throw MalformedScenario((place_.empty() ? "the scenario" : place_) + ' ' + reason);
  }

  [[nodiscard]] bool has(const char* key) const {
    if (!value_.is_object()) fail("is not an object");
    return value_.contains(key);
  }
  [[nodiscard]] Value operator[](const char* key) const {
    if (!has(key)) fail(std::string{"has no \""} + key + '"');
    return {value_[key], place_.empty() ? key : place_ + '.' + key};
  }
  [[nodiscard]] std::vector<Value> elements() const {
    if (!value_.is_array()) fail("is not a list");
    std::vector<Value> elements;
    for (std::size_t i = 0; i < value_.size(); ++i) {
      elements.emplace_back(value_[i], place_ + '[' + std::to_string(i) + ']');
    }
    return elements;
  }
  [[nodiscard]] std::vector<std::pair<std::string, Value>> members() const {
    if (!value_.is_object()) fail("is not an object");
    std::vector<std::pair<std::string, Value>> members;
    for (const auto& [key, value] : value_.items()) {
      members.emplace_back(key, Value{value, place_ + '.' + key});
    }
    return members;
  }

  [[nodiscard]] std::string text() const {
    if (!value_.is_string()) fail("is not a string");
    return value_.get<std::string>();
  }
  [[nodiscard]] std::int64_t whole_number() const {
    if (!value_.is_number_integer()) fail("is not a whole number");
    if (value_.is_number_unsigned() && value_.get<std::uint64_t>() > INT64_MAX)
      fail("is too large");
    return value_.get<std::int64_t>();
  }
  [[nodiscard]] std::int64_t count() const {
    const std::int64_t number = whole_number();
    if (number < 0) fail("is negative");
    return number;
  }
  [[nodiscard]] Instant instant() const {
    const auto timestamp = parse_timestamp(text());
    if (!timestamp || !timestamp->offset) {
      fail("is " + quote(text()) + ", which is not an instant like 2025-03-09T06:58:00.000Z");
    }
    return timestamp->instant(*timestamp->offset);
  }
  template <typename Find>
  [[nodiscard]] auto word(Find find) const {
    const auto found = find(text());
    if (!found) fail("is " + quote(text()) + ", which is unknown");
    return *found;
  }

 private:
  const json& value_;
  std::string place_;
};

Policies read_policies(const Value& value) {
  Policies policies;
  if (value.has("repeatedMinutes")) {
    policies.repeated_minutes = value["repeatedMinutes"].word(repeated_minutes_of);
  }
  if (value.has("reinitialize")) {
    policies.reinitialize = value["reinitialize"].word(reinitialize_of);
  }
  if (value.has("override")) policies.override = value["override"].word(override_of);
  return policies;
}

ScriptedRun read_run(const Value& value) {
  ScriptedRun run;
  if (value.has("takesMs")) run.takes = Duration{value["takesMs"].count()};
  const Value result = value["result"];
  const std::string word = result.text();
  if (word == "never") {
    run.result.reset();
  } else if (word == "failure") {
    run.result = Outcome::failure;
  } else if (word != "success") {
    result.fail("is " + quote(word) + "; use success, failure or never");
  }
  return run;
}

std::vector<TaskConfig> read_registrations(const Value& value) {
  std::vector<TaskConfig> registrations;
  for (const Value& entry : value.elements()) {
    const auto elements = entry.elements();
    if (elements.size() != 3) entry.fail("is not [name, cron, retry delay in ms]");
    registrations.push_back({.name = elements[0].text(),
                             .cron = elements[1].text(),
                             .retry_delay = Duration{elements[2].whole_number()}});
  }
  return registrations;
}

Step read_step(const Value& value) {
  Step step{.at = value["at"].instant(), .kind = value["do"].word([](const std::string& word) {
              const auto* known =
                  std::ranges::find_if(kinds, [&](const auto& kind) { return kind.first == word; });
              return known == kinds.end() ? std::optional<Step::Kind>{} : known->second;
            })};
  switch (step.kind) {
    case Step::Kind::initialize:
      step.registrations = read_registrations(value["registrations"]);
      break;
    case Step::Kind::freeze:
      step.until = value["until"].instant();
      if (step.until < step.at) value["until"].fail("is before the freeze begins");
      break;
    case Step::Kind::set_clock:
      step.until = value["to"].instant();
      if (step.until < step.at) {
        value["to"].fail("is in the past: a trace cannot contain a clock that is set back");
      }
      break;
    case Step::Kind::fail_commits:
      step.commits = static_cast<int>(std::min<std::int64_t>(value["commits"].count(), 1'000'000));
      break;
    case Step::Kind::crash_in_commit:
      step.crash_in = value["when"].word([](const std::string& word) {
        return word == "before"  ? std::optional{CrashIn::before_commit}
               : word == "after" ? std::optional{CrashIn::after_commit}
                                 : std::nullopt;
      });
      break;
    default:
      break;
  }
  return step;
}

void check_order(const std::vector<Step>& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::string place = "steps[" + std::to_string(i) + ']';
    if (i > 0 && steps[i].at < steps[i - 1].at) {
      throw MalformedScenario(place + ".at is before that of the previous step");
    }
    if ((steps[i].kind == Step::Kind::end) != (i + 1 == steps.size())) {
      throw MalformedScenario(place + (i + 1 == steps.size()
                                           ? " is the last step, but not an end"
                                           : " is an end, but not the last step"));
    }
  }
  if (steps.empty()) throw MalformedScenario("steps is empty; the last one must be an end");
}

ordered_json to_document(const Step& step) {
  const auto* kind = std::ranges::find(kinds, step.kind, [](const auto& k) { return k.second; });
  ordered_json document{{"at", format_utc(step.at)}, {"do", kind->first}};
  switch (step.kind) {
    case Step::Kind::initialize:
      document["registrations"] = ordered_json::array();
      for (const TaskConfig& task : step.registrations) {
        document["registrations"].push_back({task.name, task.cron, task.retry_delay.count()});
      }
      break;
    case Step::Kind::freeze:
      document["until"] = format_utc(step.until);
      break;
    case Step::Kind::set_clock:
      document["to"] = format_utc(step.until);
      break;
    case Step::Kind::fail_commits:
      document["commits"] = step.commits;
      break;
    case Step::Kind::crash_in_commit:
      document["when"] = step.crash_in == CrashIn::before_commit ? "before" : "after";
      break;
    default:
      break;
  }
  return document;
}

ordered_json to_document(const ScriptedRun& run) {
  const char* result = !run.result                       ? "never"
                       : *run.result == Outcome::success ? "success"
                                                         : "failure";
  return {{"takesMs", run.takes.count()}, {"result", result}};
}

}  // namespace

Scenario parse_scenario(std::string_view text) {
  json document;
  try {
    document = json::parse(text);
  } catch (const json::exception& error) {
    throw MalformedScenario(std::string{"it is not JSON: "} + error.what());
  }
  const Value root{document, ""};
  Scenario scenario;
  const Value zone = root["zone"];
  try {
    scenario.zone = Zone::load(zone.text());
  } catch (const ZoneError& error) {
    zone.fail(std::string{"cannot be loaded: "} + error.what());
  }
  if (root.has("policies")) scenario.policies = read_policies(root["policies"]);
  if (root.has("maxConcurrent")) {
    scenario.policies.max_concurrent = static_cast<std::size_t>(root["maxConcurrent"].count());
  }
  if (root.has("callbacks")) {
    for (const auto& [name, runs] : root["callbacks"].members()) {
      for (const Value& run : runs.elements()) scenario.callbacks[name].push_back(read_run(run));
    }
  }
  for (const Value& step : root["steps"].elements()) scenario.steps.push_back(read_step(step));
  check_order(scenario.steps);
  return scenario;
}

std::string to_json(const Scenario& scenario) {
  const TraceHeader names{.zone = scenario.zone.name(),
                          .repeated_minutes = scenario.policies.repeated_minutes,
                          .reinitialize = scenario.policies.reinitialize,
                          .override = scenario.policies.override};
  ordered_json document{{"zone", scenario.zone.name()}};
  document["policies"] = ordered_json::parse(to_line(names))["policies"];
  document["maxConcurrent"] = scenario.policies.max_concurrent;
  document["callbacks"] = ordered_json::object();
  for (const auto& [name, runs] : scenario.callbacks) {
    document["callbacks"][name] = ordered_json::array();
    for (const ScriptedRun& run : runs) document["callbacks"][name].push_back(to_document(run));
  }
  document["steps"] = ordered_json::array();
  for (const Step& step : scenario.steps) document["steps"].push_back(to_document(step));
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace dutiful
