#include "text/nearest.h"

#include <algorithm>
#include <vector>

#include "text/characters.h"

namespace dutiful {
namespace {

bool same_letter(char a, char b) {
  return to_lower(a) == to_lower(b);
}

// Optimal string alignment: the number of edits, where a swap of neighbours is one edit.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) current[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before_last, last);
    std::swap(last, current);
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = same_letter(a[i - 1], b[j - 1]);
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, last[j - 1] + (same ? 0U : 1U)});
      const bool swapped =
          i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]);
      if (swapped) current[j] = std::min(current[j], before_last[j - 2] + 1);
    }
  }
  return current[b.size()];
}

// Fewer letters are too ambiguous.
constexpr std::size_t word_min = 3;

bool begins(std::string_view word, std::string_view known) {
  return word.size() <= known.size() &&
         std::ranges::equal(word, known.substr(0, word.size()), same_letter);
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  if (word.size() < word_min) return {};
  std::string_view best;
  std::size_t best_distance = 0;
  for (const std::string_view candidate : known) {
    // A much longer word cannot be near, and comparing it would take long.
    const std::size_t length = std::max(word.size(), candidate.size());
    if (begins(word, candidate)) return candidate;
    if (length > 2 * candidate.size() + 2) continue;
    const std::size_t edits = distance(word, candidate);
    if (edits > std::clamp<std::size_t>(length / 2, 1, 3)) continue;
    if (best.empty() || edits < best_distance) {
      best = candidate;
      best_distance = edits;
    }
  }
  return best;
}

}  // namespace dutiful
