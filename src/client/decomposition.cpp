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
  cuts_.push_back(std::make_unique<Cut>(Cut{part, cells, model::deal(runs_, cells), {}, {}}));
  return *cuts_.back();
}

const MapPart::ReadCut& MapPart::read_cut(const model::Index& part) {
  for (const auto& known : read_cuts_)
    if (known->part == part) return *known;
  model::MapCut cells(global_, part);
  auto made = std::make_unique<ReadCut>(
      ReadCut{part, cells, model::deal(described_ ? *described_ : runs_, cells), {}});
  for (const model::CellPoints& points : made->points) made->out.push_back(model::reversed(points));
  read_cuts_.push_back(std::move(made));
  return *read_cuts_.back();
}

Result<> MapPart::set_packing(const model::Index& part, std::span<const std::uint32_t> cells,
                              std::vector<std::uint64_t> before) {
  Cut& it = const_cast<Cut&>(cut(part));
  if (!std::ranges::equal(it.points, cells, {}, &model::CellPoints::cell) || before.size() != cells.size())
    return fail(ErrorCode::internal, "the server knows {} cells of this rank's points, the rank {}",
                cells.size(), it.points.size());
  it.before = std::move(before);
  it.rows.clear();
  const auto listed = list() ? model::deal(*list(), it.cells) : it.points;
  for (const model::CellPoints& points : listed) it.rows.push_back(model::rows_of(points));
  return {};
}

}  // namespace afterbay::client
