// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "decomp/e3sm_file.hpp"
#include "decomp/memory.hpp"
#include "decomp/point_set.hpp"

namespace afterbay::decomp {
namespace {

/// A sum over points that is independent of their order but depends on each of them.
class Checksum {
 public:
  void add(std::int64_t point) {
    std::uint64_t mixed = static_cast<std::uint64_t>(point) + 0x9e3779b97f4a7c15U;  // splitmix64
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
    sum_ += mixed ^ (mixed >> 31);
  }
  friend bool operator==(const Checksum&, const Checksum&) = default;

 private:
  std::uint64_t sum_ = 0;
};

/// Totals over the pairs of all ranks, to be compared with other information in the file.
struct Pairs {
  explicit Pairs(std::uint64_t points) : held(points) {}

  struct Fill {
    Run run;
    std::size_t rank = 0;
  };
  PointSet held;
  std::vector<Fill> fills;  ///< pairs to be filled
  std::int64_t longest = 0;
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();

  void add(const Run& run, std::size_t rank, bool is_held) {
    longest = std::max(longest, static_cast<std::int64_t>(run.length));
    shortest = std::min(shortest, static_cast<std::int64_t>(run.length));
    if (is_held)
      held.add(static_cast<std::uint64_t>(run.offset), run.length);
    else
      fills.push_back({run, rank});
  }
};

class E3smMapReader {
 public:
  E3smMapReader(const NetcdfFile& file, std::size_t ranks, std::size_t index)
      : file_(file), ranks_(ranks), prefix_(fmt::format("D{}.", index + 1)) {}

  Result<Decomposition> read() {
    AFTERBAY_TRY(read_lengths());
    Decomposition map(prefix_.substr(0, prefix_.size() - 1), global_);
    points_ = static_cast<std::int64_t>(map.points());
    AFTERBAY_TRY_ASSIGN(pairs_, read_counts("nreqs"));
    held_ = pairs_;
    if (file_.has_variable(prefix_ + "fill_starts")) {
      AFTERBAY_TRY_ASSIGN(held_, read_counts("fill_starts"));
    }
    AFTERBAY_TRY(check_total("nreqs", pairs_, "offsets"));
    AFTERBAY_TRY(check_total("nreqs", pairs_, "lengths"));
    AFTERBAY_TRY(check_room(map));
    Pairs all(map.points());
    raw_ = file_.has_variable(prefix_ + "raw_offsets");
    if (raw_) {
      AFTERBAY_TRY_ASSIGN(listed_, read_counts("raw_nreqs"));
      AFTERBAY_TRY(check_total("raw_nreqs", listed_, "raw_offsets"));
    }
    std::uint64_t first = 0;
    std::uint64_t first_raw = 0;
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      AFTERBAY_TRY_ASSIGN(RunList list, read_pairs(rank, first, all));
      if (raw_) {
        AFTERBAY_TRY_ASSIGN(list, read_raw(rank, first_raw, list));
        first_raw += static_cast<std::uint64_t>(listed_[rank]);
      }
      map.add_rank(std::move(list));
      first += static_cast<std::uint64_t>(pairs_[rank]);
    }
    AFTERBAY_TRY(check_attributes(all));
    AFTERBAY_TRY(check_fills(all));
    return map;
  }

 private:
  Result<> read_lengths() {
    AFTERBAY_TRY_ASSIGN(const std::vector<std::int64_t> lengths, file_.integers("", prefix_ + "dims"));
    AFTERBAY_TRY_ASSIGN(const std::vector<std::int64_t> ndims, file_.integers("", prefix_ + "ndims"));
    if (ndims.size() != 1 || ndims[0] != static_cast<std::int64_t>(lengths.size()))
      return malformed(file_, "", "the attribute {0}ndims is {1}, and {0}dims has {2} lengths", prefix_,
                       fmt::join(ndims, ", "), lengths.size());
    if (const Result<> checked = check_global(lengths); !checked)
      return malformed(file_, "", "the attribute {}dims: {}", prefix_, checked.error().message);
    global_.assign(lengths.begin(), lengths.end());
    return {};
  }

  /// One number per rank, not negative; for fill_starts: not above nreqs.
  Result<std::vector<std::int64_t>> read_counts(const std::string& what) const {
    AFTERBAY_TRY_ASSIGN(std::vector<std::int64_t> counts, file_.read(prefix_ + what));
    if (counts.size() != ranks_)
      return malformed(file_, prefix_ + what, "has {} values for {} ranks", counts.size(), ranks_);
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      if (counts[rank] < 0)
        return malformed(file_, prefix_ + what, "is {} for rank {}, below 0", counts[rank], rank);
      if (what == "fill_starts" && counts[rank] > pairs_[rank])
        return malformed(file_, prefix_ + what, "is {} for rank {}, which has {} pairs (nreqs)", counts[rank],
                         rank, pairs_[rank]);
    }
    return counts;
  }

  Result<> check_total(const std::string& what, const std::vector<std::int64_t>& counts,
                       const std::string& of) const {
    AFTERBAY_TRY_ASSIGN(const std::uint64_t there, file_.length(prefix_ + of));
    std::uint64_t total = 0;
    for (const std::int64_t count : counts) {
      total += static_cast<std::uint64_t>(count);
      if (total <= there) continue;
      return malformed(file_, prefix_ + what, "adds up to more than the {} values of {}{}", there, prefix_,
                       of);
    }
    if (std::max<std::uint64_t>(total, 1) != there)  // no dimension of netCDF has the length 0
      return malformed(file_, prefix_ + what, "adds up to {}, and {}{} has {} values", total, prefix_, of,
                       there);
    return {};
  }

  /// The pairs that the rank holds; those to be filled are checked too.
  Result<RunList> read_pairs(std::size_t rank, std::uint64_t first, Pairs& all) const {
    const auto many = static_cast<std::uint64_t>(pairs_[rank]);
    AFTERBAY_TRY_ASSIGN(const std::vector<std::int64_t> offsets,
                        file_.read(prefix_ + "offsets", first, many));
    AFTERBAY_TRY_ASSIGN(const std::vector<std::int64_t> lengths,
                        file_.read(prefix_ + "lengths", first, many));
    const auto row = static_cast<std::int64_t>(global_.back());
    RunList list;
    std::uint64_t elements = 0;
    for (std::uint64_t i = 0; i < many; ++i) {
      if (offsets[i] < 0 || offsets[i] >= points_)
        return malformed(file_, prefix_ + "offsets", "pair {} of rank {} begins at {}; there are {} points",
                         i, rank, offsets[i], points_);
      if (lengths[i] < 1 || lengths[i] > row - offsets[i] % row)
        return malformed(file_, prefix_ + "lengths",
                         "pair {} of rank {} has the length {} at {}, where the last dimension has {} points",
                         i, rank, lengths[i], offsets[i], row - offsets[i] % row);
      elements += static_cast<std::uint64_t>(lengths[i]);
      if (elements > most_elements)
        return malformed(file_, prefix_ + "lengths", "rank {} lists more than 2^32 - 1 points", rank);
      const bool is_held = static_cast<std::int64_t>(i) < held_[rank];
      all.add({offsets[i], static_cast<std::uint64_t>(lengths[i])}, rank, is_held);
      if (is_held) list.add(offsets[i], static_cast<std::uint64_t>(lengths[i]));
    }
    return list;
  }

  /// Checks the memory for one bit per point and for the lists.
  Result<> check_room(const Decomposition& map) const {
    double bytes = static_cast<double>(map.points()) / 8;
    for (const std::int64_t pairs : pairs_) bytes += sizeof(Run) * static_cast<double>(pairs);
    Result<> fits = check_memory(bytes, fmt::format("the map's {} points", map.points()));
    if (!fits) return fail(fits.error().in_file(file_.path()).in_variable(prefix_ + "offsets"));
    return {};
  }

  /// An optional attribute; if present, it must be in least ... most.
  Result<> check_attribute(const std::string& variable, const std::string& name, std::int64_t least,
                           std::int64_t most, const char* of) const {
    if (!file_.has_attribute(variable, name)) return {};
    AFTERBAY_TRY_ASSIGN(const std::vector<std::int64_t> values, file_.integers(variable, name));
    if (values.size() == 1 && values[0] >= least && values[0] <= most) return {};
    return malformed(file_, variable, "the attribute {} is {}; {} is {}", name, fmt::join(values, ", "), of,
                     least == most ? fmt::to_string(least) : fmt::format("in {} ... {}", least, most));
  }

  Result<> check_attributes(const Pairs& all) const {
    const auto [fewest, most] = std::minmax_element(pairs_.begin(), pairs_.end());
    AFTERBAY_TRY(check_attribute("", prefix_ + "max_nreqs", *most, *most, "the most pairs of a rank"));
    AFTERBAY_TRY(check_attribute("", prefix_ + "min_nreqs", *fewest, *fewest, "the fewest pairs of a rank"));
    // E3SM-IO's converter determines the lengths before it adds pairs to be filled, and may sort
    // these among the others; the attributes are undefined if rank 0 holds nothing.
    if (held_[0] > 0) {
      const bool exact = all.fills.empty();
      const std::string lengths = prefix_ + "lengths";
      AFTERBAY_TRY(check_attribute(lengths, "max", exact ? all.longest : all.shortest, all.longest,
                                   "the longest pair"));
      AFTERBAY_TRY(check_attribute(lengths, "min", all.shortest, exact ? all.shortest : all.longest,
                                   "the shortest pair"));
    }
    if (!file_.has_attribute("", prefix_ + "fully_covered")) return {};
    AFTERBAY_TRY_ASSIGN(const std::string covered, file_.text("", prefix_ + "fully_covered"));
    const std::uint64_t gap = all.held.next(0, false);
    if (covered == "true" && gap == all.held.points()) return {};
    if (covered == "false" && gap < all.held.points()) return {};
    return malformed(
        file_, "", "the attribute {}fully_covered is \"{}\"; {}", prefix_, covered,
        gap < all.held.points() ? fmt::format("no rank holds the point at {}", gap) : "every point is held");
  }

  /// Pairs to be filled are the gaps, each once, if there are any: E3SM-IO's converter creates them
  /// on request.
  Result<> check_fills(Pairs& all) const {
    for (const Pairs::Fill& fill : all.fills) {
      const auto first = static_cast<std::uint64_t>(fill.run.offset);
      const std::uint64_t taken = all.held.next(first, true);
      if (taken < first + fill.run.length)
        return malformed(
            file_, prefix_ + "offsets",
            "the pair to be filled of rank {} at {} has the point {}, which another pair has too", fill.rank,
            first, taken);
      all.held.add(first, fill.run.length);
    }
    const std::uint64_t gap = all.held.next(0, false);
    if (all.fills.empty() || gap == all.held.points()) return {};
    return malformed(file_, prefix_ + "offsets",
                     "the point at {} is in no pair, neither held nor to be filled, as other gaps are", gap);
  }

  /// The rank's list. Some versions of E3SM-IO's converter count raw offsets from 0; the smallest
  /// offset shows which.
  Result<RunList> read_raw(std::size_t rank, std::uint64_t first, RunList& pairs) const {
    const std::string name = prefix_ + "raw_offsets";
    AFTERBAY_TRY_ASSIGN(const std::vector<std::int64_t> raw,
                        file_.read(name, first, static_cast<std::uint64_t>(listed_[rank])));
    std::uint64_t held = 0;
    std::int64_t least = points_;
    Checksum of_pairs;
    for (const Run& run : pairs.runs()) {
      held += run.length;
      least = std::min(least, run.offset);
      for (std::uint64_t i = 0; i < run.length; ++i) of_pairs.add(run.offset + static_cast<std::int64_t>(i));
    }
    if (held != raw.size())
      return malformed(file_, prefix_ + "raw_nreqs", "is {} for rank {}, whose pairs have {} points",
                       raw.size(), rank, held);
    RunList list;
    if (raw.empty()) return list;
    const std::int64_t base = *std::min_element(raw.begin(), raw.end()) - least;
    Checksum of_raw;
    for (std::size_t i = 0; i < raw.size(); ++i) {
      const std::int64_t point = raw[i] - (base == 0 ? 0 : 1);
      if (point < 0 || point >= points_)
        return malformed(file_, name, "value {} of rank {} is {}; the points are 1 ... {}", i, rank, raw[i],
                         points_);
      of_raw.add(point);
      list.add(point);
    }
    if (!(of_raw == of_pairs))
      return malformed(file_, name, "the points of rank {} (the least is {}) are not those of its pairs",
                       rank, least + base);
    return list;
  }

  const NetcdfFile& file_;
  std::size_t ranks_;
  std::string prefix_;
  std::vector<std::uint64_t> global_;
  std::int64_t points_ = 0;
  std::vector<std::int64_t> pairs_;
  std::vector<std::int64_t> held_;
  std::vector<std::int64_t> listed_;
  bool raw_ = false;
};

}  // namespace

Result<bool> is_e3sm_file(const NetcdfFile& file) {
  AFTERBAY_TRY_ASSIGN(const auto maps, file.find_dimension("num_decomp"));
  AFTERBAY_TRY_ASSIGN(const auto padded_ranks, file.find_dimension("num_procs"));
  return maps.has_value() || (padded_ranks.has_value() && file.has_variable("D1.nreqs"));
}

Result<E3smReader> E3smReader::open_padded(NetcdfFile file, std::size_t ranks) {
  constexpr std::size_t most_maps = 3;  // D1, D2 and D3 of the F case
  std::size_t maps = 0;
  while (file.has_variable(fmt::format("D{}.nreqs", maps + 1))) ++maps;
  if (maps < 1 || maps > most_maps)
    return malformed(file, "",
                     "has the dimension num_procs, as E3SM-IO's files of 2018, and {} variables D<k>.nreqs "
                     "from D1 on: 1 to {} are expected",
                     maps, most_maps);
  return E3smReader(std::move(file), maps, ranks, true);
}

Result<E3smReader> E3smReader::open(NetcdfFile file) {
  AFTERBAY_TRY_ASSIGN(const auto maps, file.find_dimension("num_decomp"));
  const char* const ranks_name = maps ? "decomp_nprocs" : "num_procs";
  AFTERBAY_TRY_ASSIGN(const auto ranks, file.find_dimension(ranks_name));
  if (!ranks) return malformed(file, "", "there is no dimension {}", ranks_name);
  if (*ranks < 1)
    return malformed(file, "", "the dimension {} is 0: at least one rank is expected", ranks_name);
  if (!maps) return open_padded(std::move(file), *ranks);
  for (std::uint64_t map = 1; map <= *maps; ++map)
    if (const std::string name = fmt::format("D{}.nreqs", map); !file.has_variable(name))
      return malformed(file, "", "the dimension num_decomp is {}, but there is no variable {}", *maps, name);
  return E3smReader(std::move(file), *maps, *ranks, false);
}

Result<Decomposition> E3smReader::read(std::size_t index) const {
  if (padded_) return read_padded_map(file_, ranks_, index);
  return E3smMapReader(file_, ranks_, index).read();
}

}  // namespace afterbay::decomp
