// SPDX-License-Identifier: Apache-2.0
#include "server/served_decompositions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/caller_terms.hpp"
#include "model/map_coverage.hpp"
#include "server/records.hpp"

namespace afterbay::server {
namespace {

/// "map 'land' over 180 x 360 points (gaps allowed, the first of repeated points counts)".
std::string text_of(std::string_view name, const model::Index& global, const Coverage& coverage,
                    bool is_map) {
  const char* const repeats = coverage.repeats == Repeats::refuse  ? "no repeats"
                              : coverage.repeats == Repeats::first ? "the first of repeated points counts"
                                                                   : "the last of repeated points counts";
  return fmt::format("{} '{}' over {} points ({}, {})", is_map ? "map" : "block", name,
                     said_lengths({global.begin(), global.size}),
                     coverage.gaps_allowed ? "gaps allowed" : "no gaps", repeats);
}

}  // namespace

/// Checks that a rank's description of a decomposition agrees with that of the first rank.
Result<ServedDecomposition*> ServedDecompositions::join(std::size_t peer, std::uint32_t id,
                                                        const std::string& name, const model::Index& global,
                                                        const Coverage& coverage, bool is_map) {
  auto [at, is_new] = decompositions_.try_emplace(id);
  ServedDecomposition& it = at->second;
  if (is_new) {
    it.name = name;
    it.coverage = coverage;
    it.global = global;
    it.described.resize(ranks(), false);
    if (is_map)
      it.map = std::make_unique<ServedMap>(global, ranks());
    else
      it.blocks = std::make_unique<ServedBlocks>(global, ranks());
  } else if (it.name != name || !(it.global == global) || !(it.coverage == coverage) ||
             (it.map != nullptr) != is_map) {
    const auto other = std::ranges::find(it.described, true) - it.described.begin();
    return fail(make_error(ErrorCode::conflict,
                           "model rank {} registers {}, model rank {} {}: kind, name, global lengths and "
                           "coverage must be equal on all ranks",
                           peer, text_of(name, global, coverage, is_map), other,
                           text_of(it.name, it.global, it.coverage, it.map != nullptr))
                    .at_rank(session_rank(peer)));
  }
  it.described[peer] = true;
  return &it;
}

/// Every rank must describe the decomposition, also a rank that holds no points.
Result<> ServedDecompositions::check_described(const ServedDecomposition& it) const {
  std::vector<int> with;
  std::vector<int> without;
  for (std::size_t r = 0; r < ranks(); ++r) (it.described[r] ? with : without).push_back(static_cast<int>(r));
  if (without.empty()) return {};
  const int first = session_rank(static_cast<std::size_t>(without.front()));
  if (it.blocks && !it.checks)  // the server that checks knows whether they registered it
    return fail(
        make_error(ErrorCode::conflict,
                   "{} registered no decomposition '{}' or defined no collection on it, {} did: every "
                   "rank must register the same decompositions and define the same collections",
                   text_of_ranks(without), it.name, text_of_ranks(with))
            .at_rank(first));
  return fail(make_error(ErrorCode::conflict,
                         "{} did not register decomposition '{}', {} did: every rank must register it, also "
                         "one that holds no points",
                         text_of_ranks(without), it.name, text_of_ranks(with))
                  .at_rank(first));
}

Result<> ServedDecompositions::add(std::size_t peer, const wire::DefineDecomposition& message) {
  AFTERBAY_TRY_ASSIGN(
      ServedDecomposition* const it,
      join(peer, message.id, message.name, model::Index(message.block.global), message.coverage, false));
  it->checked = false;
  it->checks = it->checks || message.check != 0;
  it->used = it->used || message.used != 0;
  return it->blocks->set(peer, message);
}

Result<> ServedDecompositions::add(std::size_t peer, wire::DefineMap message) {
  AFTERBAY_TRY_ASSIGN(
      ServedDecomposition* const it,
      join(peer, message.id, message.name, model::Index(message.global), message.coverage, true));
  it->checked = false;
  it->map->set(peer, std::move(message));
  return {};
}

Result<> ServedDecompositions::check_blocks() {
  for (auto& [id, decomposition] : decompositions_) {
    if (decomposition.checked) continue;
    AFTERBAY_TRY(check_described(decomposition));
    if (decomposition.blocks) AFTERBAY_TRY(check(decomposition));
  }
  std::erase_if(decompositions_, [](const auto& entry) { return entry.second.blocks && !entry.second.used; });
  return {};
}

std::vector<wire::MapVerdict> ServedDecompositions::check_maps() {
  checked_maps_.clear();
  std::vector<wire::MapVerdict> verdicts;
  for (auto& [id, decomposition] : decompositions_) {
    if (decomposition.checked) continue;
    verdicts.push_back(check_map(id, decomposition));
    checked_maps_.push_back(id);
  }
  return verdicts;
}

Result<> ServedDecompositions::check(ServedDecomposition& it) const {
  if (std::exchange(it.checks, false)) AFTERBAY_TRY(it.blocks->check(it.name, session_ranks_, it.coverage));
  it.blocks->settle();
  it.holders = it.blocks->holders();
  it.checked = true;
  return {};
}

wire::MapVerdict ServedDecompositions::check_map(std::uint32_t id, ServedDecomposition& it) const {
  const std::uint64_t points = it.global.product();
  model::OffsetRun home = model::home_of(points, this_server_.checkers, this_server_.server);
  if (this_server_.checkers == 1) home = {0, it.map->has_all() ? points : 0};
  Coverage coverage = it.coverage;
  if (it.covered) coverage.gaps_allowed = true;  // it is known who holds which point
  wire::MapVerdict verdict;
  if (auto found = it.map->check(it.name, session_ranks_, coverage, home))
    verdict = std::move(*found);
  else
    verdict.invalid = std::move(found).error();
  verdict.id = id;
  return verdict;
}

wire::MapsChecked ServedDecompositions::judge(
    std::span<const std::vector<wire::MapVerdict>> by_server) const {
  std::map<std::uint32_t, std::vector<const wire::MapVerdict*>> by_map;
  for (const auto& verdicts : by_server)
    for (const wire::MapVerdict& verdict : verdicts) by_map[verdict.id].push_back(&verdict);
  wire::MapsChecked result;
  for (const auto& [id, verdicts] : by_map) {
    const ServedDecomposition& map = decompositions_.at(id);
    if (result.error = fault_of(map, verdicts); result.error) return result;
    wire::CheckedMap& checked = result.maps.emplace_back();
    checked.id = id;
    std::vector<std::uint64_t> lost;  // by model rank
    for (const wire::MapVerdict* const verdict : verdicts) {
      if (verdict->losses != 0) checked.lost = 1;
      if (!verdict->losers.empty()) lost.resize(ranks());
      for (std::size_t i = 0; i < verdict->losers.size() && i < verdict->lost.size(); ++i)
        if (verdict->losers[i] < ranks()) lost[verdict->losers[i]] += verdict->lost[i];
    }
    for (std::uint32_t peer = 0; peer < lost.size(); ++peer) {
      if (lost[peer] == 0 || lost[peer] != map.map->held(peer)) continue;
      if (checked.empty.empty() || checked.empty.back() + 1 != peer)
        checked.empty.insert(checked.empty.end(), {peer, peer});
      else
        checked.empty.back() = peer;
    }
  }
  return result;
}

/// The same for any number of servers: the first point that two ranks hold, otherwise all points
/// that no rank holds.
std::optional<Error> ServedDecompositions::fault_of(const ServedDecomposition& map,
                                                    std::span<const wire::MapVerdict* const> verdicts) const {
  const wire::MapVerdict* twice = nullptr;
  std::uint64_t missing = 0;
  model::OffsetRun first;
  for (const wire::MapVerdict* const it : verdicts) {
    if (it->invalid) return it->invalid;
    if (it->twice != 0 && (twice == nullptr || it->offset < twice->offset)) twice = it;
    if (it->missing == 0) continue;
    if (missing == 0)
      first = {it->offset, it->length};
    else if (it->offset == first.offset + first.length)  // the gap goes on in the next home
      first.length += it->length;
    missing += it->missing;
  }
  if (twice != nullptr)
    return model::held_twice(map.name, {twice->offset, twice->first_rank, twice->second_rank});
  if (missing > 0) return model::missing_points(map.name, map.global.product(), missing, first);
  return std::nullopt;
}

void ServedDecompositions::accept(const wire::MapsChecked& maps) {
  for (const wire::CheckedMap& checked : maps.maps)
    if (const auto at = decompositions_.find(checked.id); at != decompositions_.end() && at->second.map)
      at->second.map->set_checked(checked);
  for (const std::uint32_t id : checked_maps_) {
    ServedDecomposition& decomposition = decompositions_.at(id);
    decomposition.holders = decomposition.map->holders();
    decomposition.checked = decomposition.covered = true;
  }
}

std::vector<wire::MapLosses> ServedDecompositions::losses(std::size_t peer) const {
  std::vector<wire::MapLosses> messages;
  for (const std::uint32_t id : checked_maps_) {
    const auto lost = decompositions_.at(id).map->losses(peer);
    if (lost.empty()) continue;
    wire::MapLosses message;
    message.id = id;
    for (const model::OffsetRun& run : lost) {
      message.offsets.push_back(run.offset);
      message.lengths.push_back(run.length);
    }
    messages.push_back(std::move(message));
  }
  return messages;
}

const ServedDecomposition* ServedDecompositions::find(std::uint32_t id) const {
  const auto at = decompositions_.find(id);
  return at == decompositions_.end() ? nullptr : &at->second;
}

}  // namespace afterbay::server
