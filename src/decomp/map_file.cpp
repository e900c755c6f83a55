// SPDX-License-Identifier: Apache-2.0
#include "decomp/map_file.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include "base/printable.hpp"
#include "decomp/memory.hpp"

namespace afterbay::decomp {
namespace {

constexpr auto format_name = "afterbay decomposition";
constexpr std::int64_t format_version = 1;

std::string prefix_of(std::size_t index) { return fmt::format("map{}", index + 1); }

class MapReader {
 public:
  MapReader(const NetcdfFile& file, std::size_t index) : file_(file), prefix_(prefix_of(index)) {}

  Result<Decomposition> read() {
    AFTERBAY_TRY_ASSIGN(Decomposition map, read_heading());
    points_ = static_cast<std::int64_t>(map.points());
    AFTERBAY_TRY(check_room());
    AFTERBAY_TRY_ASSIGN(const auto rank_segments, file_.read(prefix_ + "_rank_segments"));
    AFTERBAY_TRY_ASSIGN(const auto segment_runs, file_.read(prefix_ + "_segment_runs"));
    AFTERBAY_TRY(check_sum("_rank_segments", rank_segments, 0, "_segment_runs"));
    const std::size_t used = static_cast<std::size_t>(sum_);
    AFTERBAY_TRY(check_sum("_segment_runs", std::span(segment_runs).first(used), 1, "_run_offset"));
    AFTERBAY_TRY(read_segments(segment_runs, used));
    AFTERBAY_TRY(read_runs());
    AFTERBAY_TRY(add_ranks(map, rank_segments));
    return check_counts(std::move(map));
  }

 private:
  Result<Decomposition> read_heading() {
    AFTERBAY_TRY_ASSIGN(std::string name, file_.text(prefix_, "name"));
    if (name.empty()) return malformed(file_, prefix_, "its name is empty");
    AFTERBAY_TRY_ASSIGN(const auto lengths, file_.integers(prefix_, "global_lengths"));
    if (const Result<> checked = check_global(lengths); !checked)
      return malformed(file_, prefix_, "global_lengths: {}", checked.error().message);
    return Decomposition(std::move(name), {lengths.begin(), lengths.end()});
  }

  /// Checks that the arrays of the file and the map built from them fit into memory together.
  Result<> check_room() const {
    AFTERBAY_TRY_ASSIGN(const std::uint64_t ranks, file_.length(prefix_ + "_rank_segments"));
    AFTERBAY_TRY_ASSIGN(const std::uint64_t segments, file_.length(prefix_ + "_segment_runs"));
    AFTERBAY_TRY_ASSIGN(const std::uint64_t runs, file_.length(prefix_ + "_run_offset"));
    constexpr double bytes_of_rank = 3 * 8;
    constexpr double bytes_of_segment = 3 * 8 + 2 * sizeof(Segment);
    constexpr double bytes_of_run = 2 * 8 + 2 * sizeof(Run);
    const double bytes = bytes_of_rank * static_cast<double>(ranks) +
                         bytes_of_segment * static_cast<double>(segments) +
                         bytes_of_run * static_cast<double>(runs);
    Result<> fits =
        check_memory(bytes, fmt::format("{} ranks, {} segments and {} runs", ranks, segments, runs));
    if (!fits) return fail(fits.error().in_file(file_.path()).in_variable(prefix_));
    return {};
  }

  /// Checks that the counts add up to the length of `of`, or to 0 if it has only the mandatory
  /// element.
  Result<> check_sum(const std::string& what, std::span<const std::int64_t> counts, std::int64_t least,
                     const std::string& of) {
    AFTERBAY_TRY_ASSIGN(const std::uint64_t there, file_.length(prefix_ + of));
    sum_ = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] < least)
        return malformed(file_, prefix_ + what, "value {} is {}, below {}", i, counts[i], least);
      if (__builtin_add_overflow(sum_, static_cast<std::uint64_t>(counts[i]), &sum_) || sum_ > there)
        return malformed(file_, prefix_ + what, "adds up to more than the {} values of {}{}", there, prefix_,
                         of);
    }
    if (std::max<std::uint64_t>(sum_, 1) == there) return {};
    return malformed(file_, prefix_ + what, "adds up to {}, and {}{} has {} values", sum_, prefix_, of,
                     there);
  }

  Result<> read_segments(const std::vector<std::int64_t>& runs, std::size_t used) {
    AFTERBAY_TRY_ASSIGN(const auto repeats, read_like("_segment_repeats", runs.size()));
    AFTERBAY_TRY_ASSIGN(const auto steps, read_like("_segment_step", runs.size()));
    for (std::size_t i = 0; i < used; ++i) {
      if (repeats[i] < 1)
        return malformed(file_, prefix_ + "_segment_repeats", "value {} is {}, below 1", i, repeats[i]);
      if (steps[i] == std::numeric_limits<std::int64_t>::min())
        return malformed(file_, prefix_ + "_segment_step", "value {} is {}", i, steps[i]);
      segments_.push_back(
          {static_cast<std::uint64_t>(runs[i]), static_cast<std::uint64_t>(repeats[i]), steps[i]});
    }
    return {};
  }

  Result<std::vector<std::int64_t>> read_like(const std::string& what, std::size_t size) const {
    AFTERBAY_TRY_ASSIGN(std::vector<std::int64_t> values, file_.read(prefix_ + what));
    if (values.size() != size)
      return malformed(file_, prefix_ + what, "has {} values instead of {}", values.size(), size);
    return values;
  }

  Result<> read_runs() {
    AFTERBAY_TRY_ASSIGN(const auto offsets, file_.read(prefix_ + "_run_offset"));
    AFTERBAY_TRY_ASSIGN(const auto lengths, read_like("_run_length", offsets.size()));
    runs_.reserve(offsets.size());
    std::size_t i = 0;
    for (const Segment& segment : segments_) {
      for (std::uint64_t k = 0; k < segment.runs; ++k, ++i) {
        AFTERBAY_TRY(check_run(segment, i, offsets[i], lengths[i]));
        runs_.push_back({offsets[i], static_cast<std::uint64_t>(lengths[i])});
      }
    }
    return {};
  }

  /// Checks that the run lies inside the index space, in its first and last repetition.
  Result<> check_run(const Segment& segment, std::size_t i, std::int64_t offset, std::int64_t length) const {
    if (length < 1 || length > static_cast<std::int64_t>(most_elements))
      return malformed(file_, prefix_ + "_run_length", "value {} is {}, which is not in 1 ... {}", i, length,
                       most_elements);
    if (offset == hole) return {};
    if (offset < 0 || offset >= points_ || length > points_ - offset)
      return malformed(file_, prefix_ + "_run_offset",
                       "value {} is {}, and the run's length {}: there are {} points", i, offset, length,
                       points_);
    std::int64_t shift = 0;
    std::int64_t last = 0;
    if (__builtin_mul_overflow(static_cast<std::int64_t>(segment.repeats - 1), segment.step, &shift) ||
        __builtin_add_overflow(offset, shift, &last) || last < 0 || last >= points_ ||
        length > points_ - last)
      return malformed(
          file_, prefix_ + "_run_offset",
          "value {} is {}: {} repeats with the step {} of a run of {} points leave the {} points", i, offset,
          segment.repeats, segment.step, length, points_);
    return {};
  }

  Result<> add_ranks(Decomposition& map, const std::vector<std::int64_t>& rank_segments) const {
    std::span<const Segment> segments(segments_);
    std::span<const Run> runs(runs_);
    for (std::size_t rank = 0; rank < rank_segments.size(); ++rank) {
      const auto mine = segments.first(static_cast<std::size_t>(rank_segments[rank]));
      std::uint64_t many = 0;
      std::uint64_t elements = 0;
      for (const Segment& segment : mine) {
        std::uint64_t once = 0;
        for (std::uint64_t i = 0; i < segment.runs; ++i) once += runs[many + i].length;
        many += segment.runs;
        std::uint64_t all = 0;
        if (__builtin_mul_overflow(once, segment.repeats, &all) ||
            __builtin_add_overflow(elements, all, &elements) || elements > most_elements)
          return malformed(file_, prefix_ + "_segment_repeats",
                           "the list of rank {} has more than {} elements", rank, most_elements);
      }
      map.add_rank(mine, runs.first(many));
      segments = segments.subspan(mine.size());
      runs = runs.subspan(many);
    }
    return {};
  }

  Result<Decomposition> check_counts(Decomposition map) const {
    AFTERBAY_TRY_ASSIGN(const auto listed, file_.integers(prefix_, "listed"));
    AFTERBAY_TRY_ASSIGN(const auto holes, file_.integers(prefix_, "holes"));
    std::int64_t elements = 0;
    std::int64_t empty = 0;
    for (std::size_t rank = 0; rank < map.ranks(); ++rank) {
      const Decomposition::Count count = map.count(rank);
      elements += static_cast<std::int64_t>(count.elements);
      empty += static_cast<std::int64_t>(count.holes);
    }
    if (listed != std::vector{elements})
      return malformed(file_, prefix_, "the attribute listed is {}, the lists have {} elements",
                       fmt::join(listed, ", "), elements);
    if (holes != std::vector{empty})
      return malformed(file_, prefix_, "the attribute holes is {}, the lists have {}", fmt::join(holes, ", "),
                       empty);
    return map;
  }

  const NetcdfFile& file_;
  std::string prefix_;
  std::int64_t points_ = 0;
  std::uint64_t sum_ = 0;  ///< sum of the counts that were checked last
  std::vector<Segment> segments_;
  std::vector<Run> runs_;
};

/// One field of each item, in netCDF's form, with one element if there are no items.
template <class Item, class Field>
std::vector<std::int64_t> column(std::span<const Item> items, const Item& none, Field&& field) {
  std::vector<std::int64_t> values;
  values.reserve(items.size());
  for (const Item& item : items) values.push_back(static_cast<std::int64_t>(field(item)));
  if (values.empty()) values.push_back(static_cast<std::int64_t>(field(none)));
  return values;
}

}  // namespace

bool is_map_file(const NetcdfFile& file) {
  const auto format = file.find_text("", "format");
  return format && *format && **format == format_name;
}

Result<MapFileReader> MapFileReader::open(NetcdfFile file) {
  AFTERBAY_TRY_ASSIGN(const auto version, file.integers("", "format_version"));
  if (version != std::vector{format_version})
    return malformed(file, "", "its format_version is {}; this program knows {}", fmt::join(version, ", "),
                     format_version);
  AFTERBAY_TRY_ASSIGN(const auto maps, file.integers("", "maps"));
  if (maps.size() != 1 || maps[0] < 1)
    return malformed(file, "", "the attribute maps is {}: at least one map is expected",
                     fmt::join(maps, ", "));
  const auto count = static_cast<std::size_t>(maps[0]);
  std::map<std::string, std::string> taken;  // names, and the variables that have them
  for (std::size_t index = 0; index < count; ++index) {
    const std::string prefix = prefix_of(index);
    if (!file.has_variable(prefix))
      return malformed(file, "", "the attribute maps is {}, but there is no variable {}", count, prefix);
    AFTERBAY_TRY_ASSIGN(std::string name, file.text(prefix, "name"));
    const auto [other, is_new] = taken.try_emplace(std::move(name), prefix);
    if (!is_new)
      return malformed(file, prefix,
                       "its name is \"{}\", as that of {}: the maps of a file have different names",
                       printable(other->first), other->second);
  }
  return MapFileReader(std::move(file), count);
}

Result<Decomposition> MapFileReader::read(std::size_t index) const { return MapReader(file_, index).read(); }

Result<std::string> MapFileReader::name(std::size_t index) const {
  return file_.text(prefix_of(index), "name");
}

Result<MapFileWriter> MapFileWriter::create(const std::string& path, std::size_t maps) {
  AFTERBAY_TRY_ASSIGN(NetcdfFile file, NetcdfFile::create_in_memory(path));
  AFTERBAY_TRY(file.put_text("", "format", format_name));
  const auto count = static_cast<std::int64_t>(maps);
  AFTERBAY_TRY(file.put_integers("", "format_version", NC_INT, std::span(&format_version, 1)));
  AFTERBAY_TRY(file.put_integers("", "maps", NC_INT, std::span(&count, 1)));
  return MapFileWriter(std::move(file));
}

Result<> MapFileWriter::define(const std::string& prefix, const Decomposition& map) {
  const auto at_least_one = [](std::size_t n) { return std::max<std::uint64_t>(n, 1); };
  AFTERBAY_TRY_ASSIGN(const int ranks, file_.add_dimension(prefix + "_ranks", map.ranks()));
  AFTERBAY_TRY_ASSIGN(const int segments,
                      file_.add_dimension(prefix + "_segments", at_least_one(map.segments().size())));
  AFTERBAY_TRY_ASSIGN(const int runs, file_.add_dimension(prefix + "_runs", at_least_one(map.runs().size())));
  AFTERBAY_TRY(file_.add_variable(prefix, NC_INT, std::nullopt));
  const auto add = [&](const char* name, int dimension) -> Result<> {
    AFTERBAY_TRY(file_.add_variable(prefix + name, NC_INT64, dimension));
    return file_.compress(prefix + name);
  };
  AFTERBAY_TRY(add("_rank_segments", ranks));
  AFTERBAY_TRY(add("_segment_runs", segments));
  AFTERBAY_TRY(add("_segment_repeats", segments));
  AFTERBAY_TRY(add("_segment_step", segments));
  AFTERBAY_TRY(add("_run_offset", runs));
  AFTERBAY_TRY(add("_run_length", runs));

  Decomposition::Count total;
  for (std::size_t rank = 0; rank < map.ranks(); ++rank) {
    const Decomposition::Count count = map.count(rank);
    total.elements += count.elements;
    total.holes += count.holes;
  }
  const std::vector<std::int64_t> lengths(map.global().begin(), map.global().end());
  const std::int64_t counts[] = {static_cast<std::int64_t>(total.elements),
                                 static_cast<std::int64_t>(total.holes)};
  AFTERBAY_TRY(file_.put_text(prefix, "name", map.name));
  AFTERBAY_TRY(file_.put_integers(prefix, "global_lengths", NC_INT64, lengths));
  AFTERBAY_TRY(file_.put_integers(prefix, "listed", NC_INT64, std::span(counts).first(1)));
  return file_.put_integers(prefix, "holes", NC_INT64, std::span(counts).last(1));
}

Result<> MapFileWriter::add(const Decomposition& map) {
  if (map.name.empty() || !names_.insert(map.name).second)
    return fail(ErrorCode::invalid_argument, "a map cannot be called \"{}\": {}", printable(map.name),
                map.name.empty() ? "it needs a name" : "another one of the file is");
  const std::string prefix = prefix_of(names_.size() - 1);
  if (names_.size() > 1) AFTERBAY_TRY(file_.define_more());
  AFTERBAY_TRY(define(prefix, map));
  AFTERBAY_TRY(file_.end_definitions());

  std::vector<std::int64_t> rank_segments;
  for (std::size_t rank = 0; rank < map.ranks(); ++rank)
    rank_segments.push_back(static_cast<std::int64_t>(map.segments(rank).size()));
  AFTERBAY_TRY(file_.write_scalar(prefix, 0));
  AFTERBAY_TRY(file_.write(prefix + "_rank_segments", 0, rank_segments));
  const Segment no_segment{1, 1, 0};
  const Run no_run{hole, 1};
  const auto put = [&](const char* name, const auto& items, const auto& none, auto field) {
    return file_.write(prefix + name, 0, column(items, none, field));
  };
  AFTERBAY_TRY(put("_segment_runs", map.segments(), no_segment, [](const Segment& s) { return s.runs; }));
  AFTERBAY_TRY(
      put("_segment_repeats", map.segments(), no_segment, [](const Segment& s) { return s.repeats; }));
  AFTERBAY_TRY(put("_segment_step", map.segments(), no_segment, [](const Segment& s) { return s.step; }));
  AFTERBAY_TRY(put("_run_offset", map.runs(), no_run, [](const Run& r) { return r.offset; }));
  return put("_run_length", map.runs(), no_run, [](const Run& r) { return r.length; });
}

}  // namespace afterbay::decomp
