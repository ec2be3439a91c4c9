// The findings of the judge.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include <dutiful/time.h>

namespace dutiful::theory {

// Who broke the axiom (RULES H7).
enum class Blame { scheduler, environment };

struct Violation {
  std::string_view axiom;  // S1 … S5, L1 … L3, N5, EA2, EA6
  std::size_t line;  // of the event that breaks it, or of the first one after its budget ran out
  Instant at;
  std::string what;  // what happened and what was missing

  [[nodiscard]] Blame blame() const {
    return axiom.starts_with("EA") ? Blame::environment : Blame::scheduler;
  }
  // S1 violated at line 8 (2025-03-09T06:58:00.000Z): …
  // If there are several traces, the file comes before the line.
  [[nodiscard]] std::string text(std::string_view file = {}) const;
};

// An obligation whose budget had not run out when the trace ended (RULES H6).
struct Open {
  std::string_view axiom;
  Instant since;
  std::string what;

  // L1 is open since 2025-03-09T06:58:00.000Z: …
  [[nodiscard]] std::string text() const;
};

// An initialize() of a valid list that the environment refused (RULES H12). It violates nothing.
struct Refusal {
  std::size_t line;
  Instant at;
  std::string error;

  // the environment refused an initialize at line 8 (2025-03-09T06:58:00.000Z): StateHeldError
  // If there are several traces, the file comes before the line.
  [[nodiscard]] std::string text(std::string_view file = {}) const;
};

using Refused = std::function<void(const Refusal&)>;
using Judgement = std::function<void(const Violation&)>;

}  // namespace dutiful::theory
