#include "time/tzif.h"

#include <cstdint>

#include "text/quote.h"

namespace dutiful {
namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;

constexpr std::size_t header_size = 44;

// Real files have fewer than 300 transitions, and a timeline numbers its segments with 16 bits.
constexpr std::size_t transitions_max = 10'000;

std::int64_t read_big_endian(std::string_view bytes, std::size_t offset, std::size_t size) {
  std::uint64_t value = 0;
  for (const char byte : bytes.substr(offset, size)) {
    value = (value << 8) | static_cast<unsigned char>(byte);
  }
  const auto unused = static_cast<int>(64 - 8 * size);
  return static_cast<std::int64_t>(value << unused) >> unused;  // extends the sign
}

// One of the up to two data blocks of a file, as described by its header.
struct Block {
  std::size_t time_size;
  std::size_t isutcnt, isstdcnt, leapcnt, timecnt, typecnt, charcnt;

  Block(std::string_view header, std::size_t bytes_per_time) : time_size(bytes_per_time) {
    const auto count = [&](std::size_t which) {
      return static_cast<std::size_t>(read_big_endian(header, 20 + 4 * which, 4) & 0xffffffff);
    };
    isutcnt = count(0);
    isstdcnt = count(1);
    leapcnt = count(2);
    timecnt = count(3);
    typecnt = count(4);
    charcnt = count(5);
  }

  [[nodiscard]] std::size_t size() const {
    return timecnt * (time_size + 1) + typecnt * 6 + charcnt + leapcnt * (time_size + 4) +
           isstdcnt + isutcnt;
  }
};

}  // namespace

std::variant<TzifContents, std::string> parse_tzif(std::string_view bytes) {
  if (bytes.size() < header_size || !bytes.starts_with("TZif")) return "is not a TZif file";
  const bool has_wide_block = bytes[4] >= '2';

  Block block{bytes, 4};
  bytes.remove_prefix(header_size);
  if (has_wide_block) {
    // The first block has in 32 bits what the second has in 64.
    if (bytes.size() < block.size() + header_size) return "is cut short";
    bytes.remove_prefix(block.size());
    if (!bytes.starts_with("TZif")) return "is damaged: its second header is missing";
    block = Block{bytes, 8};
    bytes.remove_prefix(header_size);
  }
  if (bytes.size() < block.size()) return "is cut short";
  if (block.typecnt == 0) return "is damaged: it has no local time type";
  if (block.timecnt > transitions_max) return "is damaged: it has too many transitions";
  if (block.leapcnt > 0) return "counts leap seconds, which system clocks do not";

  const std::string_view times = bytes.substr(0, block.timecnt * block.time_size);
  const std::string_view indexes = bytes.substr(times.size(), block.timecnt);
  const std::string_view types = bytes.substr(times.size() + indexes.size(), block.typecnt * 6);

  std::vector<seconds> offsets;
  for (std::size_t type = 0; type < block.typecnt; ++type) {
    offsets.emplace_back(read_big_endian(types, type * 6, 4));
    if (std::chrono::abs(offsets.back()) > offset_max) {
      return "is damaged: it has an offset of " + std::to_string(offsets.back().count()) +
             " seconds";
    }
  }

  TzifContents contents{.initial = offsets.front(), .transitions = {}, .rule = {}};
  for (std::size_t i = 0; i < block.timecnt; ++i) {
    const auto type = static_cast<unsigned char>(indexes[i]);
    if (type >= block.typecnt) return "is damaged: a transition has an unknown type";
    const sys_seconds at{seconds{read_big_endian(times, i * block.time_size, block.time_size)}};
    if (!contents.transitions.empty() && at <= contents.transitions.back().at) {
      return "is damaged: its transitions are not in order";
    }
    contents.transitions.push_back({at, offsets[type]});
  }

  if (has_wide_block) {
    const std::string_view footer = bytes.substr(block.size());
    const auto end = footer.find('\n', 1);
    if (!footer.starts_with('\n') || end == std::string_view::npos) return "is cut short";
    const std::string_view rule = footer.substr(1, end - 1);
    if (!rule.empty()) {
      contents.rule = parse_posix_rule(rule);
      if (!contents.rule) return "is damaged: its rule " + quote(rule) + " is malformed";
    }
  }
  return contents;
}

}  // namespace dutiful
