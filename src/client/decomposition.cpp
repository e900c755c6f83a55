// SPDX-License-Identifier: Apache-2.0
#include "client/decomposition.hpp"

#include <algorithm>

namespace afterbay::client {

const model::CellPoints* MapPart::Cut::find(std::uint64_t cell) const {
  const auto found = std::ranges::lower_bound(points, cell, {}, &model::CellPoints::cell);
  return found == points.end() || found->cell != cell ? nullptr : &*found;
}

const MapPart::Cut& MapPart::cut(const model::Index& part) {
  for (const auto& known : cuts_)
    if (known->part == part) return *known;
  model::MapCut cells(global_, part);
  cuts_.push_back(std::make_unique<Cut>(Cut{part, cells, model::deal(runs_, cells)}));
  return *cuts_.back();
}

}  // namespace afterbay::client
