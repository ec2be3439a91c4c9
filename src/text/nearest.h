// Guesses the word that a mistyped one was meant to be.
#pragma once

#include <span>
#include <string_view>

namespace dutiful {

// The known word with the smallest edit distance to `word` (insertions, deletions, substitutions
// and swaps of neighbours, ignoring case), or one that `word` is a prefix of. The first of several
// that are equally near. Empty if none is near enough, or if `word` has fewer than three letters.
[[nodiscard]] std::string_view nearest(std::string_view word,
                                       std::span<const std::string_view> known);

}  // namespace dutiful
