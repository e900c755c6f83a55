// SPDX-License-Identifier: Apache-2.0
// Bundle: statistics of the same values, updated in one pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "statistics/state.hpp"
#include "statistics/statistic.hpp"
#include "statistics/value_loops.hpp"

namespace afterbay::statistics {

/// The values that are put.
struct SampleFormat {
  Type type = Type::float64;
  Values missing;  ///< model::missing_values of the variable: one or more values of `type`; NaN is always
                   ///< missing
};

/// How results are stored.
struct ResultFormat {
  Type type = Type::float64;
  Values fill;              ///< one value of `type`: stands for missing results
  bool swap_bytes = false;  ///< the file has the other byte order
};

/// Counts of results that are no valid values.
struct ResultCounts {
  std::uint64_t missing = 0;       ///< results that are missing
  std::uint64_t out_of_range = 0;  ///< results that the type cannot hold; their stored values are unspecified
  friend bool operator==(const ResultCounts&, const ResultCounts&) = default;
};

/// Statistics of a piece of a field with a fixed number of points, each with an interval of its
/// own. The memory of the states belongs to the caller.
///
/// The result at a point depends only on the sequence of values, durations and intervals at this
/// point: not on the number of points, on other statistics, on how a step is cut into parts, or on
/// the thread. Bits of a NaN in a state are unspecified; in computed results a NaN is always the
/// same quiet one.
///
/// Threads: `run` and `result` may be called by several threads at once; all other functions by
/// one.
class Bundle {
 public:
  /// Fails for text and strings (wrong_type), and for missing values of another type
  /// (invalid_argument).
  static Result<Bundle> create(const SampleFormat& field, std::size_t points);

  /// Adds a statistic and returns its number, counted from 0. `state`: at least state_bytes(...)
  /// bytes, aligned to 8 bytes, not initialised; it must live as long as the bundle. The first
  /// interval begins.
  Result<std::size_t> add(const Statistic& statistic, std::span<std::byte> state);

  /// The next interval of this statistic begins. The state of the previous one is lost, except for
  /// the last value of a difference.
  void begin_interval(std::size_t number);

  /// Takes in the values of a step: `points` values in this machine's byte order, at any address.
  /// `duration`: of the step, in the unit that sums and rates are to have; finite and above 0
  /// (invalid_argument).
  Result<> step(const std::byte* values, double duration = 1);

  /// The same in parts. `run` takes in `count` points from `first` on; `values` is the address of
  /// the first of them. Between begin_step and end_step each point must be taken in exactly once.
  Result<> begin_step(double duration);
  void run(const std::byte* values, std::size_t first, std::size_t count) const;
  void end_step();

  /// Takes in the current interval of `part`, a bundle of the same field and points, as if its
  /// steps had been taken in here. `part` has each of this bundle's statistics, all of which
  /// can_be_absorbed. Fails (resources) if an interval has too many steps.
  Result<> absorb(const Bundle& part);

  /// Writes the results of the current interval for `count` points from `first` on, at any address.
  /// A result is missing if the interval has no steps, or as the policy says. Integers: computed
  /// results are rounded to the nearest, halves to even; values that were selected (instant, once,
  /// minimum, maximum) are converted as `put` does. Fails if the target's type does not fit
  /// (wrong_type, invalid_argument).
  Result<ResultCounts> result(std::size_t number, const ResultFormat& target, std::byte* to,
                              std::size_t first, std::size_t count) const;

  /// Appends the state of a statistic to `to`, in a versioned and checksummed form (encoding.hpp).
  void save(std::size_t number, std::vector<std::byte>& to) const;
  /// Continues from a saved state: later results have the same bits as without the interruption.
  /// Refuses damaged states (format) and those of something else (conflict); the interval is then
  /// unchanged.
  Result<> restore(std::size_t number, std::span<const std::byte> saved);

  [[nodiscard]] std::size_t points() const noexcept { return points_; }
  [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }
  [[nodiscard]] const Statistic& statistic(std::size_t number) const { return items_[number].statistic; }
  /// The state of a statistic, for those who save it column by column.
  [[nodiscard]] const State& state(std::size_t number) const { return items_[number].state; }
  /// Steps and duration of the current interval.
  [[nodiscard]] const IntervalProgress& progress(std::size_t number) const {
    return items_[number].state.progress();
  }

 private:
  struct Item {
    Statistic statistic;
    State state;
  };
  struct Strip;

  Bundle(const SampleFormat& field, std::size_t points, std::unique_ptr<const ValueLoops> loops)
      : field_(field), points_(points), loops_(std::move(loops)) {}
  void update(const Item& item, const Strip& strip) const;
  void update_values(const Item& item, const Strip& strip) const;
  void update_sums(const Item& item, const Strip& strip) const;
  void update_moments(const Item& item, const Strip& strip) const;
  void join(const Item& item, const State& part) const;
  void compute(const Item& item, double* to, std::size_t first, std::size_t count) const;
  void mark(const Item& item, std::uint8_t* marks, std::size_t first, std::size_t count) const;
  ResultCounts strip_result(const Item& item, const ResultFormat& target, std::byte* to, std::size_t first,
                            std::size_t count) const;

  SampleFormat field_;
  std::size_t points_;
  std::unique_ptr<const ValueLoops> loops_;
  std::vector<Item> items_;
  double duration_ = 0;  ///< duration of the current step
  /// Forms of the values that the statistics use (Strip).
  struct {
    bool plain = false;
    bool left_out = false;
    bool poisoned = false;
    bool valid = false;
  } needs_;
};

}  // namespace afterbay::statistics
