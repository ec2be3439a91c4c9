#include "runtime/damaged_trace.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <istream>
#include <sstream>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "posix/descriptor.h"
#include "trace/lines.h"

namespace dutiful {
namespace {

// A disk loses at least a sector.
constexpr std::uint64_t sector_size = 512;

// How many damaged traces of one file are kept before someone has to look at them.
constexpr int set_aside_max = 1000;

// In a trace, control characters and DEL are escaped.
bool is_of_trace(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return c == '\0' || c == '\n' || (byte >= 0x20 && byte != 0x7f);
}

// Reads the stream until the visitor returns false. Returns whether it reached the end.
template <typename Visit>
bool visit_blocks(std::istream& in, Visit visit) {
  std::array<char, 65536> block{};
  while (in.read(block.data(), block.size()), in.gcount() > 0) {
    if (!visit(std::string_view{block.data(), static_cast<std::size_t>(in.gcount())})) return false;
  }
  return !in.bad();
}

bool is_event(const std::string& line) {
  std::istringstream in{to_line(TraceHeader{.zone = "UTC"}) + '\n' + line};
  try {
    TraceReader reader{in};
    TracedEvent event;
    return reader.read(event);
  } catch (const MalformedTrace&) {
    return false;
  }
}

// Whether a complete line is an event, or no line is complete. The stream is in the middle of a
// line.
bool may_have_events(std::istream& in) {
  std::string line;
  bool is_whole = false;
  for (std::getline(in, line); std::getline(in, line) && !in.eof();) {
    if (line.find('\0') != std::string::npos) continue;
    if (is_event(line)) return true;
    is_whole = true;
  }
  return !is_whole;
}

}  // namespace

bool is_damaged_trace(std::istream& in) {
  const auto begin = in.tellg();
  const std::string header = to_line(TraceHeader{});
  const std::string mark = header.substr(0, header.find(','));  // {"trace":"dutiful/1"
  std::string text(mark.size(), ' ');
  if (in.read(text.data(), static_cast<std::streamsize>(text.size())) && text == mark) return true;

  in.clear();
  in.seekg(begin);
  std::uint64_t zeros = 0;
  const bool holds_nothing_else = visit_blocks(in, [&](std::string_view block) {
    const std::size_t end = std::min(block.find_first_not_of('\0'), block.size());
    zeros += end;
    return end == block.size();
  });
  if (holds_nothing_else) return zeros > 0;
  if (zeros == 0 || zeros % sector_size != 0) return false;

  const auto rest = begin + static_cast<std::streamoff>(zeros);
  in.clear();
  in.seekg(rest);
  if (!visit_blocks(
          in, [](std::string_view block) { return std::ranges::all_of(block, is_of_trace); })) {
    return false;
  }
  in.clear();
  in.seekg(rest);
  return may_have_events(in);
}

std::string set_aside(const std::string& file) {
  const auto fail = [] { throw std::system_error(errno, std::generic_category()); };
  for (int number = 1; number <= set_aside_max; ++number) {
    std::string name = file + ".damaged-" + std::to_string(number);
    // Creating the file reserves the name; a rename alone would replace an existing file.
    const Descriptor taken{open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
    if (!taken.is_open()) {
      if (errno == EEXIST) continue;
      fail();
    }
    if (std::rename(file.c_str(), name.c_str()) != 0) {
      const int error = errno;
      unlink(name.c_str());
      errno = error;
      fail();
    }
    return name;
  }
  throw std::system_error(EEXIST, std::generic_category());
}

}  // namespace dutiful
