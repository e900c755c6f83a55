// SPDX-License-Identifier: Apache-2.0
// Repetition in a list of runs: identical columns on every level are stored once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decomp/decomposition.hpp"

namespace afterbay::decomp {

/// Divides `runs` into segments and keeps only the runs that they need. Searches for repetition at
/// the distance of neighbours along any dimension of `global` except the last, and from one run to
/// the next: points distributed in turn, columns of a block. Costs O(n log n) for n runs.
std::vector<Segment> find_repetition(std::vector<Run>& runs, std::span<const std::uint64_t> global);

}  // namespace afterbay::decomp
