// SPDX-License-Identifier: Apache-2.0
#include "model/point_runs.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/caller_terms.hpp"

namespace afterbay::model {
namespace {

constexpr std::uint64_t most_elements = std::numeric_limits<std::uint32_t>::max();

/// Properties in which runs must be equal to be repetitions of one another: the length, and the
/// distance to the next run.
struct Stride {
  std::uint64_t offset = 0;
  std::uint32_t element = 0;
  std::uint32_t length = 0;
  friend bool operator==(const Stride&, const Stride&) = default;
};

Stride stride_after(std::span<const PointRun> runs, std::size_t i) {
  if (i + 1 == runs.size()) return {0, 0, runs[i].length};
  return {runs[i + 1].offset - runs[i].offset, runs[i + 1].element - runs[i].element, runs[i].length};
}

/// The smallest number of runs of which the whole list is a repetition; the size of the list if
/// there is none. Source: the failure function of Knuth, Morris and Pratt (1977), applied to the
/// distances between runs.
std::size_t period_of(std::span<const PointRun> runs) {
  const std::size_t n = runs.size();
  if (n < 2) return n;
  // The last run has no distance to a next one: the list without it must be periodic, and its
  // length must match.
  std::vector<std::uint32_t> border(n - 1, 0);
  for (std::size_t i = 1; i + 1 < n; ++i) {
    std::uint32_t k = border[i - 1];
    const Stride stride = stride_after(runs, i);
    while (k > 0 && stride_after(runs, k) != stride) k = border[k - 1];
    border[i] = stride_after(runs, k) == stride ? k + 1 : 0;
  }
  for (std::size_t k = border[n - 2]; k > 0; k = border[k - 1]) {
    const std::size_t period = n - 1 - k;
    if (n % period == 0 && runs[n - 1].length == runs[period - 1].length) return period;
  }
  return n % (n - 1) == 0 && runs[0].length == runs[n - 1].length ? n - 1 : n;
}

std::string place_text(std::string_view name, const Map& map, std::size_t position) {
  return fmt::format("decomposition '{}': {} {}", name, map.runs.empty() ? "element" : "run",
                     position + static_cast<std::size_t>(map.base));
}

Result<std::uint64_t> check_space(std::string_view name, const Map& map) {
  if (map.global.empty() || map.global.size() > max_rank)
    return fail(ErrorCode::invalid_argument, "decomposition '{}' has {} dimensions: 1 to {} are possible",
                name, map.global.size(), max_rank);
  std::uint64_t points = 1;
  for (std::size_t i = 0; i < map.global.size(); ++i) {
    if (map.global[i] == 0)
      return fail(ErrorCode::invalid_argument, "decomposition '{}': global length of dimension {} is 0", name,
                  said_dimension(i, map.global.size()));
    if (__builtin_mul_overflow(points, map.global[i], &points) || points > std::uint64_t{1} << 62)
      return fail(ErrorCode::invalid_argument, "decomposition '{}' has more points than 2^62", name);
  }
  if (!map.indices.empty() && !map.runs.empty())
    return fail(ErrorCode::invalid_argument,
                "decomposition '{}' gives {} indices and {} runs: give one of them", name, map.indices.size(),
                map.runs.size());
  if (map.base < 0 || map.base > 1)
    return fail(ErrorCode::invalid_argument, "decomposition '{}' counts points from {}: 0 and 1 are possible",
                name, map.base);
  if (map.hole >= map.base && static_cast<std::uint64_t>(map.hole - map.base) < points)
    return fail(ErrorCode::invalid_argument,
                "decomposition '{}' marks holes by {}, which is the index of a point ([{}, {}]): take "
                "another number",
                name, map.hole, map.base, static_cast<std::uint64_t>(map.base) + points - 1);
  return points;
}

/// Converts linear indices to 0-based row-major offsets.
class Offsets {
 public:
  Offsets(const Map& map, std::uint64_t points) : map_(map), points_(points) {
    by_column_ = map.order == Order::column_major && map.global.size() > 1;
  }
  [[nodiscard]] bool by_column() const noexcept { return by_column_; }
  /// Nullopt if no point has this index.
  [[nodiscard]] std::optional<std::uint64_t> of(std::int64_t index) const {
    const std::uint64_t offset = static_cast<std::uint64_t>(index) - static_cast<std::uint64_t>(map_.base);
    if (index < map_.base || offset >= points_) return std::nullopt;
    return by_column_ ? transposed(offset) : offset;
  }
  [[nodiscard]] std::uint64_t points() const noexcept { return points_; }

 private:
  [[nodiscard]] std::uint64_t transposed(std::uint64_t offset) const {
    std::uint64_t result = 0;
    std::uint64_t stride = points_;
    for (const std::uint64_t length : map_.global) {
      stride /= length;
      result += offset % length * stride;
      offset /= length;
    }
    return result;
  }
  const Map& map_;
  std::uint64_t points_;
  bool by_column_ = false;
};

/// Collects runs in the order of the rank's array.
class Collector {
 public:
  void add(std::uint64_t offset, std::uint64_t length) {
    if (!runs_.empty()) {
      PointRun& last = runs_.back();
      if (last.offset + last.length == offset && std::uint64_t{last.element} + last.length == element_) {
        last.length += static_cast<std::uint32_t>(length);
        element_ += length;
        return;
      }
      ascending_ = ascending_ && offset >= last.offset + last.length;
    }
    runs_.push_back({offset, static_cast<std::uint32_t>(element_), static_cast<std::uint32_t>(length)});
    element_ += length;
  }
  void skip(std::uint64_t length) { element_ += length; }
  [[nodiscard]] std::uint64_t elements() const noexcept { return element_; }
  [[nodiscard]] bool ascending() const noexcept { return ascending_; }
  std::vector<PointRun>& runs() noexcept { return runs_; }

 private:
  std::vector<PointRun> runs_;
  std::uint64_t element_ = 0;
  bool ascending_ = true;
};

Result<> collect_indices(std::string_view name, const Map& map, const Offsets& offsets, Collector& to) {
  if (map.indices.size() > most_elements)
    return fail(ErrorCode::invalid_argument, "decomposition '{}' lists {} elements: at most {} on one rank",
                name, map.indices.size(), most_elements);
  for (std::size_t i = 0; i < map.indices.size(); ++i) {
    const std::int64_t index = map.indices[i];
    if (index == map.hole) {
      to.skip(1);
      continue;
    }
    const auto offset = offsets.of(index);
    if (!offset)
      return fail(ErrorCode::invalid_argument,
                  "{} is index {}, but there are only the indices {} to {}, and {} for a hole",
                  place_text(name, map, i), index, map.base,
                  static_cast<std::uint64_t>(map.base) + offsets.points() - 1, map.hole);
    to.add(*offset, 1);
  }
  return {};
}

Result<> collect_runs(std::string_view name, const Map& map, const Offsets& offsets, Collector& to) {
  for (std::size_t i = 0; i < map.runs.size(); ++i) {
    const Map::Run& run = map.runs[i];
    if (run.length > most_elements - to.elements())
      return fail(ErrorCode::invalid_argument, "{} ends beyond element {}: at most {} elements on one rank",
                  place_text(name, map, i), most_elements, most_elements);
    if (run.offset == map.hole || run.length == 0) {
      to.skip(run.length);
      continue;
    }
    const std::uint64_t first = static_cast<std::uint64_t>(run.offset) - static_cast<std::uint64_t>(map.base);
    if (run.offset < map.base || first >= offsets.points() || run.length > offsets.points() - first)
      return fail(ErrorCode::invalid_argument,
                  "{} is {} points from index {} on, but there are only the indices {} to {}",
                  place_text(name, map, i), run.length, run.offset, map.base,
                  static_cast<std::uint64_t>(map.base) + offsets.points() - 1);
    if (!offsets.by_column()) {
      to.add(first, run.length);
      continue;
    }
    for (std::uint64_t k = 0; k < run.length; ++k)
      to.add(*offsets.of(run.offset + static_cast<std::int64_t>(k)), 1);
  }
  return {};
}

void join(std::vector<PointRun>& runs, const PointRun& run) {
  if (!runs.empty()) {
    PointRun& last = runs.back();
    if (last.offset + last.length == run.offset && last.element + last.length == run.element) {
      last.length += run.length;
      return;
    }
  }
  runs.push_back(run);
}

/// Removes repeated points from sorted runs: of each point, the first or last element is kept.
std::vector<PointRun> resolve(const std::vector<PointRun>& runs, Repeats repeats,
                              std::vector<ElementTwin>& twins) {
  std::vector<PointRun> single;
  for (const PointRun& run : runs)
    for (std::uint32_t i = 0; i < run.length; ++i) single.push_back({run.offset + i, run.element + i, 1});
  std::ranges::sort(single, [](const PointRun& a, const PointRun& b) {
    return a.offset != b.offset ? a.offset < b.offset : a.element < b.element;
  });
  std::vector<PointRun> result;
  for (std::size_t i = 0; i < single.size();) {
    std::size_t end = i + 1;
    while (end < single.size() && single[end].offset == single[i].offset) ++end;
    const std::size_t counts = repeats == Repeats::first ? i : end - 1;
    join(result, single[counts]);
    for (; i < end; ++i)
      if (i != counts) twins.push_back({single[counts].element, single[i].element});
  }
  return result;
}

/// The runs in the order of the array, after points that do not count were removed.
std::vector<PointRun> by_element(const PointRuns& ascending) {
  std::vector<PointRun> runs;
  ascending.for_each([&](const PointRun& run) { runs.push_back(run); });
  std::ranges::sort(runs, {}, &PointRun::element);
  std::vector<PointRun> joined;
  for (const PointRun& run : runs) join(joined, run);
  return joined;
}

Result<std::vector<PointRun>> in_order(std::string_view name, const Map& map, Collector& collected,
                                       Repeats repeats, std::vector<ElementTwin>& twins) {
  std::vector<PointRun>& runs = collected.runs();
  if (collected.ascending()) return std::move(runs);
  std::ranges::sort(runs, [](const PointRun& a, const PointRun& b) {
    return a.offset != b.offset ? a.offset < b.offset : a.element < b.element;
  });
  std::vector<PointRun> result;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i > 0 && runs[i - 1].offset + runs[i - 1].length > runs[i].offset) {
      if (repeats != Repeats::refuse) return resolve(runs, repeats, twins);
      const std::uint64_t before = runs[i - 1].element + (runs[i].offset - runs[i - 1].offset);
      const auto base = static_cast<std::uint64_t>(map.base);
      return fail(ErrorCode::conflict,
                  "decomposition '{}': elements {} and {} of the list are the same point (offset {} {}): "
                  "list it once, or declare that the first or the last counts",
                  name, std::min<std::uint64_t>(before, runs[i].element) + base,
                  std::max<std::uint64_t>(before, runs[i].element) + base, said_index(runs[i].offset),
                  terms() == Terms::fortran ? "with the first dimension fastest, from 1" : "in C order");
    }
    join(result, runs[i]);
  }
  return result;
}

// ---- encoding: step, repeats, then per run gap, length << 1 | more, [more runs like it]

/// A difference modulo 2^64, with the sign in the last bit.
std::uint64_t with_sign(std::uint64_t difference) { return (difference << 1) ^ (0 - (difference >> 63)); }

void put_number(std::vector<std::byte>& to, std::uint64_t value) {
  for (; value >= 128; value >>= 7) to.push_back(static_cast<std::byte>(value | 128));
  to.push_back(static_cast<std::byte>(value));
}

}  // namespace

PointRuns::PointRuns(std::vector<PointRun> runs, std::uint64_t elements) : elements_(elements) {
  for (const PointRun& run : runs) points_ += run.length;
  const std::size_t period = period_of(runs);
  if (period > 0 && period < runs.size()) {
    repeats_ = runs.size() / period;
    offset_step_ = runs[period].offset - runs[0].offset;
    element_step_ = runs[period].element - runs[0].element;
    runs.resize(period);
  }
  runs.shrink_to_fit();
  pattern_ = std::move(runs);
}

PointRuns PointRuns::without(std::span<const OffsetRun> lost) const {
  std::vector<PointRun> kept;
  auto next = lost.begin();
  for_each([&](PointRun run) {
    while (next != lost.end() && next->offset + next->length <= run.offset) ++next;
    for (auto it = next; it != lost.end() && it->offset < run.offset + run.length; ++it) {
      if (it->offset > run.offset) {
        const auto length = static_cast<std::uint32_t>(it->offset - run.offset);
        kept.push_back({run.offset, run.element, length});
      }
      const std::uint64_t end = std::min(it->offset + it->length, run.offset + run.length);
      const auto cut = static_cast<std::uint32_t>(end - run.offset);
      run = {end, run.element + cut, run.length - cut};
    }
    if (run.length > 0) kept.push_back(run);
  });
  return {std::move(kept), elements_};
}

PointRuns PointRuns::of_elements(std::uint64_t first, std::uint64_t count) const {
  std::vector<PointRun> kept;
  const std::uint64_t end = first + count;
  for_each([&](PointRun run) {
    const std::uint64_t from = std::max<std::uint64_t>(run.element, first);
    const std::uint64_t to = std::min<std::uint64_t>(run.element + std::uint64_t{run.length}, end);
    if (from >= to) return;
    kept.push_back({run.offset + (from - run.element), static_cast<std::uint32_t>(from - first),
                    static_cast<std::uint32_t>(to - from)});
  });
  return {std::move(kept), count};
}

std::vector<OffsetRun> outside(const PointRuns& runs, const PointRuns& others) {
  std::vector<OffsetRun> theirs;
  others.for_each([&](const PointRun& run) {
    if (!theirs.empty() && theirs.back().offset + theirs.back().length == run.offset)
      theirs.back().length += run.length;
    else
      theirs.push_back({run.offset, run.length});
  });
  std::vector<OffsetRun> left;
  runs.without(theirs).for_each([&](const PointRun& run) {
    if (!left.empty() && left.back().offset + left.back().length == run.offset)
      left.back().length += run.length;
    else
      left.push_back({run.offset, run.length});
  });
  return left;
}

Result<PointRuns> make_point_runs(std::string_view name, const Map& map, Repeats repeats) {
  AFTERBAY_TRY_ASSIGN(ListedRuns runs, make_listed_runs(name, map, repeats));
  return std::move(runs.ascending);
}

Result<ListedRuns> make_listed_runs(std::string_view name, const Map& map, Repeats repeats) {
  AFTERBAY_TRY_ASSIGN(const std::uint64_t points, check_space(name, map));
  const Offsets offsets(map, points);
  Collector collected;
  AFTERBAY_TRY(map.runs.empty() ? collect_indices(name, map, offsets, collected)
                                : collect_runs(name, map, offsets, collected));
  ListedRuns result;
  std::vector<PointRun> list;
  std::uint64_t listed = 0;
  if (!collected.ascending()) list = collected.runs();
  for (const PointRun& run : list) listed += run.length;
  AFTERBAY_TRY_ASSIGN(std::vector<PointRun> runs, in_order(name, map, collected, repeats, result.twins));
  result.ascending = PointRuns(std::move(runs), collected.elements());
  if (list.empty()) return result;
  if (listed != result.ascending.points()) list = by_element(result.ascending);
  result.list = PointRuns(std::move(list), collected.elements());
  return result;
}

std::vector<std::byte> encode_offsets(const PointRuns& runs) {
  std::vector<std::byte> to;
  put_number(to, with_sign(runs.offset_step()));
  put_number(to, runs.empty() ? 0 : runs.repeats());
  const auto pattern = runs.pattern();
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < pattern.size();) {
    const std::uint64_t gap = pattern[i].offset - end;
    std::size_t same = 1;
    while (i + same < pattern.size() && pattern[i + same].length == pattern[i].length &&
           pattern[i + same].offset == pattern[i + same - 1].offset + pattern[i].length + gap)
      ++same;
    put_number(to, with_sign(gap));
    put_number(to, std::uint64_t{pattern[i].length} << 1 | (same > 1 ? 1 : 0));
    if (same > 1) put_number(to, same - 1);
    i += same;
    end = pattern[i - 1].offset + pattern[i - 1].length;
  }
  return to;
}

OffsetReader::OffsetReader(std::span<const std::byte> encoded) : encoded_(encoded) {
  step_ = difference();
  repeats_left_ = number();
  pattern_at_ = at_;
  if (repeats_left_ == 0)
    at_ = encoded_.size();
  else
    --repeats_left_;
}

std::uint64_t OffsetReader::number() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (at_ == encoded_.size()) break;
    const auto byte = static_cast<std::uint64_t>(encoded_[at_++]);
    value |= (byte & 127) << shift;
    if (byte < 128) return value;
  }
  good_ = false;
  return 0;
}

std::uint64_t OffsetReader::difference() {
  const std::uint64_t value = number();
  return (value >> 1) ^ (0 - (value & 1));
}

OffsetRun OffsetReader::next() {
  if (same_ > 0) {
    --same_;
  } else {
    if (at_ == encoded_.size()) {
      if (repeats_left_ == 0) return {};
      --repeats_left_;
      at_ = pattern_at_;
      shift_ += step_;
      end_ = 0;
      if (at_ == encoded_.size()) return {};
    }
    gap_ = difference();
    length_ = number();
    if ((length_ & 1) != 0) same_ = number();
    length_ >>= 1;
    if (length_ == 0) good_ = false;
    if (!good_) {
      at_ = encoded_.size();
      repeats_left_ = same_ = 0;
      return {};
    }
  }
  const std::uint64_t offset = end_ + gap_;
  end_ = offset + length_;
  return {offset + shift_, length_};
}

}  // namespace afterbay::model
