// SPDX-License-Identifier: Apache-2.0
// What can be said of a FilterChain (afterbay/schema.hpp) by asking the rows of its filters' codecs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "afterbay/schema.hpp"
#include "codec/codec.hpp"

namespace afterbay::codec {

/// Most filters of one variable.
inline constexpr std::size_t most_filters = 8;

/// Why these filters cannot be applied and undone in this order; nothing if they can. A chain from a file, a
/// peer or a user may hold anything. "has ..." follows the name of the variable.
std::optional<std::string> mistake_in(const FilterChain& chain);
/// Why variables of this type cannot have these filters, of which `mistake_in` finds nothing.
std::optional<std::string> mistake_for(const FilterChain& chain, Type type);

/// The filters in the order in which they are applied to new variables; unknown ones last.
FilterChain in_order(FilterChain chain);

/// The filter with that number, or null.
const Filter* find_filter(const FilterChain& chain, std::uint32_t id) noexcept;
/// Replaces, adds or (nothing) removes the filter with that number.
void set_filter(FilterChain& chain, std::uint32_t id, const std::optional<Filter>& filter);

/// The filter with a level: 0 is none, 1 is on for a codec without levels.
std::optional<Filter> filter_of_level(const Codec& codec, int level);
/// The level of a filter of the codec; 0 for null.
int level_of(const Codec& codec, const Filter* filter) noexcept;

/// "deflate, shuffle": the names of the filters.
std::string names_of(const FilterChain& chain);

}  // namespace afterbay::codec
