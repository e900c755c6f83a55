// SPDX-License-Identifier: Apache-2.0
// Sweep: many ways of writing measured in turn within a given time, and the one to recommend.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "storage/plan/trial.hpp"

namespace afterbay::storage {

/// What was seen of one way of writing in one part of the sweep.
struct TrialResult {
  TrialSetup setup;
  std::vector<double> rates;  ///< bytes per second, one a run
  std::string refused;        ///< why it cannot be done here (O_DIRECT, lfs); empty: it can
  /// 0 without runs.
  [[nodiscard]] double median() const;
};

/// A part of the sweep, in which ways of writing are measured in turn and one is taken on to the next: what
/// was measured later, when the disk may have been faster or slower, has no part in that.
struct SweepPart {
  std::string what;               ///< is compared: "block sizes"
  std::uint64_t trial_bytes = 0;  ///< of each trial
  std::vector<TrialResult> results;
};

struct SweepLimits {
  std::chrono::steady_clock::time_point until;
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
  std::uint64_t trial_bytes = 0;  ///< of each trial; 0: what the time allows
  std::uint64_t most_bytes = 0;   ///< that may be on the disk at once
  int most_writers = 4;
};

/// What to set. In each part the least demanding way that comes within 5 % of the fastest: a setting that
/// gains nothing is not recommended.
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

  /// In the order in which they were measured.
  [[nodiscard]] const std::vector<SweepPart>& parts() const noexcept { return parts_; }

 private:
  using Clock = std::chrono::steady_clock;

  Result<> measure(const char* what, const std::vector<TrialSetup>& setups, double share_of_rest);
  Result<> measure_once(TrialResult& result);
  [[nodiscard]] std::uint64_t affordable_bytes(double seconds, std::size_t setups) const;
  Result<> probe();
  /// These look at the last part only.
  [[nodiscard]] TrialSetup best(const std::vector<TrialSetup>& setups) const;
  [[nodiscard]] double rate_of(const TrialSetup& setup) const;
  [[nodiscard]] bool time_is_up() const { return limits_.now() >= limits_.until; }

  TrialRunner runner_;
  SweepLimits limits_;
  std::vector<SweepPart> parts_;
  double probed_rate_ = 0;
};

}  // namespace afterbay::storage
