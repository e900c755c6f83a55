// SPDX-License-Identifier: Apache-2.0
// How many ranks to start so that the model gets the number it needs: the inverse of the layout.
#pragma once

#include "base/result.hpp"
#include "config/config.hpp"

namespace afterbay::config {

struct RanksToStart {
  int ranks = 0;
  int left_over = 0;  ///< ranks that neither serve nor are needed: spare if model_ranks is set
};

/// More than any job has; larger numbers are mistakes.
inline constexpr int most_model_ranks = 1 << 20;
inline constexpr int most_ranks = 1 << 24;
inline constexpr int most_ranks_per_node = 1 << 16;

/// The smallest number of ranks for which the layout works and leaves `model_ranks` for the model.
/// If no number leaves exactly that many, some are left over. Nodes of `ranks_per_node` ranks (0:
/// all ranks on one) are whole if a pool isolates its nodes. Fails (conflict) with the problem of
/// the layout if no number works, and if the setting model_ranks has a different value.
Result<RanksToStart> ranks_for(const Config& config, int model_ranks, int ranks_per_node);

}  // namespace afterbay::config
