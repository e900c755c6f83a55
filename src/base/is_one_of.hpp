// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string_view>

namespace afterbay {

/// Whether a word is in a list: of string views, strings, or words in braces.
template <class Words = std::initializer_list<std::string_view>>
constexpr bool is_one_of(std::string_view word, const Words& words) {
  return std::ranges::find(words, word) != std::end(words);
}

}  // namespace afterbay
