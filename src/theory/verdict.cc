#include "theory/verdict.h"

#include "time/iso8601.h"

namespace dutiful::theory {
namespace {

std::string place(std::string_view file, std::size_t line, Instant at) {
  return std::string{file} + (file.empty() ? "line " : " line ") + std::to_string(line) + " (" +
         format_utc(at) + ')';
}

}  // namespace

std::string Violation::text(std::string_view file) const {
  return std::string{axiom} + " violated at " + place(file, line, at) + ": " + what;
}

std::string Open::text() const {
  return std::string{axiom} + " is open since " + format_utc(since) + ": " + what;
}

std::string Refusal::text(std::string_view file) const {
  return "the environment refused an initialize at " + place(file, line, at) + ": " + error;
}

}  // namespace dutiful::theory
