#include "faults/beginnings.h"

#include <algorithm>
#include <cstdlib>

namespace dutiful::faults {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string only_case() {
  return variable("DUTIFUL_FAULTS_CASE");
}

}  // namespace

Past nothing() {
  return {};
}

Past killed() {
  static const Past past = [] {
    const auto log = calls_of_next_life({});
    const auto writes =
        last_before_traced(log, Kind::write, trace_file, R"("RunSuccess","task":"late")");
    return struck_by({}, {.at = writes.back(), .deed = Fault::Deed::kill_before});
  }();
  return past;
}

std::uint64_t Lives::calls() const {
  std::uint64_t calls = 0;
  for (const LoggedCall& logged : log) calls = std::max(calls, logged.number);
  return calls;
}

bool takes_all() {
  return !variable("DUTIFUL_TEST_ALL").empty() || is_replay();
}

bool is_replay() {
  return !only_case().empty();
}

bool is_left_out(const std::string& name) {
  return is_replay() && only_case() != name;
}

void report(const std::string& name, const Verdict& verdict) {
  if (verdict.complaints.empty()) return;
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  std::string text = name + '\n';
  for (const std::string& complaint : verdict.complaints) text += "  " + complaint + '\n';
  ADD_FAILURE() << text << "to replay: DUTIFUL_FAULTS_CASE='" << name
                << "' build/release/fault_tests --gtest_filter='" << test->test_suite_name() << '.'
                << test->name() << "'\n"
                << verdict.story;
}

std::vector<std::uint64_t> last_before_traced(const std::vector<LoggedCall>& log,
                                              Kind kind,
                                              const std::string& file,
                                              const std::string& text) {
  std::vector<std::uint64_t> numbers;
  std::uint64_t last = 0;
  for (const LoggedCall& logged : log) {
    const Call& call = logged.call;
    if (call.kind == kind && call.file == file) last = logged.number;
    if (call.kind == Kind::write && call.file == trace_file &&
        call.data.find(text) != std::string::npos) {
      numbers.push_back(last);
    }
  }
  return numbers;
}

}  // namespace dutiful::faults
