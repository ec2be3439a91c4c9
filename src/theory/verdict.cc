#include "theory/verdict.h"

#include "time/iso8601.h"

namespace dutiful::theory {

std::string Violation::text() const {
  return std::string{axiom} + " violated at line " + std::to_string(line) + " (" + format_utc(at) +
         "): " + what;
}

std::string Open::text() const {
  return std::string{axiom} + " is open since " + format_utc(since) + ": " + what;
}

std::string Refusal::text() const {
  return "the environment refused an initialize at line " + std::to_string(line) + " (" +
         format_utc(at) + "): " + error;
}

}  // namespace dutiful::theory
