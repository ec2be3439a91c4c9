// Shared by the tests of faults: how a life begins, which cases are tried, and the report of one
// that fails.
//
// Each run takes the same sample; DUTIFUL_TEST_ALL=1 takes everything. A failure names the case;
// with DUTIFUL_FAULTS_CASE='…' every test tries only that one.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "faults/trial.h"

namespace dutiful::faults {

// An empty directory, or the files of a life that was killed while two runs were active, after a
// third had ended and before its end was in the trace.
struct Beginning {
  const char* name;
  Past (*past)();

  friend std::ostream& operator<<(std::ostream& out, const Beginning& beginning) {
    return out << beginning.name;
  }
};
[[nodiscard]] Past nothing();
[[nodiscard]] Past killed();

inline auto beginnings() {
  return testing::Values(Beginning{"in_a_first_life", nothing}, Beginning{"in_a_recovery", killed});
}
inline std::string name_of_beginning(const testing::TestParamInfo<Beginning>& info) {
  return info.param.name;
}

// A life in which nothing goes wrong, from whose calls the test chooses.
class Lives : public testing::TestWithParam<Beginning> {
 protected:
  const Past past = GetParam().past();
  const std::vector<LoggedCall> log = calls_of_next_life(past);

  [[nodiscard]] std::uint64_t calls() const;
};

[[nodiscard]] bool takes_all();
// Whether only another case is to be tried.
[[nodiscard]] bool is_left_out(const std::string& name);
[[nodiscard]] bool is_replay();

// Fails the test if there is a complaint.
void report(const std::string& name, const Verdict& verdict);

// The numbers of those calls of a kind on a file that are the last ones before a trace line with
// that text is written.
[[nodiscard]] std::vector<std::uint64_t> last_before_traced(const std::vector<LoggedCall>& log,
                                                            Kind kind,
                                                            const std::string& file,
                                                            const std::string& text);

}  // namespace dutiful::faults
