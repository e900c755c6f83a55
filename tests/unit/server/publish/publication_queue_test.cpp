// SPDX-License-Identifier: Apache-2.0
// Which files one worker publishes together.
#include "server/publish/publication_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

namespace afterbay::server {
namespace {

class PublicationQueueTest : public testing::Test {
 protected:
  void add(PublicationQueue& queue, int priority, std::uint64_t bytes) {
    OutputFile& file = files_.emplace_back();
    file.id = files_.size();
    queue.add({&file, nullptr, priority, bytes});
  }
  static std::vector<std::uint64_t> take(PublicationQueue& queue) {
    std::vector<std::uint64_t> ids;
    for (const auto& it : queue.take()) ids.push_back(it.file->id);
    return ids;
  }
  std::deque<OutputFile> files_;
};

using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(PublicationQueueTest, workers_share_what_waits) {
  PublicationQueue queue(2);
  EXPECT_THAT(take(queue), IsEmpty());
  for (int i = 0; i < 5; ++i) add(queue, 0, 1);
  EXPECT_THAT(take(queue), ElementsAre(1, 2, 3));
  EXPECT_THAT(take(queue), ElementsAre(4));
  EXPECT_THAT(take(queue), ElementsAre(5));
  EXPECT_THAT(take(queue), IsEmpty());
}

TEST_F(PublicationQueueTest, the_most_important_go_first_and_alone) {
  PublicationQueue queue(1);
  add(queue, 0, 1);
  add(queue, 3, 1);
  add(queue, 0, 1);
  add(queue, 3, 1);
  EXPECT_THAT(take(queue), ElementsAre(2, 4));
  EXPECT_THAT(take(queue), ElementsAre(1, 3));
}

TEST_F(PublicationQueueTest, large_files_do_not_wait_for_each_other) {
  PublicationQueue queue(1);
  const std::uint64_t mib = 1U << 20U;
  for (const std::uint64_t size : {500 * mib, 30 * mib, 30 * mib, 30 * mib}) add(queue, 0, size);
  EXPECT_THAT(take(queue), ElementsAre(1));
  EXPECT_THAT(take(queue), ElementsAre(2, 3));
  EXPECT_THAT(take(queue), ElementsAre(4));
  for (int i = 0; i < 70; ++i) add(queue, 0, 1);
  EXPECT_EQ(take(queue).size(), 64U);
  EXPECT_EQ(take(queue).size(), 6U);
}

}  // namespace
}  // namespace afterbay::server
