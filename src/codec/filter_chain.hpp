// SPDX-License-Identifier: Apache-2.0
// Operations on a FilterChain (afterbay/schema.hpp) that need the rows of its codecs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "afterbay/schema.hpp"
#include "codec/codec.hpp"

namespace afterbay::codec {

/// The largest number of filters per variable.
inline constexpr std::size_t most_filters = 8;

/// The reason why these filters cannot be applied and undone in this order; nullopt if they can.
/// The chain may come from a file, a peer or a user, and contain anything. The text ("has ...")
/// follows the variable's name.
std::optional<std::string> mistake_in(const FilterChain& chain);
/// The reason why variables of this type cannot have these filters. `mistake_in` must have found
/// nothing.
std::optional<std::string> mistake_for(const FilterChain& chain, Type type);

/// Sorts the filters into the order in which they are applied to new variables; unknown filters
/// come last.
FilterChain in_order(FilterChain chain);

/// The filter with this number; null if there is none.
const Filter* find_filter(const FilterChain& chain, std::uint32_t id) noexcept;
/// Replaces or adds the filter with this number; removes it if `filter` is nullopt.
void set_filter(FilterChain& chain, std::uint32_t id, const std::optional<Filter>& filter);

/// The filter for a level; nullopt for level 0. Level 1 means "on" for a codec without levels.
std::optional<Filter> filter_of_level(const Codec& codec, int level);
/// The level of a filter that belongs to the codec; 0 if `filter` is null.
int level_of(const Codec& codec, const Filter* filter) noexcept;

/// The names of the filters: "deflate, shuffle".
std::string names_of(const FilterChain& chain);

}  // namespace afterbay::codec
