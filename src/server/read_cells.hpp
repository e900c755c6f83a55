// SPDX-License-Identifier: Apache-2.0
// ReadCells: the points of maps by which ranks on other nodes read: of each rank in the cells that
// this server reads for it. Used by the ingest thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "base/ingest_thread.hpp"
#include "base/result.hpp"
#include "model/map_cells.hpp"
#include "wire/model_messages.hpp"

namespace afterbay::server {

class ReadCells {
 public:
  /// Refuses points outside of their cells.
  Result<> add(std::size_t peer, wire::InputCells message) AFTERBAY_REQUIRES(ingest_thread) {
    const bool is_part = !message.part.empty() && message.part.size() <= model::max_dimensions;
    const std::uint64_t most = is_part ? model::Index(message.part).product() : 0;
    for (wire::InputCells::Cell& it : message.cells) {
      const Key key{peer, message.map, message.list, message.part, it.cell};
      model::CellPoints points;
      if (it.continues) {
        const auto begun = cells_.find(key);
        if (begun == cells_.end() || begun->second.lengths.empty() != it.lengths.empty())
          return fail(ErrorCode::internal,
                      "model rank {} continues cell {} of map number {}, which it has not begun", peer,
                      it.cell, message.map);
        points = std::move(begun->second);
      }
      points.cell = it.cell;
      points.within.insert(points.within.end(), it.within.begin(), it.within.end());
      points.lengths.insert(points.lengths.end(), it.lengths.begin(), it.lengths.end());
      points.repeats = it.repeats;
      points.within_step = it.within_step;
      if (!is_inside(points, most))
        return fail(ErrorCode::internal, "model rank {} describes points outside of cell {} of map number {}",
                    peer, it.cell, message.map);
      std::uint64_t of_pattern = points.lengths.empty() ? points.within.size() : 0;
      for (const std::uint32_t length : points.lengths) of_pattern += length;
      points.points = of_pattern * points.repeats;
      cells_[key] = std::move(points);
    }
    return {};
  }
  /// Null if the rank has not described the cell. The elements are consecutive, and not listed.
  [[nodiscard]] const model::CellPoints* find(std::size_t peer, std::uint32_t map, std::uint32_t list,
                                              const model::Index& part, std::uint64_t cell) const
      AFTERBAY_REQUIRES(ingest_thread) {
    const auto found = cells_.find({peer, map, list, {part.begin(), part.end()}, cell});
    return found == cells_.end() ? nullptr : &found->second;
  }

 private:
  static bool is_inside(const model::CellPoints& points, std::uint64_t most) {
    if (!points.lengths.empty() && points.lengths.size() != points.within.size()) return false;
    for (const std::uint64_t repeat : {std::uint64_t{0}, points.repeats - 1}) {
      const auto shift = static_cast<std::uint32_t>(repeat * points.within_step);
      for (std::size_t i = 0; i < points.within.size(); ++i) {
        const std::uint64_t length = points.lengths.empty() ? 1 : points.lengths[i];
        if (static_cast<std::uint32_t>(points.within[i] + shift) + length > most) return false;
      }
    }
    return true;
  }

  using Key =
      std::tuple<std::size_t, std::uint32_t, std::uint32_t, std::vector<std::uint64_t>, std::uint64_t>;
  std::map<Key, model::CellPoints> cells_ AFTERBAY_GUARDED_BY(ingest_thread);
};

}  // namespace afterbay::server
