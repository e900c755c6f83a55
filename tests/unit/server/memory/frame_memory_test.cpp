// SPDX-License-Identifier: Apache-2.0
// FrameMemory without a server: when records are dropped, what a worker gets, and the warnings.
#include "server/memory/frame_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "unit/server/fake_transport.hpp"

namespace afterbay::server {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class ServerFrameMemory : public ::testing::Test {
 protected:
  FrameMemory& make(config::WhenFull when_full = config::WhenFull::drop) {
    config_.writing.when_full = when_full;
    config_.memory.server_bytes = 4'096'000;
    FrameMemory::Host host;
    host.server = 3;
    host.moved = [] {};
    host.warn = [this](const std::string& text) { warnings_.push_back(text); };
    host.dropped = [this](const Overflow::RecordKey& record) { dropped_.push_back(record); };
    return memory_.emplace(config_, frames_, std::move(host));
  }
  Overflow::Handle add(std::uint64_t seq, bool droppable = true) {
    FrameTask task;
    task.view.seq = seq;
    return memory_->add(std::move(task), {7, seq}, droppable);
  }
  /// A worker writes the frame.
  Result<storage::WriteCost> take(const Overflow::Handle& frame, bool ok = true) {
    return memory_->take(*frame, [&](const FrameTask& task, ScratchBuffers&) -> Result<storage::WriteCost> {
      written_.push_back(task.view.seq);
      if (!ok) return fail(ErrorCode::io, "the disk is gone");
      return storage::WriteCost{.bytes_in = 10};
    });
  }

  config::Config config_;
  test::FakeFrames frames_;
  std::vector<std::string> warnings_;
  std::vector<Overflow::RecordKey> dropped_;
  std::vector<std::uint64_t> written_;
  std::optional<FrameMemory> memory_;
};

TEST_F(ServerFrameMemory, AWorkerWritesAFrameAndReleasesIt) {
  make(config::WhenFull::wait);
  EXPECT_EQ(take(add(1)).value().bytes_in, 10u);
  EXPECT_THAT(written_, ElementsAre(1));
  EXPECT_THAT(frames_.released, ElementsAre(1));
}

TEST_F(ServerFrameMemory, AFrameThatCannotBeWrittenIsReleasedToo) {
  make();
  const auto cost = take(add(1), false);
  ASSERT_FALSE(cost);
  EXPECT_EQ(cost.error().message, "the disk is gone");
  EXPECT_THAT(frames_.released, ElementsAre(1));
}

TEST_F(ServerFrameMemory, DropsTheNewestRecordWhileThereIsNoRoom) {
  FrameMemory& memory = make();
  const auto first = add(1);
  const auto second = add(2);
  const auto kept = add(3, false);
  memory.relieve();
  EXPECT_THAT(dropped_, IsEmpty());
  frames_.is_full = true;
  memory.relieve();
  EXPECT_THAT(dropped_, ElementsAre(Pair(7, 2)));
  EXPECT_THAT(frames_.released, ElementsAre(2));
  EXPECT_EQ(take(second).value().bytes_in, 0u);
  EXPECT_EQ(take(kept).value().bytes_in, 10u);
  EXPECT_EQ(take(first).value().bytes_in, 10u);
  EXPECT_THAT(written_, ElementsAre(3, 1));
  EXPECT_THAT(frames_.released, ElementsAre(2, 3, 1));
}

TEST_F(ServerFrameMemory, ARecordThatIsBeingWrittenIsNotDropped) {
  FrameMemory& memory = make();
  const auto first = add(1);
  const auto second = add(1);
  ASSERT_TRUE(take(first));
  frames_.is_full = true;
  memory.relieve();
  EXPECT_THAT(dropped_, IsEmpty());
  memory.record_ended({7, 1});
  ASSERT_TRUE(take(second));
}

TEST_F(ServerFrameMemory, LetsRanksWaitIfConfigured) {
  FrameMemory& memory = make(config::WhenFull::wait);
  const auto frame = add(1);
  frames_.is_full = true;
  memory.relieve();
  EXPECT_THAT(dropped_, IsEmpty());
  EXPECT_EQ(take(frame).value().bytes_in, 10u);
}

TEST_F(ServerFrameMemory, WarnsOnceIfTheSystemRefusesMemoryAndOnceIfItNoLongerDoes) {
  FrameMemory& memory = make();
  memory.watch();
  EXPECT_THAT(warnings_, IsEmpty());
  frames_.error = ENOMEM;
  memory.watch();
  memory.watch();
  EXPECT_THAT(warnings_,
              ElementsAre(AllOf(HasSubstr("I/O server 3: this node has no memory for more than 1000"),
                                HasSubstr("of its 4000KiB (memory.server)"))));
  frames_.error = 0;
  memory.watch();
  memory.watch();
  ASSERT_EQ(warnings_.size(), 2u);
  EXPECT_THAT(warnings_.back(), HasSubstr("memory (memory.server) can be used again"));
}

}  // namespace
}  // namespace afterbay::server
