// SPDX-License-Identifier: Apache-2.0
// What the servers found in their parts of two maps, joined by the first of them: the verdicts of
// emulated servers, and what the first one takes to decode and join them and to tell the result to
// all.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "model/map_division.hpp"
#include "model/point_runs.hpp"
#include "scale/emulation.hpp"
#include "server/map_checks.hpp"
#include "server/served_decompositions.hpp"
#include "wire/archive.hpp"

namespace bench {

using namespace afterbay;

namespace {

constexpr std::uint32_t maps = 2;

/// A grid whose points are dealt to the ranks in turn: rank r holds the points r, r + N, and so on,
/// so that it has points in the parts of many servers. It also describes those of the next rank, to
/// which it loses them or which loses them to it, as halos do. The ranks of the last quarter
/// describe only points of the first quarter, and lose all of them.
class DealtGrid {
 public:
  explicit DealtGrid(const Case& it)
      : ranks_(it.ranks), servers_(it.servers), points_(it.ranks * it.points) {}

  /// Visits the ranks that hold points in the part of the index space.
  template <class Visit>
  void for_each_in(const model::OffsetRun& part, Visit&& visit) const {
    const std::size_t first = part.offset % ranks_;
    const std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>(part.length + 1, ranks_));
    const std::size_t own = ranks_ - ranks_ / 4;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t rank = (first + ranks_ - 1 + i) % ranks_;
      if (rank < own) visit(rank);
      if (rank < ranks_ / 4) visit(rank + own);
    }
  }
  /// What the rank describes to the server of this part.
  [[nodiscard]] wire::DefineMap message(std::size_t rank, const model::OffsetRun& part) const {
    wire::DefineMap message;
    message.coverage = {.gaps_allowed = true, .repeats = Repeats::first};
    message.global = {points_};
    message.held = 2 * points_ / ranks_;
    message.all = servers_ == 1 ? 1 : 0;
    const std::size_t own = ranks_ - ranks_ / 4;
    const std::size_t like = rank < own ? rank : rank - own;
    std::vector<model::PointRun> runs;
    const std::uint64_t end = part.offset + part.length;
    for (std::uint64_t row = part.offset / ranks_ * ranks_; row < end; row += ranks_) {
      const std::uint64_t from = std::max(row + like, part.offset);
      const std::uint64_t to = std::min(row + like + 2, end);
      if (from < to) runs.push_back({from, 0, static_cast<std::uint32_t>(to - from)});
    }
    if (!runs.empty()) message.points = model::encode_offsets(model::PointRuns(std::move(runs), 0));
    return message;
  }

  [[nodiscard]] std::uint64_t points() const { return points_; }

 private:
  std::uint64_t ranks_;
  std::size_t servers_;
  std::uint64_t points_;
};

/// Ranks that hold no points there say so to the server: for `verdicts` that makes no difference.
server::ServedDecompositions server_of(const DealtGrid& grid, std::size_t number, const Case& it,
                                       const std::vector<int>& session_ranks) {
  server::ServedDecompositions served(session_ranks, {number, it.servers});
  const model::OffsetRun home = model::home_of(grid.points(), it.servers, number);
  grid.for_each_in(home, [&](std::size_t rank) {
    assert_role(ingest_thread);  // the only thread
    wire::DefineMap message = grid.message(rank, home);
    for (message.id = 0; message.id < maps; ++message.id) must(served.add(rank, message));
  });
  return served;
}

}  // namespace

nlohmann::json measure_verdicts(const Case& it, const config::Config&) {
  assert_role(ingest_thread);  // the only thread
  const DealtGrid grid(it);
  std::vector<int> session_ranks(it.ranks);
  std::iota(session_ranks.begin(), session_ranks.end(), 0);
  server::ServedDecompositions judge = server_of(grid, 0, it, session_ranks);
  const model::OffsetRun nothing;
  std::vector<bool> described(it.ranks);
  grid.for_each_in(model::home_of(grid.points(), it.servers, 0),
                   [&](std::size_t rank) { described[rank] = true; });
  for (std::size_t rank = 0; rank < it.ranks; ++rank) {
    if (described[rank]) continue;
    wire::DefineMap message = grid.message(rank, nothing);
    for (message.id = 0; message.id < maps; ++message.id) must(judge.add(rank, message));
  }
  std::uint64_t told = 0;
  std::optional<wire::MapsChecked> result;
  server::MapChecks checks(0, it.servers,
                           {.judge = [&](std::span<const std::vector<wire::MapVerdict>> found)
                                         AFTERBAY_REQUIRES(ingest_thread) { return judge.judge(found); },
                            .send_to_judge = [](const wire::MapVerdicts&) {},
                            .send_to_all =
                                [&](const wire::MapsChecked& checked) {
                                  for (std::size_t s = 1; s < it.servers; ++s)
                                    told += wire::encode(checked).size();
                                },
                            .done = [&](const wire::MapsChecked& checked) { result = checked; }});
  const Memory before = memory_now();
  std::uint64_t bytes = 0;
  std::uint64_t most_memory = 0;
  double begin = thread_cpu_s();
  checks.found({1, judge.check_maps()}, false);
  double cpu = thread_cpu_s() - begin;
  for (std::size_t s = 1; s < it.servers; ++s) {
    const auto message =
        wire::encode(wire::MapVerdicts{1, server_of(grid, s, it, session_ranks).check_maps()});
    bytes += message.size();
    begin = thread_cpu_s();
    checks.take(s, must(wire::decode<wire::MapVerdicts>(message)));
    cpu += thread_cpu_s() - begin;
    if (s + 1 == it.servers || s % 16 == 0)
      most_memory = std::max(most_memory, grown(before.heap, memory_now().heap));
  }
  if (!result) throw Failure(Error(ErrorCode::internal, "not all servers have reported"));
  if (result->error) throw Failure(*result->error);
  begin = thread_cpu_s();
  judge.accept(*result);
  cpu += thread_cpu_s() - begin;
  // The last quarter lost everything to the first one, and nobody else did.
  const std::size_t expected = it.ranks / 4;
  for (const wire::CheckedMap& map : result->maps) {
    const std::vector<std::uint32_t> last_quarter{static_cast<std::uint32_t>(it.ranks - expected),
                                                  static_cast<std::uint32_t>(it.ranks - 1)};
    if (map.empty != last_quarter || map.lost == 0)
      throw Failure(
          Error(ErrorCode::internal, "the ranks that lost all of their points are not the last quarter"));
  }
  return {{"cpu_s", cpu}, {"memory", most_memory}, {"received", bytes}, {"told", told}};
}

}  // namespace bench
