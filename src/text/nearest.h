// What a mistyped word was meant to be.
#pragma once

#include <span>
#include <string_view>

namespace dutiful {

// The known word that is nearest to `word` by inserted, left out, changed and swapped letters,
// capital or not; or one that it begins. Empty where none is near enough to be worth a guess, or
// the word has fewer than three letters; the first of those equally near.
[[nodiscard]] std::string_view nearest(std::string_view word,
                                       std::span<const std::string_view> known);

}  // namespace dutiful
