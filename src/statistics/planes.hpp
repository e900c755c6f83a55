// SPDX-License-Identifier: Apache-2.0
// The columns of a state as planes: arrays with an element of the field's size for each point, so
// that they can be handed over and stored as values of the field are. Only for fields of 4 or 8
// bytes. A column of doubles of a field of 4 bytes has two planes; counts of one of 8 bytes have
// zeros in their upper halves.
#pragma once

#include <cstddef>
#include <cstdint>

#include "statistics/state.hpp"

namespace afterbay::statistics {

/// The number of planes.
[[nodiscard]] std::uint32_t planes(const State& state) noexcept;
/// Copies a plane of all points to `to`, at any address. `number` < planes(state).
void get_plane(const State& state, std::uint32_t number, std::byte* to) noexcept;
/// Sets a plane of all points.
void set_plane(const State& state, std::uint32_t number, const std::byte* from) noexcept;

}  // namespace afterbay::statistics
