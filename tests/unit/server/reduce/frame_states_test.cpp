// SPDX-License-Identifier: Apache-2.0
// FrameStates: samples of a frame, results, and states that are saved and restored.
#include "server/reduce/frame_states.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  std::vector<double> results(const FrameStates& states) {
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

}  // namespace
}  // namespace afterbay::server
