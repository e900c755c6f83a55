// SPDX-License-Identifier: Apache-2.0
// Sweep: many ways of writing measured in turn within a given time, and the one to recommend.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "storage/plan/trial.hpp"

namespace afterbay::storage {

/// What was seen of one way of writing.
struct TrialResult {
  TrialSetup setup;
  std::vector<double> rates;  ///< bytes per second, one a run
  std::string refused;        ///< why it cannot be done here (O_DIRECT, lfs); empty: it can
  /// 0 without runs.
  [[nodiscard]] double median() const;
};

struct SweepLimits {
  std::chrono::steady_clock::time_point until;
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
  std::uint64_t trial_bytes = 0;  ///< of each trial; 0: what the time allows
  std::uint64_t most_bytes = 0;   ///< that may be on the disk at once
  int most_writers = 4;
};

/// What to set. The least demanding way that comes within 5 % of the fastest: a setting that gains nothing
/// is not recommended.
struct StorageAdvice {
  TrialSetup setup;       ///< of one shared file
  bool separate = false;  ///< files of several servers at once are clearly (10 %) faster than one file
};

/// Makes trials; tests give their own.
using TrialRunner = std::function<Result<double>(const TrialSetup&, const TrialSize&)>;

class Sweep {
 public:
  Sweep(TrialRunner runner, SweepLimits limits) : runner_(std::move(runner)), limits_(std::move(limits)) {}

  /// First block sizes and direct I/O with one writer, then numbers of writers in one file and in separate
  /// ones, then (`striped`: the directory is on Lustre) stripes. Takes at most until the limit, and the time
  /// that the last fsync needs. Fails when nothing can be written at all (no_space, io).
  Result<StorageAdvice> run(bool striped);

  [[nodiscard]] const std::vector<TrialResult>& results() const noexcept { return results_; }
  [[nodiscard]] std::uint64_t trial_bytes() const noexcept { return trial_bytes_; }

 private:
  using Clock = std::chrono::steady_clock;

  Result<> measure(const std::vector<TrialSetup>& setups, double share_of_rest);
  Result<> measure_once(TrialResult& result);
  Result<> probe();
  TrialResult& entry(const TrialSetup& setup);
  [[nodiscard]] TrialSetup best(const std::vector<TrialSetup>& setups) const;
  [[nodiscard]] double rate_of(const TrialSetup& setup) const;
  [[nodiscard]] bool time_is_up() const { return limits_.now() >= limits_.until; }

  TrialRunner runner_;
  SweepLimits limits_;
  std::vector<TrialResult> results_;
  double probed_rate_ = 0;
  std::uint64_t trial_bytes_ = 0;
};

}  // namespace afterbay::storage
