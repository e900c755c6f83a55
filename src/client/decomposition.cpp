// SPDX-License-Identifier: Apache-2.0
#include "client/decomposition.hpp"

#include <algorithm>

namespace afterbay::client {

const model::CellPoints* MapPart::Cut::find(std::uint64_t cell) const {
  const auto found = std::ranges::lower_bound(points, cell, {}, &model::CellPoints::cell);
  return found == points.end() || found->cell != cell ? nullptr : &*found;
}

const MapPart::Cut& MapPart::cut(const model::Index& part) {
  const MutexLock lock(mutex_);
  return cut_locked(part);
}

MapPart::Cut& MapPart::cut_locked(const model::Index& part) {
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
  auto made = std::make_unique<ReadCut>(ReadCut{part, cells, model::deal(described(), cells), {}});
  for (const model::CellPoints& points : made->points) made->out.push_back(model::reversed(points));
  read_cuts_.push_back(std::move(made));
  return *read_cuts_.back();
}

std::optional<std::uint64_t> MapPart::Cut::before(std::size_t server, std::uint32_t cell) const {
  const auto of_server = packings.find(server);
  if (of_server == packings.end()) return std::nullopt;
  const Packing& packing = of_server->second;
  const auto found = std::ranges::lower_bound(packing.cells, cell);
  if (found == packing.cells.end() || *found != cell) return std::nullopt;
  return packing.before[static_cast<std::size_t>(found - packing.cells.begin())];
}

std::optional<MapPart::Packed> MapPart::packed(std::size_t server, const model::Index& part,
                                               std::uint32_t cell) {
  const MutexLock lock(mutex_);
  const Cut& it = cut_locked(part);
  const model::CellPoints* const points = it.find(cell);
  const auto before = it.before(server, cell);
  if (points == nullptr || !before) return std::nullopt;
  Packed packed;
  packed.before = *before;
  std::unordered_map<std::uint32_t, std::uint32_t> by_element;
  model::for_each_element(it.rows[it.number(*points)], [&](std::uint32_t element) {
    by_element.emplace(element, static_cast<std::uint32_t>(by_element.size()));
  });
  model::for_each_point(*points, [&](std::uint32_t within, std::uint32_t element) {
    packed.at.emplace(within, by_element.at(element));
  });
  return packed;
}

Result<> MapPart::set_packing(std::size_t server, const model::Index& part, Cut::Packing packing) {
  const MutexLock lock(mutex_);
  Cut& it = cut_locked(part);
  const bool known =
      std::ranges::all_of(packing.cells, [&](std::uint32_t cell) { return it.find(cell) != nullptr; });
  if (!known || packing.before.size() != packing.cells.size())
    return fail(ErrorCode::internal, "I/O server {} knows {} cells of this rank's points, the rank {}",
                server, packing.cells.size(), it.points.size());
  it.packings[server] = std::move(packing);
  if (!it.rows.empty()) return {};
  const auto listed = list() ? model::deal(*list(), it.cells) : it.points;
  for (const model::CellPoints& points : listed) it.rows.push_back(model::rows_of(points));
  return {};
}

}  // namespace afterbay::client
