// SPDX-License-Identifier: Apache-2.0
// A bundle with memory for its states, whose values and results lie at odd addresses.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "statistics/bundle.hpp"

namespace afterbay::statistics {

class BundleRun {
 public:
  BundleRun(Type type, const Values& missing, std::size_t points, const std::vector<Statistic>& statistics)
      : bundle_(Bundle::create({type, missing}, points).value()) {
    for (const Statistic& statistic : statistics) {
      const std::size_t bytes = state_bytes(statistic, type, points);
      // Exactly as large as announced, and with leftovers of something else.
      memory_.push_back(std::make_unique<double[]>((bytes + 7) / 8));
      std::memset(memory_.back().get(), 0xa5, bytes);
      const auto number =
          bundle_.add(statistic, {reinterpret_cast<std::byte*>(memory_.back().get()), bytes}).value();
      EXPECT_EQ(number + 1, memory_.size());
    }
  }

  template <class T>
  void step(const std::vector<T>& values, double duration = 1) {
    ASSERT_EQ(values.size(), bundle_.points());
    const std::vector<std::byte> bytes = at_odd_address(values);
    const auto done = bundle_.step(bytes.data() + 1, duration);
    ASSERT_TRUE(done) << done.error().text();
  }

  template <class T>
  std::vector<T> result(std::size_t number, T fill, ResultCounts* outcome = nullptr) const {
    const std::size_t points = bundle_.points();
    std::vector<std::byte> bytes(points * sizeof(T) + 1);
    const auto done = bundle_.result(number, {type_of<T>, Values(fill)}, bytes.data() + 1, 0, points);
    EXPECT_TRUE(done) << done.error().text();
    if (outcome != nullptr) *outcome = done.value();
    std::vector<T> values(points);
    if (points != 0) std::memcpy(values.data(), bytes.data() + 1, points * sizeof(T));
    return values;
  }

  Bundle& bundle() { return bundle_; }
  [[nodiscard]] const Bundle& bundle() const { return bundle_; }

  template <class T>
  static std::vector<std::byte> at_odd_address(const std::vector<T>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(T) + 1);
    if (!values.empty()) std::memcpy(bytes.data() + 1, values.data(), values.size() * sizeof(T));
    return bytes;
  }

 private:
  Bundle bundle_;
  std::vector<std::unique_ptr<double[]>> memory_;
};

/// One point whose values are the steps.
template <class T>
double of_one_point(const Statistic& statistic, T missing, const std::vector<T>& values,
                    const std::vector<double>& durations = {}) {
  BundleRun run(type_of<T>, Values(missing), 1, {statistic});
  for (std::size_t i = 0; i < values.size(); ++i)
    run.step(std::vector<T>{values[i]}, durations.empty() ? 1 : durations[i]);
  return run.result<double>(0, -999.0)[0];
}

}  // namespace afterbay::statistics
