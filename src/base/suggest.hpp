// SPDX-License-Identifier: Apache-2.0
// Finds the name that a mistyped one probably means.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace afterbay {

/// The minimum number of insertions, deletions, replacements and swaps of neighbours that turn `a`
/// into `b`, ignoring case. Optimal string alignment, Wagner-Fischer with swaps.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate closest to `name` (the first of several), if it is close enough to be meant: one
/// edit for names of up to five letters, then one more for every three letters.
std::optional<std::string> nearest(std::string_view name, std::span<const std::string> candidates);

/// `; did you mean "servers"?`, or nothing if no candidate is close: to be appended to a message.
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

/// "a", "a or b", "a, b or c".
std::string one_of(std::span<const std::string> names);

}  // namespace afterbay
