// SPDX-License-Identifier: Apache-2.0
// Which name was meant by a mistyped one.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace afterbay {

/// Fewest insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`;
/// upper and lower case count as equal. Optimal string alignment, Wagner-Fischer with swaps.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `name` (the first of equals), if it is near enough to have been meant: one edit
/// for names of up to five letters, then one more for every three letters.
std::optional<std::string> nearest(std::string_view name, std::span<const std::string> candidates);

/// `; did you mean "servers"?`, or nothing when no candidate is near: to be put behind a message.
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

/// "a", "a or b", "a, b or c".
std::string one_of(std::span<const std::string> names);

}  // namespace afterbay
