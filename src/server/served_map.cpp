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

/// The number of described points in the part to which `clip` cuts each run.
template <class Clip>
std::uint64_t points_within(std::span<const std::byte> described, Clip clip) {
  std::uint64_t points = 0;
  model::OffsetReader reader(described);
  for (model::OffsetRun run = reader.next(); run.length > 0; run = reader.next()) points += clip(run).length;
  return points;
}

}  // namespace

void ServedMap::set(std::size_t peer, wire::DefineMap message) {
  held_[peer] = message.held;
  lost_ = lost_ || message.lost != 0;
  all_ = all_ || message.all != 0;
  if (message.points.empty())
    described_.erase(peer);
  else
    described_[peer] = {std::move(message.points), std::move(message.list)};
}

void ServedMap::need(const model::Index& part, std::span<const model::CellRange> cells) {
  auto need = std::ranges::find(needs_, part, &Need::part);
  if (need == needs_.end()) need = needs_.insert(need, Need{part, {}});
  need->cells.insert(need->cells.end(), cells.begin(), cells.end());
}

std::vector<model::OffsetRun> ServedMap::known_part(const model::OffsetRun& home) const {
  if (all_) return {{0, global_.product()}};
  std::vector<model::OffsetRun> runs{home};
  for (const Need& need : needs_) {
    const model::MapCut cut(global_, need.part);
    std::vector<bool> seen(cut.cells());
    for (const model::CellRange& range : need.cells)
      for (std::uint64_t cell = range.first; cell <= range.last; ++cell) {
        if (seen[cell]) continue;
        seen[cell] = true;
        cut.for_each_row(cell, [&](const model::OffsetRun& row) { runs.push_back(row); });
      }
  }
  return model::joined(std::move(runs));
}

Result<wire::MapVerdict> ServedMap::check(std::string_view name, std::span<const int> session_ranks,
                                          const Coverage& coverage, const model::OffsetRun& home) {
  ++version_;  // not with each description: until all are here, earlier cuts are still valid
  std::vector<std::size_t> peers;
  std::vector<model::RankPoints> ranks;
  for (const auto& [peer, it] : described_) {
    AFTERBAY_TRY(check_list(name, peer, it));
    peers.push_back(peer);
    ranks.push_back({session_ranks[peer], it.points});
  }
  const std::vector<model::OffsetRun> part = known_part(home);
  AFTERBAY_TRY_ASSIGN(model::MapCoverage found,
                      model::find_map_coverage(name, global_.product(), part, ranks, coverage.repeats));
  wire::MapVerdict verdict;
  if (found.twice) {
    verdict.twice = 1;
    verdict.offset = found.twice->offset;
    verdict.first_rank = found.twice->first;
    verdict.second_rank = found.twice->second;
    return verdict;
  }
  const auto at_home = [&](const model::OffsetRun& run) -> model::OffsetRun {
    const std::uint64_t begin = std::max(run.offset, home.offset);
    const std::uint64_t end = std::min(run.offset + run.length, home.offset + home.length);
    return {begin, end > begin ? end - begin : 0};
  };
  gaps_ = std::move(found.gaps);
  for (const model::OffsetRun& gap : gaps_)
    if (const model::OffsetRun mine = at_home(gap); !coverage.gaps_allowed && mine.length > 0) {
      if (verdict.missing == 0) verdict.offset = mine.offset, verdict.length = mine.length;
      verdict.missing += mine.length;
    }
  losses_.clear();
  for (std::size_t i = 0; i < peers.size(); ++i) {
    if (found.lost[i].empty()) continue;
    std::uint64_t lost = 0;
    for (const model::OffsetRun& run : found.lost[i]) lost += at_home(run).length;
    std::vector<std::byte>& points = described_[peers[i]].points;
    if (lost > 0) verdict.losses = 1;
    // Only ranks that lose all of their points here are named: the others keep some.
    if (lost > 0 && lost == points_within(points, at_home)) {
      verdict.losers.push_back(static_cast<std::uint32_t>(peers[i]));
      verdict.lost.push_back(lost);
    }
    points = without(points, found.lost[i]);
    losses_[peers[i]] = std::move(found.lost[i]);
  }
  return verdict;
}

void ServedMap::set_checked(const wire::CheckedMap& found) {
  lost_ = lost_ || found.lost != 0;
  for (std::size_t i = 0; i + 1 < found.empty.size(); i += 2)
    for (std::size_t peer = found.empty[i]; peer <= found.empty[i + 1] && peer < held_.size(); ++peer)
      held_[peer] = 0;
}

std::uint32_t ServedMap::holders() const {
  return static_cast<std::uint32_t>(
      std::ranges::count_if(held_, [](std::uint64_t points) { return points > 0; }));
}

std::span<const model::OffsetRun> ServedMap::losses(std::size_t peer) const {
  const auto found = losses_.find(peer);
  if (found == losses_.end()) return {};
  return found->second;
}

std::uint64_t ServedMap::bytes() const {
  std::uint64_t sum = gaps_.capacity() * sizeof(model::OffsetRun) + held_.capacity() * sizeof(std::uint64_t);
  for (const auto& [peer, it] : described_) sum += it.points.capacity() + it.list.capacity() + sizeof it;
  for (const auto& cut : cuts_) {
    sum += cut->expected.capacity() * sizeof(std::uint32_t);
    for (const model::CellPoints& gap : cut->gaps) sum += gap.bytes();
    for (const auto& [peer, own] : cut->own)
      for (const model::CellPoints& points : own) sum += points.bytes();
    for (const auto& shares : cut->shares)
      for (const Cut::Share& share : shares) sum += share.points.bytes() + sizeof share;
  }
  return sum;
}

const model::CellPoints* ServedMap::Cut::gap(std::uint64_t cell) const { return find(gaps, cell); }

ServedMap::Cut& ServedMap::cut(const model::Index& part) {
  for (const auto& known : cuts_)
    if (known->part == part && known->version == version_) return *known;
  cuts_.push_back(
      std::make_unique<Cut>(Cut{part, model::MapCut(global_, part), version_, {}, {}, {}, 0, 0, {}}));
  Cut& it = *cuts_.back();
  it.expected.resize(it.cells.cells(), 0);
  // Number of the rank that was counted last, plus 1.
  std::vector<std::uint32_t> counted(it.cells.cells(), 0);
  for (const auto& [peer, described] : described_) {
    const auto mark = static_cast<std::uint32_t>(peer + 1);
    model::OffsetReader reader(described.points);
    for (model::OffsetRun run = reader.next(); run.length > 0; run = reader.next())
      it.cells.split(run.offset, run.length,
                     [&](std::uint64_t cell, std::uint64_t, std::uint64_t, std::uint64_t length) {
                       if (std::exchange(counted[cell], mark) != mark) ++it.expected[cell];
                       ++it.runs;
                       it.points += length;
                     });
  }
  it.gaps = model::deal(std::span<const model::OffsetRun>(gaps_), it.cells);
  return it;
}

const model::CellPoints* ServedMap::points_of(Cut& cut, std::size_t peer, std::uint64_t cell) const {
  auto [own, is_new] = cut.own.try_emplace(peer);
  if (const auto described = described_.find(peer); is_new && described != described_.end()) {
    own->second = model::deal(model::OffsetReader(described->second.points), cut.cells);
    // The numbers are consecutive.
    for (model::CellPoints& points : own->second) points.elements = {};
  }
  return find(own->second, cell);
}

std::optional<ServedMap::Packings> ServedMap::pack(std::uint32_t id, Cut& cut) const {
  if (!cut.shares.empty()) return std::nullopt;
  Packings packings;
  cut.shares.resize(cut.cells.cells());
  for (const auto& [peer, described] : described_) {
    wire::MapPacking& packing = packings[peer];
    packing.id = id;
    packing.part.assign(cut.part.begin(), cut.part.end());
    const auto& list = described.list.empty() ? described.points : described.list;
    for (model::CellPoints& points : model::deal(model::OffsetReader(list), cut.cells)) {
      points.elements = {};  // consecutive numbers
      auto& shares = cut.shares[points.cell];
      const std::uint64_t before = shares.empty() ? 0 : shares.back().before + shares.back().points.points;
      packing.cells.push_back(points.cell);
      packing.before.push_back(before);
      shares.push_back({peer, std::move(points), before});
    }
  }
  return packings;
}

const ServedMap::Cut::Share* ServedMap::Cut::share_of(std::uint64_t cell, std::size_t peer) const {
  const auto found = std::ranges::lower_bound(shares[cell], peer, {}, &Share::peer);
  return found == shares[cell].end() || found->peer != peer ? nullptr : &*found;
}

/// Checks that a rank's list has the same number of points as the rank, inside the map.
Result<> ServedMap::check_list(std::string_view name, std::size_t peer, const Described& it) const {
  if (it.list.empty()) return {};
  std::uint64_t listed = 0;
  std::uint64_t held = 0;
  bool inside = true;
  const std::uint64_t all = global_.product();
  model::OffsetReader list(it.list);
  for (model::OffsetRun run = list.next(); run.length > 0; run = list.next()) {
    inside = inside && run.offset < all && run.length <= all - run.offset;
    listed += run.length;
  }
  model::OffsetReader points(it.points);
  for (model::OffsetRun run = points.next(); run.length > 0; run = points.next()) held += run.length;
  if (inside && list.good() && listed == held) return {};
  return fail(ErrorCode::format, "decomposition '{}': the list of points of model rank {} is inconsistent",
              name, peer);
}

}  // namespace afterbay::server
