// SPDX-License-Identifier: Apache-2.0
// FrameStates: samples of a frame, results, and states that are saved and restored.
#include "server/reduce/frame_states.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>

#include "server/records.hpp"
#include "unit/server/reduce/reduced_collection.hpp"

namespace afterbay::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ServerFrameStates : public ::testing::Test {
 protected:
  static constexpr std::uint64_t plenty = 1 << 20;

  std::unique_ptr<FrameStates> make() const {
    auto made = FrameStates::make(collection_.get(), 0, plenty);
    EXPECT_TRUE(made) << (made ? "" : made.error().text());
    return std::move(*made);
  }
  Result<> take(FrameStates& states, wire::RecordKind meaning, const std::vector<double>& values) {
    RecordHead head;
    head.meaning = meaning;
    head.duration = 60;
    return states.take({collection_.frame(values).data(), pieces_}, head);
  }
  std::vector<double> results(FrameStates& states) {
    std::byte* const to = collection_.frame({}).data();
    EXPECT_TRUE(states.results(pieces_, to));
    return collection_.values(to);
  }

  test::ReducedCollection collection_;
  const std::vector<std::uint32_t> pieces_{0};
};

TEST_F(ServerFrameStates, GiveTheMeanOfTheSamplesOfAnInterval) {
  const auto states = make();
  EXPECT_GE(states->bytes(), test::ReducedCollection::points * sizeof(double));
  ASSERT_TRUE(take(*states, wire::RecordKind::first_sample, {1, 2, 3, 4}));
  ASSERT_TRUE(take(*states, wire::RecordKind::sample, {3, 4, 5, 8}));
  EXPECT_THAT(results(*states), ElementsAre(2, 3, 4, 6));
  ASSERT_TRUE(take(*states, wire::RecordKind::first_sample, {7, 7, 7, 7}));
  EXPECT_THAT(results(*states), ElementsAre(7, 7, 7, 7)) << "of the next interval alone";
}

TEST_F(ServerFrameStates, GoOnFromASavedState) {
  const auto before = make(), after = make();
  ASSERT_TRUE(take(*before, wire::RecordKind::first_sample, {1, 2, 3, 4}));
  ASSERT_TRUE(take(*before, wire::RecordKind::sample, {3, 4, 5, 8}));
  RecordHead plane;
  plane.meaning = wire::RecordKind::state;
  plane.progress = wire::SavedProgress{.steps = 2, .duration = 120};
  for (;; ++plane.record) {
    std::byte* const saved = collection_.frame({}).data();
    before->plane(pieces_, plane, saved);
    if (!after->take({saved, pieces_}, plane)) break;  // there are no more planes
  }
  EXPECT_GE(plane.record, 1u);
  for (FrameStates* const states : {before.get(), after.get()}) {
    ASSERT_TRUE(take(*states, wire::RecordKind::sample, {5, 6, 7, 9}));
    EXPECT_THAT(results(*states), ElementsAre(3, 4, 5, 7));
  }
}

TEST_F(ServerFrameStates, NeedNoMoreMemoryThanIsAllowed) {
  const auto refused = FrameStates::make(collection_.get(), plenty - 8, plenty);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::resources);
  EXPECT_THAT(refused.error().message, HasSubstr("memory.statistics"));
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// x0/x1 + x2, where -1 marks missing values of x0, and x2 is constant.
wire::FormulaDefinition quotient() {
  wire::FormulaDefinition formula;
  formula.steps = {{"x0/x1 + x2", {0, 1, 2}}};
  formula.operands = {{.source = 4, .missing = Values(-1.0)}, {.source = 2}, {.source = 1, .is_constant = 1}};
  return formula;
}

class ServerFormulas : public ::testing::Test {
 protected:
  std::unique_ptr<FrameStates> make(wire::ReductionDefinition reduction) {
    collection_.emplace(reduction);
    auto made = FrameStates::make(collection_->get(), 0, 1 << 20);
    EXPECT_TRUE(made) << (made ? "" : made.error().text());
    return std::move(*made);
  }
  Result<> take(FrameStates& states, std::uint32_t source, const std::vector<double>& values,
                bool begins = false) {
    RecordHead head;
    head.meaning = begins ? wire::RecordKind::first_sample : wire::RecordKind::sample;
    head.source = source;
    head.duration = 60;
    return states.take({collection_->frame(values).data(), pieces_}, head);
  }
  Result<std::vector<double>> results(FrameStates& states) {
    std::byte* const to = collection_->frame({}).data();
    AFTERBAY_TRY(states.results(pieces_, to));
    return collection_->values(to);
  }
  static wire::ReductionDefinition instants() {
    wire::ReductionDefinition reduction;
    reduction.formula = quotient();
    reduction.is_over_time = 0;
    return reduction;
  }

  std::optional<test::ReducedCollection> collection_;
  const std::vector<std::uint32_t> pieces_{0};
  const double fill_ = 9.969209968386869e36;
};

TEST_F(ServerFormulas, AreComputedOfSamplesInAnyOrder) {
  wire::ReductionDefinition reduction = instants();
  reduction.formula->multiply = 10;
  reduction.formula->add = 1;
  const auto states = make(reduction);
  ASSERT_TRUE(take(*states, 1, {0, 1, 2, 3}));
  ASSERT_TRUE(take(*states, 4, {6, -1, 8, 0}));
  ASSERT_TRUE(take(*states, 2, {2, 2, 4, 0}));
  EXPECT_THAT(results(*states).value(), ElementsAre(31, fill_, 41, fill_)) << "missing, and 0/0";
  EXPECT_FALSE(results(*states)) << "the operands of the next step are not there";
  ASSERT_TRUE(take(*states, 2, {1, 1, 1, 1}));
  EXPECT_FALSE(results(*states));
  ASSERT_TRUE(take(*states, 4, {1, 2, 3, 4}));
  EXPECT_THAT(results(*states).value(), ElementsAre(11, 31, 51, 71)) << "the constant is still there";
}

TEST_F(ServerFormulas, StatisticsTakeTheirValues) {
  wire::ReductionDefinition reduction = test::ReducedCollection::mean();
  reduction.statistic.missing = statistics::Missing::ignore;
  reduction.formula = quotient();
  const auto states = make(reduction);
  ASSERT_TRUE(take(*states, 1, {0, 0, 0, 1}, true));
  ASSERT_TRUE(take(*states, 2, {1, 1, 1, 1}, true));
  ASSERT_TRUE(take(*states, 4, {1, 2, 3, -1}, true));
  ASSERT_TRUE(take(*states, 4, {5, -1, 7, 9}));
  ASSERT_TRUE(take(*states, 2, {1, 1, 1, 3}));
  EXPECT_THAT(results(*states).value(), ElementsAre(3, 2, 5, 4));
  ASSERT_TRUE(take(*states, 2, {1, 1, 1, 1}, true));
  ASSERT_TRUE(take(*states, 4, {1, 1, 1, 1}, true));
  EXPECT_THAT(results(*states).value(), ElementsAre(1, 1, 1, 2)) << "of the next interval alone";
}

TEST_F(ServerFormulas, RefuseOtherSamples) {
  const auto states = make(instants());
  const auto refused = take(*states, 3, {1, 2, 3, 4});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().variable, "t");
  RecordHead plane;
  plane.meaning = wire::RecordKind::state;
  EXPECT_FALSE(states->take({collection_->frame({1, 2, 3, 4}).data(), pieces_}, plane))
      << "there is no state";
  EXPECT_FALSE(take(*states, 0, {nan, nan, nan, nan}));
}

TEST_F(ServerFormulas, ThatCannotBeEvaluatedAreRefused) {
  wire::ReductionDefinition reduction = instants();
  reduction.formula->steps[0].text = "x0 +* x1";
  collection_.emplace(reduction);
  const auto made = FrameStates::make(collection_->get(), 0, 1 << 20);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().variable, "t");
}

}  // namespace
}  // namespace afterbay::server
