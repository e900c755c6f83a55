// SPDX-License-Identifier: Apache-2.0
#include "storage/plan/sweep.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <cerrno>

namespace afterbay::storage {
namespace {

constexpr std::uint64_t probe_bytes = 32 * MiB;
constexpr std::uint64_t least_trial_bytes = 16 * MiB;
constexpr std::uint64_t most_trial_bytes = 2048 * MiB;
/// The number of runs per setup that fit into a phase.
constexpr double planned_runs = 3;
/// A setup that is slower by less than this counts as equally fast.
constexpr double tolerance = 0.05;
constexpr double clear_gain = 1.10;

/// Beginning with the least demanding setup.
std::vector<TrialSetup> block_setups() {
  std::vector<TrialSetup> setups;
  for (const bool direct : {true, false})
    for (const std::uint64_t block : {4 * MiB, MiB, 256 * KiB, 16 * MiB})
      setups.push_back({.block_bytes = block, .direct = direct, .stripes = {}});
  return setups;
}

std::vector<int> writer_counts(int most) {
  std::vector<int> counts;
  for (int count = 1; count < most; count *= 2) counts.push_back(count);
  counts.push_back(most);
  return counts;
}

std::vector<TrialSetup> writer_setups(const TrialSetup& from, int most, bool separate) {
  std::vector<TrialSetup> setups;
  for (const int count : writer_counts(most)) {
    TrialSetup setup = from;
    setup.writers = count;
    setup.separate = separate && count > 1;
    setups.push_back(setup);
  }
  return setups;
}

std::vector<TrialSetup> stripe_setups(const TrialSetup& from) {
  std::vector<TrialSetup> setups;
  for (const int count : {1, 4, StripePolicy::all})
    for (const std::uint64_t size : {MiB, 4 * MiB, 8 * MiB}) {
      TrialSetup setup = from;
      setup.stripes = Stripes{count, size};
      setups.push_back(setup);
    }
  return setups;
}

/// Not an error: this way of writing is not supported here.
bool is_refusal(const Error& error, const TrialSetup& setup) {
  return (setup.direct && (error.native == EINVAL || error.native == EOPNOTSUPP)) ||
         (setup.stripes && error.code != ErrorCode::no_space);
}

}  // namespace

double TrialResult::median() const {
  if (rates.empty()) return 0;
  std::vector<double> sorted = rates;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

double Sweep::rate_of(const TrialSetup& setup) const {
  const std::vector<TrialResult>& results = parts_.back().results;
  const auto found = std::find_if(results.begin(), results.end(),
                                  [&](const TrialResult& result) { return result.setup == setup; });
  return found == results.end() ? 0 : found->median();
}

/// The first of `setups`, which are in order of preference, that is nearly as fast as the fastest.
TrialSetup Sweep::best(const std::vector<TrialSetup>& setups) const {
  double fastest = 0;
  for (const TrialSetup& setup : setups) fastest = std::max(fastest, rate_of(setup));
  for (const TrialSetup& setup : setups)
    if (rate_of(setup) >= (1 - tolerance) * fastest && rate_of(setup) > 0) return setup;
  return setups.front();
}

Result<> Sweep::measure_once(TrialResult& result) {
  if (!result.refused.empty() || time_is_up()) return {};
  const auto rate = runner_(result.setup, {.bytes = parts_.back().trial_bytes, .until = limits_.until});
  if (rate) {
    result.rates.push_back(*rate);
  } else if (is_refusal(rate.error(), result.setup)) {
    result.refused = rate.error().message;
  } else if (rate.error().code != ErrorCode::timed_out) {
    return fail(rate.error());
  }
  return {};
}

/// Estimates the speed, which determines how much a trial writes.
Result<> Sweep::probe() {
  const TrialSize size{.bytes = std::min(probe_bytes, limits_.most_bytes), .until = limits_.until};
  TrialSetup setup;
  auto rate = runner_(setup, size);
  if (!rate && is_refusal(rate.error(), setup)) {
    setup.direct = false;
    rate = runner_(setup, size);
  }
  if (!rate) return fail(rate.error());
  probed_rate_ = *rate;
  return {};
}

/// The number of bytes per trial with which all setups get `planned_runs` in the time.
std::uint64_t Sweep::affordable_bytes(double seconds, std::size_t setups) const {
  if (limits_.trial_bytes != 0) return std::min(limits_.trial_bytes, limits_.most_bytes);
  const double affordable = probed_rate_ * seconds / (static_cast<double>(setups) * planned_runs);
  const double bounded = std::clamp(affordable, double{least_trial_bytes}, double{most_trial_bytes});
  return std::min(static_cast<std::uint64_t>(bounded), limits_.most_bytes);
}

/// Measures all setups in turn, forwards and backwards, until the given share of the remaining time
/// has passed; each at least once while any time is left.
Result<> Sweep::measure(const char* what, const std::vector<TrialSetup>& setups, double share_of_rest) {
  const std::chrono::duration<double> rest = limits_.until - limits_.now();
  const double seconds = std::max(0.0, rest.count()) * share_of_rest;
  const auto until =
      limits_.now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  SweepPart& part = parts_.emplace_back(SweepPart{what, affordable_bytes(seconds, setups.size()), {}});
  for (const TrialSetup& setup : setups) part.results.push_back({setup, {}, {}});
  const auto possible = [](const TrialResult& result) { return result.refused.empty(); };
  for (int round = 0; round == 0 || (limits_.now() < until && !time_is_up()); ++round) {
    // Without a possible setup no time would pass.
    if (std::none_of(part.results.begin(), part.results.end(), possible)) break;
    for (std::size_t i = 0; i < setups.size(); ++i) {
      if (round > 0 && limits_.now() >= until) break;
      AFTERBAY_TRY(measure_once(part.results[round % 2 == 0 ? i : setups.size() - 1 - i]));
    }
  }
  return {};
}

Result<StorageAdvice> Sweep::run(bool striped) {
  AFTERBAY_TRY(probe());
  const auto blocks = block_setups();
  AFTERBAY_TRY(measure("block sizes, with and without O_DIRECT", blocks, striped ? 0.35 : 0.5));
  const TrialSetup block = best(blocks);
  const auto writers = writer_setups(block, limits_.most_writers, false);
  const auto separate = writer_setups(block, limits_.most_writers, true);
  std::vector<TrialSetup> both = writers;
  both.insert(both.end(), separate.begin() + 1, separate.end());
  AFTERBAY_TRY(measure("writers, in one file and in a file each", both, striped ? 0.5 : 1.0));
  // Without time for this part, the number of writers is not measured: one is the least demanding.
  StorageAdvice advice;
  advice.setup = best(writers);
  const TrialSetup apart = best(separate);
  const double apart_rate = rate_of(apart);
  double rate = rate_of(advice.setup);
  if (striped) {
    const auto stripes = stripe_setups(advice.setup);
    AFTERBAY_TRY(measure("stripes", stripes, 1.0));
    if (rate_of(best(stripes)) > 0) {
      advice.setup = best(stripes);
      rate = rate_of(advice.setup);
    }
  }
  advice.separate = apart.separate && apart_rate > clear_gain * rate;
  return advice;
}

}  // namespace afterbay::storage
