// SPDX-License-Identifier: Apache-2.0
// Sweep: measures many ways of writing in turn within a given time, and recommends one.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "storage/plan/trial.hpp"

namespace afterbay::storage {

/// The measurements of one way of writing in one part of the sweep.
struct TrialResult {
  TrialSetup setup;
  std::vector<double> rates;  ///< bytes per second, one per run
  /// Why it is not possible here (O_DIRECT, lfs); empty: it is possible.
  std::string refused;
  /// 0 without runs.
  [[nodiscard]] double median() const;
};

/// A part of the sweep, in which ways of writing are measured in turn and one is selected for the
/// next part; later measurements, when the disk may be faster or slower, do not influence this
/// selection.
struct SweepPart {
  std::string what;               ///< what is compared: "block sizes"
  std::uint64_t trial_bytes = 0;  ///< bytes per trial
  std::vector<TrialResult> results;
};

struct SweepLimits {
  std::chrono::steady_clock::time_point until;
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
  std::uint64_t trial_bytes = 0;  ///< bytes per trial; 0: as much as the time allows
  std::uint64_t most_bytes = 0;   ///< limit of the bytes on the disk at the same time
  int most_writers = 4;
};

/// The recommended settings. In each part, the least demanding way within 5 % of the fastest is
/// chosen: a setting without gain is not recommended.
struct StorageAdvice {
  TrialSetup setup;  ///< for one shared file
  /// Concurrent files of several servers are clearly (10 %) faster than one file.
  bool separate = false;
};

/// Runs trials; tests supply their own.
using TrialRunner = std::function<Result<double>(const TrialSetup&, const TrialSize&)>;

class Sweep {
 public:
  Sweep(TrialRunner runner, SweepLimits limits) : runner_(std::move(runner)), limits_(std::move(limits)) {}

  /// Measures block sizes and direct I/O with one writer, then numbers of writers in one file and
  /// in separate ones, then (`striped`: the directory is on Lustre) stripes. Takes at most until
  /// the limit, plus the time of the last fsync. Fails if nothing can be written at all (no_space,
  /// io).
  Result<StorageAdvice> run(bool striped);

  /// The parts in the order in which they were measured.
  [[nodiscard]] const std::vector<SweepPart>& parts() const noexcept { return parts_; }

 private:
  using Clock = std::chrono::steady_clock;

  Result<> measure(const char* what, const std::vector<TrialSetup>& setups, double share_of_rest);
  Result<> measure_once(TrialResult& result);
  [[nodiscard]] std::uint64_t affordable_bytes(double seconds, std::size_t setups) const;
  Result<> probe();
  /// These use the last part only.
  [[nodiscard]] TrialSetup best(const std::vector<TrialSetup>& setups) const;
  [[nodiscard]] double rate_of(const TrialSetup& setup) const;
  [[nodiscard]] bool time_is_up() const { return limits_.now() >= limits_.until; }

  TrialRunner runner_;
  SweepLimits limits_;
  std::vector<SweepPart> parts_;
  double probed_rate_ = 0;
};

}  // namespace afterbay::storage
