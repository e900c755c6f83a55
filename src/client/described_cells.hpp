// SPDX-License-Identifier: Apache-2.0
// DescribedCells: which cells of its maps a rank has described to the servers that read for it, and
// must pack its part. A server hears of a cell before it reads the first piece there. Used by one
// thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "client/decomposition.hpp"
#include "wire/model_messages.hpp"

namespace afterbay::client {

class DescribedCells {
 public:
  /// Bytes of a message: fewer than those with which it can still be sent ahead of data.
  static constexpr std::size_t most_bytes = std::size_t{15} << 10;

  /// The messages that a server needs before it reads pieces in `cells`; none if it knows them all.
  /// `list`: as in InputCells. `part`: lengths of the cells.
  std::vector<wire::InputCells> missing(std::size_t server, std::uint32_t map, std::uint32_t list,
                                        const model::Index& part,
                                        std::span<const model::CellPoints* const> cells) {
    std::vector<wire::InputCells> messages;
    std::size_t room = 0;
    const std::vector<std::uint64_t> lengths(part.begin(), part.end());
    for (const model::CellPoints* const points : cells) {
      if (!described_.emplace(server, map, list, lengths, points->cell).second) continue;
      const std::size_t entry_bytes = (points->lengths.empty() ? 1 : 2) * sizeof(std::uint32_t);
      std::size_t done = 0;
      do {
        if (room < cell_bytes + entry_bytes) {
          messages.push_back({map, list, lengths, {}});
          room = most_bytes;
        }
        const std::size_t count = std::min((room - cell_bytes) / entry_bytes, points->within.size() - done);
        messages.back().cells.push_back({points->cell, cut(points->within, done, count),
                                         cut(points->lengths, done, count), points->repeats,
                                         points->within_step, done > 0});
        done += count;
        room -= cell_bytes + count * entry_bytes;
      } while (done < points->within.size());
    }
    return messages;
  }

 private:
  static constexpr std::size_t cell_bytes = 64;  ///< maximum size of a cell without entries

  /// A section of an optional list, which may be empty.
  static std::vector<std::uint32_t> cut(const std::vector<std::uint32_t>& list, std::size_t begin,
                                        std::size_t count) {
    if (list.empty()) return {};
    const auto first = list.begin() + static_cast<std::ptrdiff_t>(begin);
    return {first, first + static_cast<std::ptrdiff_t>(count)};
  }

  std::set<std::tuple<std::size_t, std::uint32_t, std::uint32_t, std::vector<std::uint64_t>, std::uint32_t>>
      described_;
};

}  // namespace afterbay::client
