// SPDX-License-Identifier: Apache-2.0
// The loops of all instruction sets that this processor has, against a rounding of one value after
// the other.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "pipeline/rounding.hpp"
#include "pipeline/rounding_loops.hpp"

namespace afterbay::pipeline {
namespace {

std::vector<const RoundingLoops*> all_loops() {
  std::vector<const RoundingLoops*> loops{&rounding::baseline};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) loops.push_back(&rounding::avx2);
  if (&rounding_loops() == &rounding::avx512) loops.push_back(&rounding::avx512);
#endif
  return loops;
}

template <class T>
RoundingCounts<T> run(const RoundingLoops& loops, const RoundingJob<T>& job) {
  if constexpr (sizeof(T) == 4)
    return loops.of_float(job);
  else
    return loops.of_double(job);
}

template <class T>
using Word = typename FloatFormat<T>::Word;

template <class T>
bool may_change(const RoundingJob<T>& job, T value) {
  if (!std::isnormal(value)) return false;
  for (std::size_t k = 0; k < job.missing_count; ++k)
    if (job.missing[k] == value) return false;
  return true;
}

/// The definition of a rounded magnitude, and the bound of its error.
template <class T>
std::pair<Word<T>, T> rounded(const RoundingJob<T>& job, Word<T> magnitude, std::size_t place) {
  const T unbounded = std::numeric_limits<T>::infinity();
  const auto nearest = [magnitude](Word<T> kept) -> Word<T> {
    const Word<T> cut = ~kept;
    return (magnitude + (cut ^ (cut >> 1))) & kept;
  };
  switch (job.method) {
    case RoundingMethod::uniform: return {nearest(job.kept), unbounded};
    case RoundingMethod::groom:
      return {place % 2 == 0 ? magnitude & job.kept : magnitude | ~job.kept, unbounded};
    case RoundingMethod::table: break;
  }
  if (job.step_count == 1 && job.least == 0) {
    // Multiples of one quantum; the table differs for values below it.
    const T value = std::bit_cast<T>(magnitude);
    const T quantum = job.steps[0].quantum;
    const T units = value / quantum;
    if (units >= std::ldexp(T{1}, FloatFormat<T>::mantissa_bits)) return {magnitude, unbounded};
    const T whole = std::floor(units);
    return {std::bit_cast<Word<T>>((units - whole >= T(0.5) ? whole + 1 : whole) * quantum), unbounded};
  }
  const Binade<T>& binade = job.table[magnitude >> FloatFormat<T>::mantissa_bits];
  const int part = int{magnitude >= binade.first_step} + int{magnitude >= binade.second_step};
  return {nearest(binade.kept[part]), binade.bound[part]};
}

template <class T>
T expected(const RoundingJob<T>& job, T value, std::size_t place, RoundingCounts<T>& counts) {
  using Format = FloatFormat<T>;
  if (!may_change(job, value)) return value;
  const auto bits = std::bit_cast<Word<T>>(value);
  const auto [result, bound] = rounded(job, static_cast<Word<T>>(bits & Format::magnitude), place);
  const T changed = std::bit_cast<T>(static_cast<Word<T>>(result | (bits & ~Format::magnitude)));
  const bool is_missing = job.missing_count > 0 && changed == job.missing[0];
  if (!job.verifies) {
    counts.makes_missing |= is_missing;
    return std::isfinite(changed) ? changed : value;
  }
  const T error = std::abs(changed - value);
  const T relative = job.relative * std::abs(value) - std::numeric_limits<T>::denorm_min();
  if (!std::isfinite(changed) || error > bound || error > job.absolute ||
      (std::isfinite(job.relative) && error > relative)) {
    ++counts.kept;
    return value;
  }
  counts.makes_missing |= is_missing;
  counts.largest_error_bits =
      std::max(counts.largest_error_bits,
               static_cast<decltype(counts.largest_error_bits)>(std::bit_cast<Word<T>>(error)));
  return changed;
}

template <class T>
class Values {
 public:
  explicit Values(unsigned seed) : generator_(seed) {}

  /// A value within `binades` binades around one, or of random bits; some are special.
  T next(int binades, int special_percent) {
    if (below(100) < special_percent) {
      const T specials[] = {T{0},
                            -T{0},
                            std::numeric_limits<T>::infinity(),
                            -std::numeric_limits<T>::infinity(),
                            std::numeric_limits<T>::quiet_NaN(),
                            std::numeric_limits<T>::denorm_min(),
                            -std::numeric_limits<T>::min() / 2,
                            std::numeric_limits<T>::min(),
                            std::numeric_limits<T>::max(),
                            std::numeric_limits<T>::lowest(),
                            T{-999},
                            T{1000},
                            std::nextafter(T{1000}, T{0}),
                            T(1e20),
                            T(2.5)};
      return specials[below(static_cast<int>(std::size(specials)))];
    }
    if (binades == 0) return std::bit_cast<T>(static_cast<Word<T>>(generator_()));
    const T magnitude = std::ldexp(T(1) + T(generator_() >> 11) * T(0x1p-53), below(binades) - binades / 2);
    return (generator_() & 1u) != 0 ? magnitude : -magnitude;
  }
  int below(int end) { return static_cast<int>(generator_() % static_cast<unsigned>(end)); }

 private:
  std::mt19937_64 generator_;
};

template <class T>
class RoundingLoopsOf : public ::testing::Test {
 protected:
  /// One job at odd addresses, in place and not.
  void expect_equal(RoundingJob<T> job, const std::vector<T>& values, const std::string& what) {
    std::vector<T> wanted;
    RoundingCounts<T> counts;
    for (std::size_t i = 0; i < values.size(); ++i)
      wanted.push_back(expected(job, values[i], job.first + i, counts));
    const std::size_t bytes = values.size() * sizeof(T);
    for (const RoundingLoops* loops : all_loops())
      for (const bool in_place : {true, false}) {
        std::vector<std::byte> from(bytes + 1), to(bytes + 2, std::byte{0x5a});
        if (bytes > 0) std::memcpy(from.data() + 1, values.data(), bytes);
        job.from = from.data() + 1;
        job.to = in_place ? from.data() + 1 : to.data() + 1;
        job.count = values.size();
        const RoundingCounts<T> found = run(*loops, job);
        ASSERT_EQ(found.kept, counts.kept) << what;
        ASSERT_EQ(found.makes_missing, counts.makes_missing) << what;
        ASSERT_EQ(found.largest_error_bits, counts.largest_error_bits) << what;
        for (std::size_t i = 0; i < values.size(); ++i) {
          Word<T> bits;
          std::memcpy(&bits, job.to + i * sizeof(T), sizeof bits);
          ASSERT_EQ(bits, std::bit_cast<Word<T>>(wanted[i])) << what << ", value " << i << ": " << values[i];
        }
        ASSERT_EQ(to.back(), std::byte{0x5a}) << what;
      }
  }
  /// Many lengths, ranges, missing values and accuracies.
  void expect_equal(const RoundingJob<T>& job, const std::string& what, unsigned seed) {
    Values<T> random(seed);
    const T missing[] = {T{-999}, T(1e20), T(2.5)};
    for (const std::size_t count : {0, 1, 3, 7, 15, 16, 17, 33, 100, 1023, 1024, 1025, 2100})
      for (const int binades : {0, 1, 3, 6, 12, 25, 60})
        for (const int special_percent : {0, 2, 100}) {
          std::vector<T> values;
          for (std::size_t i = 0; i < count; ++i) values.push_back(random.next(binades, special_percent));
          RoundingJob<T> one = job;
          one.first = static_cast<std::uint64_t>(random.below(2));
          one.missing = missing;
          one.missing_count = static_cast<std::size_t>(random.below(4));
          expect_equal(one, values,
                       what + ": " + std::to_string(count) + " values of " + std::to_string(binades) +
                           " binades, " + std::to_string(special_percent) + " % special");
          if (this->HasFatalFailure()) return;
        }
  }
  /// Without and with all kinds of verification.
  void expect_equal_verified(RoundingJob<T> job, const std::string& what, unsigned seed) {
    const T unbounded = std::numeric_limits<T>::infinity();
    job.absolute = job.relative = unbounded;
    expect_equal(job, what, seed);
    job.verifies = true;
    for (const T absolute : {unbounded, T(0.01)})
      for (const T relative : {unbounded, T(0.001)}) {
        if (absolute == unbounded && relative == unbounded && job.method != RoundingMethod::table) continue;
        job.absolute = absolute;
        job.relative = relative;
        expect_equal(job, what + ", verified", seed + 1);
        if (this->HasFatalFailure()) return;
      }
  }
};

using FloatTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(RoundingLoopsOf, FloatTypes);

TYPED_TEST(RoundingLoopsOf, uniform_rounding_is_as_defined) {
  using T = TypeParam;
  for (const int bits : {1, 9, FloatFormat<T>::mantissa_bits - 1, FloatFormat<T>::mantissa_bits}) {
    RoundingJob<T> job;
    job.kept = kept_bits<T>(FloatFormat<T>::mantissa_bits - bits);
    this->expect_equal_verified(job, std::to_string(bits) + " bits", static_cast<unsigned>(bits));
    job.method = RoundingMethod::groom;
    this->expect_equal_verified(job, std::to_string(bits) + " bits, groomed", static_cast<unsigned>(bits));
  }
}

template <class T>
RoundingJob<T> job_of(const MagnitudeRounding<T>& rounding) {
  RoundingJob<T> job;
  job.method = RoundingMethod::table;
  job.table = rounding.table.data();
  job.steps = rounding.steps.data();
  job.step_count = rounding.steps.size();
  job.least = rounding.least;
  job.largest = rounding.largest;
  return job;
}

TYPED_TEST(RoundingLoopsOf, digits_are_as_the_table_defines) {
  using T = TypeParam;
  for (const int digits : {1, 3, FloatFormat<T>::most_digits - 1, FloatFormat<T>::most_digits}) {
    const auto rounding = digits_rounding<T>(digits);
    RoundingJob<T> job = job_of(*rounding);
    this->expect_equal_verified(job, std::to_string(digits) + " digits", static_cast<unsigned>(digits));
    job.step_count = 0;
    this->expect_equal_verified(job, std::to_string(digits) + " digits, no steps", 9);
  }
}

/// Magnitudes that grow: each part of the job needs other steps.
TYPED_TEST(RoundingLoopsOf, steps_follow_the_magnitudes) {
  using T = TypeParam;
  constexpr std::size_t count = 12000;
  for (const int binades : {1, 5, 11, 20, 40}) {
    Values<T> random(static_cast<unsigned>(binades));
    std::vector<T> values;
    for (std::size_t i = 0; i < count; ++i) {
      const int drift = static_cast<int>(i / 120) - 50;
      values.push_back(std::ldexp(random.next(binades, 0), drift * (sizeof(T) == 4 ? 1 : 15)));
    }
    for (const int digits : {1, 2, 3, 5, 7}) {
      const auto rounding = digits_rounding<T>(digits);
      RoundingJob<T> job = job_of(*rounding);
      job.absolute = job.relative = std::numeric_limits<T>::infinity();
      for (const T missing : {T{3}, T(1e30), T(0.5)}) {
        job.missing = &missing;
        job.missing_count = 1;
        for (const bool verifies : {false, true}) {
          job.verifies = verifies;
          this->expect_equal(job, values, std::to_string(binades) + " binades");
          if (this->HasFatalFailure()) return;
        }
      }
    }
  }
}

TYPED_TEST(RoundingLoopsOf, an_absolute_error_is_as_the_table_defines) {
  using T = TypeParam;
  for (const double error : {0.3, 0.01, 1e-5}) {
    const MagnitudeRounding<T> rounding = absolute_rounding<T>(error);
    RoundingJob<T> job = job_of(rounding);
    job.absolute = static_cast<T>(error);
    job.relative = std::numeric_limits<T>::infinity();
    job.verifies = true;
    this->expect_equal(job, "absolute error", 17);
  }
}

}  // namespace
}  // namespace afterbay::pipeline
