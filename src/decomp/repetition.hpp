// SPDX-License-Identifier: Apache-2.0
// Repetition in a list of runs: the same columns on every level, kept once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decomp/decomposition.hpp"

namespace afterbay::decomp {

/// Cuts `runs` into segments and leaves in it what they need. Repetition is looked for at the distance of
/// neighbours along any dimension of `global` but the last, and from a run to the next: points dealt in turn,
/// columns of a block. Costs O(n log n) for n runs.
std::vector<Segment> find_repetition(std::vector<Run>& runs, std::span<const std::uint64_t> global);

}  // namespace afterbay::decomp
