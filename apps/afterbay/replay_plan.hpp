// SPDX-License-Identifier: Apache-2.0
// How a file is replayed: its schema, and for each variable the part that each rank puts. A pure
// function of the file's contents, the store and the number of model ranks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "afterbay/decomposition.hpp"
#include "afterbay/schema.hpp"
#include "model/format.hpp"
#include "replay_input.hpp"

namespace afterbay::app {

/// A global index space cut into a grid of ranks: `parts` along each dimension, in total at most
/// the number of model ranks. Ranks beyond the grid, and those past the end of a short dimension,
/// hold nothing.
struct RankGrid {
  std::string name;
  std::vector<std::uint64_t> global;
  std::vector<std::uint64_t> parts;

  [[nodiscard]] Block block_of(std::uint64_t rank) const;
  [[nodiscard]] std::uint64_t used_ranks() const;
};

/// The grid of at most `ranks` ranks with the smallest largest part; among equals the one with the
/// most square parts, and then the one with the longest rows.
std::vector<std::uint64_t> most_even_parts(std::span<const std::uint64_t> global, std::uint64_t ranks);

enum class Played {
  constant,    ///< part of the schema
  strings,     ///< every rank holds all values, as strings
  whole,       ///< every rank holds all values
  decomposed,  ///< every rank holds its part
};

struct PlayedVariable {
  std::size_t input = 0;  ///< index in Contents::variables
  Played how = Played::whole;
  bool record = false;
  std::size_t grid = 0;  ///< index in Plan::grids, if decomposed
};

struct Plan {
  Schema schema;  ///< without the values of constants
  std::vector<RankGrid> grids;
  std::vector<PlayedVariable> variables;  ///< in the file's order
  std::uint64_t records = 0;
};

struct PlanRequest {
  Format store = default_format;
  std::uint64_t frame_bytes = 4U << 20;  ///< maximum bytes of a chunk that the servers assemble
  int model_ranks = 1;
};

/// Fails with format or wrong_type, listing everything in the file that cannot be replayed: several
/// unlimited dimensions, an unlimited one that is not first, too many dimensions, types and
/// attribute names that the store cannot hold.
Result<Plan> make_plan(const NetcdfReader& input, const PlanRequest& request);

}  // namespace afterbay::app
