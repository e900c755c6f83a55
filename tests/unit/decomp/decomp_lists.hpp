// SPDX-License-Identifier: Apache-2.0
// Conversion between lists of points and decompositions, for tests.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "decomp/decomposition.hpp"

namespace afterbay::test {

/// The rank's list, point by point; -1 is a hole.
inline std::vector<std::int64_t> list_of(const decomp::Decomposition& map, std::size_t rank) {
  std::vector<std::int64_t> list;
  map.for_each_run(rank, [&](const Map::Run& run) {
    for (std::uint64_t i = 0; i < run.length; ++i)
      list.push_back(run.offset == decomp::hole ? decomp::hole : run.offset + static_cast<std::int64_t>(i));
  });
  return list;
}

inline decomp::Decomposition map_of(std::string name, std::vector<std::uint64_t> global,
                                    const std::vector<std::vector<std::int64_t>>& lists) {
  decomp::Decomposition map(std::move(name), std::move(global));
  for (const std::vector<std::int64_t>& list : lists) {
    decomp::RunList runs;
    for (const std::int64_t point : list) runs.add(point);
    map.add_rank(std::move(runs));
  }
  return map;
}

}  // namespace afterbay::test
