#include "runtime/trace_check.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include <unistd.h>

#include <dutiful/errors.h>

#include "files/private_file.h"
#include "runtime/damaged_trace.h"
#include "text/quote.h"

namespace dutiful {
namespace {

// The size of the whole lines.
off_t end_of_lines(int descriptor, off_t size) {
  constexpr off_t block_size = 4096;
  std::string block;
  for (off_t end = size; end > 0;) {
    const off_t begin = std::max<off_t>(0, end - block_size);
    block.resize(static_cast<std::size_t>(end - begin));
    if (pread(descriptor, block.data(), block.size(), begin) != end - begin) return size;
    const auto newline = block.rfind('\n');
    if (newline != std::string::npos) return begin + static_cast<off_t>(newline) + 1;
    end = begin;
  }
  return 0;
}

// A part of a line has no zeros: those are sectors that never reached the disk.
bool has_zeros(int descriptor, off_t begin, off_t end) {
  std::array<char, 4096> block{};
  while (begin < end) {
    const auto size = std::min<off_t>(end - begin, block.size());
    if (pread(descriptor, block.data(), static_cast<std::size_t>(size), begin) != size)
      return false;
    if (std::find(block.begin(), block.begin() + size, '\0') != block.begin() + size) return true;
    begin += size;
  }
  return false;
}

template <typename Policy>
std::string text_of(const std::optional<Policy>& policy) {
  return policy ? std::string{name_of(*policy)} : "the default";
}

// How two headers differ: "max-concurrent 64 instead of 5".
std::string differences(const TraceHeader& there, const TraceHeader& here) {
  std::string text;
  const auto compare = [&](const char* what, const std::string& one, const std::string& other) {
    if (one == other) return;
    text.append(text.empty() ? "" : ", ").append(what).append(" ");
    text.append(one).append(" instead of ").append(other);
  };
  compare("zone", quote(there.zone), quote(here.zone));
  compare(
      "max-concurrent", std::to_string(there.max_concurrent), std::to_string(here.max_concurrent));
  compare("policy of repeated minutes",
          text_of(there.repeated_minutes),
          text_of(here.repeated_minutes));
  compare(
      "policy of a second initialize()", text_of(there.reinitialize), text_of(here.reinitialize));
  compare("policy of overridden tasks", text_of(there.override), text_of(here.override));
  return text.empty() ? "its header differs" : text;
}

constexpr const char* no_trace = "is not a trace, and was not changed; use another file";

// Returns the damage. Requires that the file is not empty.
std::string check_header(const std::string& file,
                         int descriptor,
                         std::size_t size,
                         const TraceHeader& expected) {
  const std::string header = to_line(expected) + '\n';
  std::string text(std::min(size, header.size()), '\0');
  const ssize_t read = pread(descriptor, text.data(), text.size(), 0);
  if (read != static_cast<ssize_t>(text.size())) throw TraceError(file, "cannot be read");
  if (text == header || (size < header.size() && header.starts_with(text))) return "";
  std::ifstream in = open_to_read(file);
  if (text.front() == '\0') {
    if (is_damaged_trace(in)) return "begins with zeros instead of its header";
    throw TraceError(file, no_trace);
  }
  try {
    const TraceReader reader{in};
    throw TraceError(file,
                     "was written with other options: " + differences(reader.header(), expected) +
                         "; use another file, or the same options");
  } catch (const MalformedTrace& error) {
    if (in.bad()) throw TraceError(file, "cannot be read");
    in.clear();
    in.seekg(0);
    if (!is_damaged_trace(in)) throw TraceError(file, no_trace);
    return damage_of(error);
  }
}

void make_private(const std::string& file, int descriptor) {
  try {
    check_private(file, descriptor, Demand::ours_alone);
  } catch (const FileError& error) {
    throw TraceError(file, error.description(), std::current_exception());
  }
}

}  // namespace

CheckedTrace check_trace(const std::string& file, int descriptor, const TraceHeader& header) {
  const off_t size = lseek(descriptor, 0, SEEK_END);
  std::string damage;
  // Before anything changes: a file that is not a trace stays as it is, mode included.
  if (size > 0) damage = check_header(file, descriptor, static_cast<std::size_t>(size), header);
  make_private(file, descriptor);
  if (!damage.empty()) return {.damage = std::move(damage)};
  const off_t whole = size < 0 ? size : end_of_lines(descriptor, size);
  if (has_zeros(descriptor, whole, size)) {
    return {.damage = "ends with zeros instead of its last lines"};
  }
  if (size < 0 || (whole != size && ftruncate(descriptor, whole) != 0)) {
    throw TraceError(file, std::string{"cannot be written: "} + std::strerror(errno));
  }
  return {.size = whole};
}

std::ifstream open_to_read(const std::string& file) {
  std::ifstream in{file};
  if (!in) throw TraceError(file, std::string{"cannot be read: "} + std::strerror(errno));
  return in;
}

std::string damage_of(const MalformedTrace& error) {
  return "is malformed at line " + std::to_string(error.line()) + ": " + error.what();
}

}  // namespace dutiful
