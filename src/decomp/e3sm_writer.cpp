// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "base/printable.hpp"
#include "decomp/e3sm_file.hpp"
#include "decomp/memory.hpp"
#include "decomp/point_set.hpp"

namespace afterbay::decomp {
namespace {

/// Calls `visit(offset, length)` for the pieces of a run, cut where the last dimension ends.
template <class Visit>
void cut(const Run& run, std::uint64_t row, Visit&& visit) {
  const std::uint64_t end = static_cast<std::uint64_t>(run.offset) + run.length;
  for (std::uint64_t at = static_cast<std::uint64_t>(run.offset); at < end;) {
    const std::uint64_t many = std::min(end - at, row - at % row);
    visit(static_cast<std::int64_t>(at), static_cast<std::int64_t>(many));
    at += many;
  }
}

/// The pairs of a rank in list order: holes are dropped, then adjacent pairs are joined.
template <class Visit>
void for_each_pair(const Decomposition& map, std::size_t rank, Visit&& visit) {
  const std::uint64_t row = map.global().back();
  const auto cut_run = [&](const Run& run) { cut(run, row, visit); };
  Joiner joiner(cut_run);
  map.for_each_run(rank, [&](const Run& run) {
    if (run.offset != hole) joiner.add(run);
  });
  joiner.flush();
}

/// The information about a map that precedes its lists.
struct Summary {
  std::vector<std::int64_t> pairs;   ///< nreqs
  std::vector<std::int64_t> held;    ///< fill_starts
  std::vector<std::int64_t> listed;  ///< raw_nreqs
  std::vector<Run> gaps;             ///< cut, in ascending order; the first go to rank 0
  std::int64_t longest = 0;
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();

  [[nodiscard]] std::uint64_t fills(std::size_t rank) const {
    return static_cast<std::uint64_t>(pairs[rank] - held[rank]);
  }
};

std::int64_t sum(const std::vector<std::int64_t>& values) {
  std::int64_t total = 0;
  for (const std::int64_t value : values) total += value;
  return total;
}

/// Calls `visit(Run)` for the points that no rank holds.
template <class Visit>
void for_each_gap(const PointSet& held, Visit&& visit) {
  for (std::uint64_t at = held.next(0, false); at < held.points();) {
    const std::uint64_t end = held.next(at, true);
    visit(Run{static_cast<std::int64_t>(at), end - at});
    at = held.next(end, false);
  }
}

/// Checks the memory for one bit per point and for the pairs and points of one rank.
Result<> check_room_to_write(const Decomposition& map) {
  std::uint64_t most = 0;
  for (std::size_t rank = 0; rank < map.ranks(); ++rank) most = std::max(most, map.count(rank).elements);
  return check_memory(static_cast<double>(map.points()) / 8 + 24.0 * static_cast<double>(most),
                      fmt::format("the {} points of the map \"{}\", {} of them on a rank,", map.points(),
                                  printable(map.name), most));
}

Result<Summary> summarize(const Decomposition& map) {
  Summary all;
  PointSet held(map.points());
  for (std::size_t rank = 0; rank < map.ranks(); ++rank) {
    std::int64_t pairs = 0;
    std::int64_t listed = 0;
    for_each_pair(map, rank, [&](std::int64_t offset, std::int64_t length) {
      ++pairs;
      listed += length;
      all.longest = std::max(all.longest, length);
      all.shortest = std::min(all.shortest, length);
      held.add(static_cast<std::uint64_t>(offset), static_cast<std::uint64_t>(length));
    });
    all.held.push_back(pairs);
    all.listed.push_back(listed);
  }
  all.shortest = std::min(all.shortest, all.longest);
  const std::uint64_t row = map.global().back();
  std::uint64_t gaps = 0;
  for_each_gap(held, [&](const Run& gap) {
    const auto first = static_cast<std::uint64_t>(gap.offset);
    gaps += (first + gap.length - 1) / row - first / row + 1;
  });
  AFTERBAY_TRY(
      check_memory(static_cast<double>(gaps) * sizeof(Run), fmt::format("the {} gaps of the map", gaps)));
  all.gaps.reserve(gaps);
  for_each_gap(held, [&](const Run& gap) {
    cut(gap, row, [&](std::int64_t offset, std::int64_t length) {
      all.gaps.push_back({offset, static_cast<std::uint64_t>(length)});
    });
  });
  const std::size_t each = all.gaps.size() / map.ranks();
  const std::size_t rest = all.gaps.size() % map.ranks();
  for (std::size_t rank = 0; rank < map.ranks(); ++rank)
    all.pairs.push_back(all.held[rank] + static_cast<std::int64_t>(each + (rank < rest ? 1 : 0)));
  return all;
}

constexpr auto about_pairs = "Number of noncontiguous requests per process";
constexpr auto about_fill_starts =
    "Start index in offsets[] and lengths[] for requests to be written with fill values";
constexpr auto about_offsets = "Flattened starting indices of noncontiguous requests";
constexpr auto about_lengths = "Lengths of noncontiguous requests";
constexpr auto about_raw_counts = "Number of file offsets accessed per process before merge";
constexpr auto about_raw = "File offsets accessed before merge";

class E3smMapWriter {
 public:
  E3smMapWriter(NetcdfFile& file, const Decomposition& map, std::size_t number, int rank_dimension)
      : file_(file), map_(map), prefix_(fmt::format("D{}.", number)), rank_dimension_(rank_dimension) {}

  Result<> write() {
    AFTERBAY_TRY_ASSIGN(summary_, summarize(map_));
    AFTERBAY_TRY(define());
    AFTERBAY_TRY(file_.end_definitions());
    AFTERBAY_TRY(file_.write(prefix_ + "nreqs", 0, summary_.pairs));
    AFTERBAY_TRY(file_.write(prefix_ + "fill_starts", 0, summary_.held));
    AFTERBAY_TRY(file_.write(prefix_ + "raw_nreqs", 0, summary_.listed));
    for (std::size_t rank = 0; rank < map_.ranks(); ++rank) AFTERBAY_TRY(write_rank(rank));
    return {};
  }

 private:
  /// int, unless points or counts exceed it.
  [[nodiscard]] nc_type type() const {
    const std::uint64_t most = std::max({map_.points(), static_cast<std::uint64_t>(sum(summary_.pairs)),
                                         static_cast<std::uint64_t>(sum(summary_.listed))});
    return most <= std::numeric_limits<std::int32_t>::max() ? NC_INT : NC_INT64;
  }

  Result<> define_variable(const std::string& name, int dimension, const char* about) {
    AFTERBAY_TRY(file_.add_variable(prefix_ + name, type(), dimension));
    return file_.put_text(prefix_ + name, "description", about);
  }

  Result<> put_attribute(const std::string& variable, const std::string& name, std::int64_t value) {
    return file_.put_integers(variable, name, type(), std::span(&value, 1));
  }

  Result<> define() {
    // A netCDF dimension has at least one element.
    const auto at_least_one = [](std::int64_t n) {
      return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(n));
    };
    AFTERBAY_TRY(define_variable("nreqs", rank_dimension_, about_pairs));
    AFTERBAY_TRY(define_variable("fill_starts", rank_dimension_, about_fill_starts));
    AFTERBAY_TRY_ASSIGN(const int pairs,
                        file_.add_dimension(prefix_ + "total_nreqs", at_least_one(sum(summary_.pairs))));
    AFTERBAY_TRY(define_variable("offsets", pairs, about_offsets));
    AFTERBAY_TRY(define_variable("lengths", pairs, about_lengths));
    AFTERBAY_TRY(put_attribute(prefix_ + "lengths", "max", summary_.longest));
    AFTERBAY_TRY(put_attribute(prefix_ + "lengths", "min", summary_.shortest));
    AFTERBAY_TRY(define_variable("raw_nreqs", rank_dimension_, about_raw_counts));
    AFTERBAY_TRY_ASSIGN(const int raw,
                        file_.add_dimension(prefix_ + "total_raw_nreqs", at_least_one(sum(summary_.listed))));
    AFTERBAY_TRY(define_variable("raw_offsets", raw, about_raw));
    const std::vector<std::int64_t> lengths(map_.global().begin(), map_.global().end());
    AFTERBAY_TRY(put_attribute("", prefix_ + "ndims", static_cast<std::int64_t>(lengths.size())));
    AFTERBAY_TRY(file_.put_integers("", prefix_ + "dims", type(), lengths));
    const auto [least, most] = std::minmax_element(summary_.pairs.begin(), summary_.pairs.end());
    AFTERBAY_TRY(put_attribute("", prefix_ + "max_nreqs", *most));
    AFTERBAY_TRY(put_attribute("", prefix_ + "min_nreqs", *least));
    return file_.put_text("", prefix_ + "fully_covered", summary_.gaps.empty() ? "true" : "false");
  }

  Result<> write_rank(std::size_t rank) {
    std::vector<std::int64_t> offsets;
    std::vector<std::int64_t> lengths;
    std::vector<std::int64_t> raw;
    for_each_pair(map_, rank, [&](std::int64_t offset, std::int64_t length) {
      offsets.push_back(offset);
      lengths.push_back(length);
      for (std::int64_t i = 0; i < length; ++i) raw.push_back(offset + i + 1);
    });
    for (std::uint64_t i = 0; i < summary_.fills(rank); ++i, ++next_gap_) {
      offsets.push_back(summary_.gaps[next_gap_].offset);
      lengths.push_back(static_cast<std::int64_t>(summary_.gaps[next_gap_].length));
    }
    AFTERBAY_TRY(file_.write(prefix_ + "offsets", next_pair_, offsets));
    AFTERBAY_TRY(file_.write(prefix_ + "lengths", next_pair_, lengths));
    AFTERBAY_TRY(file_.write(prefix_ + "raw_offsets", next_raw_, raw));
    next_pair_ += offsets.size();
    next_raw_ += raw.size();
    return {};
  }

  NetcdfFile& file_;
  const Decomposition& map_;
  std::string prefix_;
  int rank_dimension_;
  Summary summary_;
  std::size_t next_gap_ = 0;
  std::uint64_t next_pair_ = 0;
  std::uint64_t next_raw_ = 0;
};

}  // namespace

Result<E3smWriter> E3smWriter::create(const std::string& path, std::size_t maps, std::size_t ranks,
                                      const std::string& command_line) {
  AFTERBAY_TRY_ASSIGN(NetcdfFile file, NetcdfFile::create_classic(path));
  AFTERBAY_TRY(file.add_dimension("num_decomp", maps));
  AFTERBAY_TRY_ASSIGN(const int rank_dimension, file.add_dimension("decomp_nprocs", ranks));
  AFTERBAY_TRY(file.put_text("", "command_line", command_line));
  return E3smWriter(std::move(file), ranks, rank_dimension);
}

Result<> E3smWriter::add(const Decomposition& map) {
  if (map.ranks() != ranks_)
    return fail(
        ErrorCode::invalid_argument,
        "the map \"{}\" is for {} ranks and those before it for {}: E3SM-IO's file has one number for "
        "all of its maps",
        printable(map.name), map.ranks(), ranks_);
  AFTERBAY_TRY(check_room_to_write(map));
  if (written_++ > 0) AFTERBAY_TRY(file_.define_more());
  return E3smMapWriter(file_, map, written_, rank_dimension_).write();
}

}  // namespace afterbay::decomp
