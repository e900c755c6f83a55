// SPDX-License-Identifier: Apache-2.0
#include "decomp/decomposition.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "decomp/repetition.hpp"

namespace afterbay::decomp {
namespace {

constexpr std::uint64_t beyond_all = std::numeric_limits<std::uint64_t>::max();

void add_up(std::uint64_t& sum, std::uint64_t more) {
  if (__builtin_add_overflow(sum, more, &sum)) sum = beyond_all;
}

}  // namespace

std::uint64_t Decomposition::points() const noexcept {
  std::uint64_t product = 1;
  for (const std::uint64_t length : global_) product *= length;
  return product;
}

void Decomposition::add_rank(RunList list) {
  const std::vector<Segment> found = find_repetition(list.runs(), global_);
  add_rank(found, list.runs());
}

void Decomposition::add_rank(std::span<const Segment> segments, std::span<const Run> runs) {
  segments_.insert(segments_.end(), segments.begin(), segments.end());
  runs_.insert(runs_.end(), runs.begin(), runs.end());
  first_segment_.push_back(segments_.size());
  first_run_.push_back(runs_.size());
}

std::span<const Segment> Decomposition::segments(std::size_t rank) const {
  return std::span(segments_).subspan(first_segment_[rank], first_segment_[rank + 1] - first_segment_[rank]);
}

std::span<const Run> Decomposition::runs(std::size_t rank) const {
  return std::span(runs_).subspan(first_run_[rank], first_run_[rank + 1] - first_run_[rank]);
}

Decomposition::Count Decomposition::count(std::size_t rank) const {
  Count count;
  std::size_t at = first_run_[rank];
  for (const Segment& segment : segments(rank)) {
    for (std::uint64_t i = 0; i < segment.runs; ++i, ++at) {
      std::uint64_t all = 0;
      if (__builtin_mul_overflow(runs_[at].length, segment.repeats, &all)) all = beyond_all;
      add_up(count.elements, all);
      if (runs_[at].offset == hole) add_up(count.holes, all);
    }
  }
  return count;
}

Map Decomposition::map_of(std::size_t rank) const {
  Map map;
  map.global = global_;
  for_each_run(rank, [&](const Run& run) { map.runs.push_back(run); });
  return map;
}

Result<> check_global(std::span<const std::int64_t> lengths) {
  if (lengths.empty() || lengths.size() > max_rank)
    return fail(ErrorCode::format, "{} dimensions: an index space has 1 to {}", lengths.size(), max_rank);
  std::int64_t points = 1;
  for (const std::int64_t length : lengths) {
    if (length < 1)
      return fail(ErrorCode::format, "the length {} of a dimension ({}) is below 1", length,
                  fmt::join(lengths, " x "));
    if (__builtin_mul_overflow(points, length, &points))
      return fail(ErrorCode::format, "{} are more than 2^63 points", fmt::join(lengths, " x "));
  }
  return {};
}

std::string text_of_lengths(std::span<const std::uint64_t> lengths) {
  if (lengths.size() > 1) return fmt::format("{}", fmt::join(lengths, " x "));
  return fmt::format("{} point{}", lengths[0], lengths[0] == 1 ? "" : "s");
}

}  // namespace afterbay::decomp
