// SPDX-License-Identifier: Apache-2.0
#include "model/map_coverage.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

#include "base/caller_terms.hpp"

namespace afterbay::model {
namespace {

constexpr std::uint64_t window_points = std::uint64_t{1} << 22;
constexpr std::uint64_t word_bits = 64;

void append(std::vector<OffsetRun>& runs, std::uint64_t offset, std::uint64_t length) {
  if (length == 0) return;
  if (!runs.empty() && runs.back().offset + runs.back().length == offset)
    runs.back().length += length;
  else
    runs.push_back({offset, length});
}

/// The points of a window that a rank holds.
class Window {
 public:
  Window() : words_(window_points / word_bits) {}
  void clear() { std::ranges::fill(words_, 0); }

  /// Marks [first, end); calls `again(first, length)` for points that were marked before.
  template <class Again>
  void mark(std::uint64_t first, std::uint64_t end, Again&& again) {
    while (first < end) {
      const std::uint64_t in_word = first % word_bits;
      const std::uint64_t count = std::min(word_bits - in_word, end - first);
      const std::uint64_t mask = (count == word_bits ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1)
                                 << in_word;
      std::uint64_t& word = words_[first / word_bits];
      for (std::uint64_t both = word & mask; both != 0;) {
        const auto from = static_cast<std::uint64_t>(std::countr_zero(both));
        const auto length = static_cast<std::uint64_t>(std::countr_one(both >> from));
        again(first - in_word + from, length);
        if (from + length == word_bits) break;
        both &= ~std::uint64_t{0} << (from + length);
      }
      word |= mask;
      first += count;
    }
  }

  /// Calls `gap(first, length)` for the unmarked points below `end`; a gap may be reported in
  /// parts.
  template <class Gap>
  void gaps(std::uint64_t end, Gap&& gap) const {
    for (std::uint64_t first = 0; first < end; first += word_bits) {
      std::uint64_t free = ~words_[first / word_bits];
      if (end - first < word_bits) free &= (std::uint64_t{1} << (end - first)) - 1;
      while (free != 0) {
        const auto from = static_cast<std::uint64_t>(std::countr_zero(free));
        const auto length = static_cast<std::uint64_t>(std::countr_one(free >> from));
        gap(first + from, length);
        if (from + length == word_bits) break;
        free &= ~std::uint64_t{0} << (from + length);
      }
    }
  }

 private:
  std::vector<std::uint64_t> words_;
};

/// The way in which messages count offsets.
const char* order_in_words() {
  return terms() == Terms::fortran ? "first dimension fastest, from 1" : "C order, from 0";
}

/// A position in a rank's list.
struct Cursor {
  explicit Cursor(std::span<const std::byte> encoded) : reader(encoded), run(reader.next()) {}
  [[nodiscard]] bool ended() const noexcept { return run.length == 0; }
  OffsetReader reader;
  OffsetRun run;
};

class Sweep {
 public:
  Sweep(std::string_view name, std::uint64_t points, std::span<const OffsetRun> within,
        std::span<const RankPoints> ranks, Repeats repeats)
      : name_(name), points_(points), within_(within), ranks_(ranks), repeats_(repeats) {
    for (const RankPoints& rank : ranks) cursors_.emplace_back(rank.encoded);
    result_.lost.resize(ranks.size());
  }

  Result<MapCoverage> run() {
    while (base_ < points_ && !result_.twice) {
      const std::uint64_t next = first_held();
      if (next >= base_ + window_points) {
        const std::uint64_t until = std::min(points_, next / window_points * window_points);
        add_gap(base_, until - base_);
        base_ = until;
        continue;
      }
      take_window();
      base_ += window_points;
    }
    for (std::size_t i = 0; !result_.twice && i < cursors_.size(); ++i)
      if (!cursors_[i].reader.good() || !cursors_[i].ended())
        return fail(make_error(ErrorCode::format,
                               "decomposition '{}': the points of rank {} are invalid (offset {} of {})",
                               name_, ranks_[i].rank, cursors_[i].run.offset, points_)
                        .at_rank(ranks_[i].rank));
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::uint64_t first_held() const {
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
    for (const Cursor& cursor : cursors_)
      if (!cursor.ended()) first = std::min(first, cursor.run.offset);
    return first;
  }

  void take_window() {
    window_.clear();
    const bool backwards = repeats_ == Repeats::last;
    std::optional<std::uint64_t> twice;
    for (std::size_t i = 0; i < cursors_.size(); ++i) {
      const auto found = take(backwards ? cursors_.size() - 1 - i : i);
      if (found && (!twice || *found < *twice)) twice = found;
    }
    if (twice && repeats_ == Repeats::refuse) {
      result_.twice = holders_of(*twice);
      return;
    }
    window_.gaps(std::min(window_points, points_ - base_),
                 [&](std::uint64_t first, std::uint64_t length) { add_gap(base_ + first, length); });
  }

  /// Adds those of these points, which follow all earlier ones, that are in the part.
  void add_gap(std::uint64_t offset, std::uint64_t length) {
    const std::uint64_t end = offset + length;
    for (; next_ < within_.size() && within_[next_].offset < end; ++next_) {
      const std::uint64_t from = std::max(offset, within_[next_].offset);
      const std::uint64_t until = std::min(end, within_[next_].offset + within_[next_].length);
      if (from < until) append(result_.gaps, from, until - from);
      if (within_[next_].offset + within_[next_].length > end) return;
    }
  }

  /// Returns the first point of the rank that was marked before.
  std::optional<std::uint64_t> take(std::size_t index) {
    Cursor& cursor = cursors_[index];
    const std::uint64_t end = std::min(points_, base_ + window_points);
    std::optional<std::uint64_t> twice;
    while (!cursor.ended() && cursor.run.offset < end) {
      if (cursor.run.offset < base_) break;  // not ascending: invalid
      const std::uint64_t until = std::min(end, cursor.run.offset + cursor.run.length);
      window_.mark(cursor.run.offset - base_, until - base_, [&](std::uint64_t first, std::uint64_t length) {
        if (!twice) twice = base_ + first;
        append(result_.lost[index], base_ + first, length);
      });
      cursor.run.length -= until - cursor.run.offset;
      cursor.run.offset = until;
      if (cursor.run.length == 0) cursor.run = cursor.reader.next();
    }
    return twice;
  }

  [[nodiscard]] HeldTwice holders_of(std::uint64_t point) const {
    std::vector<int> holders;
    for (std::size_t i = 0; i < ranks_.size() && holders.size() < 2; ++i) {
      OffsetReader reader(ranks_[i].encoded);
      bool holds = false;
      for (OffsetRun run = reader.next(); run.length > 0 && run.offset <= point && !holds;
           run = reader.next())
        holds = point < run.offset + run.length;
      if (holds) holders.push_back(ranks_[i].rank);
    }
    holders.resize(2, holders.empty() ? 0 : holders.back());
    return {point, holders[0], holders[1]};
  }

  std::string_view name_;
  std::uint64_t points_;
  std::span<const OffsetRun> within_;
  std::size_t next_ = 0;  ///< the first run of `within_` that may have further gaps
  std::span<const RankPoints> ranks_;
  Repeats repeats_;
  std::vector<Cursor> cursors_;
  Window window_;
  std::uint64_t base_ = 0;
  MapCoverage result_;
};

}  // namespace

Error held_twice(std::string_view name, const HeldTwice& twice) {
  return make_error(
             ErrorCode::conflict,
             "decomposition '{}': ranks {} and {} both hold the point at offset {} ({}): every point must "
             "belong to one rank; or declare that the first or the last counts",
             name, twice.first, twice.second, said_index(twice.offset), order_in_words())
      .at_rank(twice.second);
}

Error missing_points(std::string_view name, std::uint64_t points, std::uint64_t count,
                     const OffsetRun& first) {
  return make_error(ErrorCode::conflict,
                    "decomposition '{}': {} of {} points belong to no rank, the first are those at offsets "
                    "{} to {} ({}): list them, or allow gaps so that they get the fill value",
                    name, count, points, said_index(first.offset),
                    said_index(first.offset + first.length - 1), order_in_words());
}

Result<MapCoverage> find_map_coverage(std::string_view name, std::uint64_t points,
                                      std::span<const OffsetRun> within, std::span<const RankPoints> ranks,
                                      Repeats repeats) {
  return Sweep(name, points, within, ranks, repeats).run();
}

Result<MapCoverage> check_map_coverage(std::string_view name, std::uint64_t points,
                                       std::span<const RankPoints> ranks, const Coverage& coverage) {
  const OffsetRun all{0, points};
  AFTERBAY_TRY_ASSIGN(MapCoverage found, find_map_coverage(name, points, {&all, 1}, ranks, coverage.repeats));
  if (found.twice) return fail(held_twice(name, *found.twice));
  if (coverage.gaps_allowed || found.gaps.empty()) return found;
  std::uint64_t count = 0;
  for (const OffsetRun& gap : found.gaps) count += gap.length;
  return fail(missing_points(name, points, count, found.gaps.front()));
}

}  // namespace afterbay::model
