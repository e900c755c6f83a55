// SPDX-License-Identifier: Apache-2.0
// The saved form of a state: a head of 72 bytes, the columns without gaps, and the CRC-64/XZ of all
// that. Numbers have the byte order of the machine that saved them. An interval without steps is
// saved without columns, unless a difference has a reference.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "statistics/state.hpp"
#include "statistics/statistic.hpp"

namespace afterbay::statistics {

/// What a state belongs to. It can be restored only into the same.
struct StateIdentity {
  Statistic statistic;
  Type type = Type::float64;
  Values missing;  ///< as in SampleFormat
  std::size_t points = 0;
};

/// The most bytes that a saved state can have.
std::size_t most_saved_bytes(const Statistic& statistic, Type type, std::size_t points) noexcept;

/// Appends the saved form to `to`.
void encode(const StateIdentity& identity, const State& state, std::vector<std::byte>& to);

/// Restores a state exactly. Refuses what is damaged (format) or belongs to something else
/// (conflict), and says what differs; the state is then unchanged.
Result<> decode(const StateIdentity& identity, std::span<const std::byte> saved, const State& state);

}  // namespace afterbay::statistics
