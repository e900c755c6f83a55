// SPDX-License-Identifier: Apache-2.0
#include "server/served_map.hpp"

#include <algorithm>

namespace afterbay::server {
namespace {

const model::CellPoints* find(const std::vector<model::CellPoints>& cells, std::uint64_t cell) {
  const auto found = std::ranges::lower_bound(cells, cell, {}, &model::CellPoints::cell);
  return found == cells.end() || found->cell != cell ? nullptr : &*found;
}

/// The encoding of a list without the points of `lost`.
std::vector<std::byte> without(std::span<const std::byte> points, std::span<const model::OffsetRun> lost) {
  std::vector<model::PointRun> runs;
  model::OffsetReader reader(points);
  constexpr std::uint64_t most = 1u << 31;
  for (model::OffsetRun run = reader.next(); run.length > 0; run = reader.next())
    for (; run.length > 0;) {
      const std::uint64_t length = std::min(run.length, most);
      runs.push_back({run.offset, 0, static_cast<std::uint32_t>(length)});
      run = {run.offset + length, run.length - length};
    }
  return model::encode_offsets(model::PointRuns(std::move(runs), 0).without(lost));
}

}  // namespace

Result<> ServedMap::check(std::string_view name, std::span<const int> session_ranks,
                          const Coverage& coverage) {
  std::vector<model::RankPoints> ranks;
  for (std::size_t peer = 0; peer < points_.size(); ++peer)
    ranks.push_back({session_ranks[peer], points_[peer]});
  AFTERBAY_TRY_ASSIGN(model::MapCoverage found,
                      model::check_map_coverage(name, global_.product(), ranks, coverage));
  for (std::size_t peer = 0; peer < points_.size(); ++peer) AFTERBAY_TRY(check_list(name, peer));
  gaps_ = std::move(found.gaps);
  losses_ = std::move(found.lost);
  for (std::size_t peer = 0; peer < points_.size(); ++peer)
    if (!losses_[peer].empty())
      described_[peer] = std::exchange(points_[peer], without(points_[peer], losses_[peer]));
  return {};
}

bool ServedMap::holds(std::size_t peer) const { return model::OffsetReader(points_[peer]).next().length > 0; }

std::uint32_t ServedMap::holders() const {
  std::uint32_t count = 0;
  for (std::size_t peer = 0; peer < points_.size(); ++peer) count += holds(peer) ? 1 : 0;
  return count;
}

std::uint64_t ServedMap::bytes() const {
  std::uint64_t sum = gaps_.capacity() * sizeof(model::OffsetRun);
  for (const auto& points : points_) sum += points.capacity();
  for (const auto& list : lists_) sum += list.capacity();
  for (const auto& cut : cuts_) {
    sum += cut->expected.capacity() * sizeof(std::uint32_t);
    for (const model::CellPoints& gap : cut->gaps) sum += gap.bytes();
    for (const auto& own : cut->own)
      for (const model::CellPoints& points : own) sum += points.bytes();
  }
  return sum;
}

const model::CellPoints* ServedMap::Cut::gap(std::uint64_t cell) const { return find(gaps, cell); }

ServedMap::Cut& ServedMap::cut(const model::Index& part) {
  for (const auto& known : cuts_)
    if (known->part == part) return *known;
  auto made = std::make_unique<Cut>(Cut{part, model::MapCut(global_, part), {}, {}, {}, {}, {}, 0, 0, {}});
  Cut& it = *made;
  it.own.resize(points_.size());
  it.has_own.resize(points_.size(), false);
  it.expected.resize(it.cells.cells(), 0);
  // Number of the rank that was counted last, plus 1.
  std::vector<std::uint32_t> counted(it.cells.cells(), 0);
  for (std::size_t peer = 0; peer < points_.size(); ++peer) {
    const auto mark = static_cast<std::uint32_t>(peer + 1);
    model::OffsetReader reader(points_[peer]);
    for (model::OffsetRun run = reader.next(); run.length > 0; run = reader.next())
      it.cells.split(run.offset, run.length,
                     [&](std::uint64_t cell, std::uint64_t, std::uint64_t, std::uint64_t length) {
                       if (std::exchange(counted[cell], mark) != mark) ++it.expected[cell];
                       ++it.runs;
                       it.points += length;
                     });
  }
  it.gaps = model::deal(std::span<const model::OffsetRun>(gaps_), it.cells);
  cuts_.push_back(std::move(made));
  return it;
}

const model::CellPoints* ServedMap::points_of(Cut& cut, std::size_t peer, std::uint64_t cell) const {
  if (!cut.has_own[peer]) {
    cut.own[peer] = model::deal(model::OffsetReader(points_[peer]), cut.cells);
    // The numbers are consecutive.
    for (model::CellPoints& points : cut.own[peer]) points.elements = {};
    cut.has_own[peer] = true;
  }
  return find(cut.own[peer], cell);
}

const model::CellPoints* ServedMap::read_points_of(Cut& cut, std::size_t peer, std::uint64_t cell) const {
  const auto described = described_.find(peer);
  if (described == described_.end()) return points_of(cut, peer, cell);
  auto [at, is_new] = cut.read.try_emplace(peer);
  if (is_new) {
    at->second = model::deal(model::OffsetReader(described->second), cut.cells);
    for (model::CellPoints& points : at->second) points.elements = {};  // consecutive numbers
  }
  return find(at->second, cell);
}

bool ServedMap::can_pack() const {
  return std::ranges::all_of(losses_, [](const auto& lost) { return lost.empty(); });
}

bool ServedMap::pack(Cut& cut) const {
  if (!cut.shares.empty()) return false;
  cut.shares.resize(cut.cells.cells());
  for (std::size_t peer = 0; peer < points_.size(); ++peer) {
    const auto& list = lists_[peer].empty() ? points_[peer] : lists_[peer];
    for (model::CellPoints& points : model::deal(model::OffsetReader(list), cut.cells)) {
      points.elements = {};  // consecutive numbers
      auto& shares = cut.shares[points.cell];
      const std::uint64_t before = shares.empty() ? 0 : shares.back().before + shares.back().points.points;
      shares.push_back({peer, std::move(points), before});
    }
  }
  return true;
}

wire::MapPacking ServedMap::packing_of(std::uint32_t id, const Cut& cut, std::size_t peer) const {
  wire::MapPacking packing;
  packing.id = id;
  packing.part.assign(cut.part.begin(), cut.part.end());
  for (std::uint32_t cell = 0; cell < cut.shares.size(); ++cell)
    if (const auto* share = cut.share_of(cell, peer)) {
      packing.cells.push_back(cell);
      packing.before.push_back(share->before);
    }
  return packing;
}

const ServedMap::Cut::Share* ServedMap::Cut::share_of(std::uint64_t cell, std::size_t peer) const {
  const auto found = std::ranges::lower_bound(shares[cell], peer, {}, &Share::peer);
  return found == shares[cell].end() || found->peer != peer ? nullptr : &*found;
}

/// Checks that a rank's list has the same number of points as the rank, inside the map.
Result<> ServedMap::check_list(std::string_view name, std::size_t peer) const {
  if (lists_[peer].empty()) return {};
  std::uint64_t listed = 0;
  std::uint64_t held = 0;
  bool inside = true;
  const std::uint64_t all = global_.product();
  model::OffsetReader list(lists_[peer]);
  for (model::OffsetRun run = list.next(); run.length > 0; run = list.next()) {
    inside = inside && run.offset < all && run.length <= all - run.offset;
    listed += run.length;
  }
  model::OffsetReader points(points_[peer]);
  for (model::OffsetRun run = points.next(); run.length > 0; run = points.next()) held += run.length;
  if (inside && list.good() && listed == held) return {};
  return fail(ErrorCode::format, "decomposition '{}': the list of points of model rank {} is inconsistent",
              name, peer);
}

}  // namespace afterbay::server
