// SPDX-License-Identifier: Apache-2.0
// TwoEndpoints: a rank with two endpoints, without a session. For tests only.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "unit/client/joint_rank.hpp"

namespace afterbay::test {

/// A rank with two endpoints, which have cells [0, 5000) of the line and the others.
class TwoEndpoints : public ::testing::Test {
 protected:
  static constexpr std::uint64_t line_cells = JointRank::cells;
  static constexpr std::uint64_t upper_cells = 5000;  ///< not at the edge of a piece
  static constexpr std::uint64_t lower_cells = line_cells - upper_cells;

  template <class T>
  static std::vector<T> ascending(std::uint64_t count, double first) {
    std::vector<T> values(count);
    std::iota(values.begin(), values.end(), static_cast<T>(first));
    return values;
  }
  template <class T>
  static Error refusal_of(const Result<T>& result) {
    return result ? Error(ErrorCode::internal, "nothing was refused") : result.error();
  }

  void make(const JointRank::Options& options = {}) {
    rank_.emplace(options);
    rank_->start();
    upper_ = rank_->endpoint("upper", 0, upper_cells);
    lower_ = rank_->endpoint("lower", upper_cells, lower_cells);
  }
  template <class T>
  Result<bool> put(client::PartEndpoint& endpoint, const std::string& variable, std::uint64_t record,
                   const std::vector<T>& values, const Section& section = {}, bool may_wait = true,
                   const MemoryLayout& memory = {}) {
    return endpoint.put(rank_->file(), variable, record, values.data(), type_of<T>, memory, section,
                        may_wait);
  }
  /// The parts of both in v, ascending values.
  void put_v(std::uint64_t record) {
    ASSERT_EQ(put(*upper_, "v", record, ascending<double>(upper_cells, 0)), true);
    ASSERT_EQ(put(*lower_, "v", record, ascending<double>(lower_cells, upper_cells)), true);
  }
  void end_steps() {
    for (client::PartEndpoint* const it : {upper_.get(), lower_.get()}) {
      const auto ended = it->end_step();
      ASSERT_TRUE(ended) << ended.error().text();
    }
    const auto ended = rank_->end_session_step();
    ASSERT_TRUE(ended) << ended.error().text();
  }

  std::optional<JointRank> rank_;
  std::unique_ptr<client::PartEndpoint> upper_;
  std::unique_ptr<client::PartEndpoint> lower_;
};

}  // namespace afterbay::test
