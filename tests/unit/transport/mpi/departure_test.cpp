// SPDX-License-Identifier: Apache-2.0
// The end of a model rank whose servers no longer receive: its links are closed one after the
// other, and wait together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "transport/mpi/client.hpp"

namespace afterbay::transport::network {
namespace {

using namespace std::chrono_literals;

/// What it is given stays in transit.
class StuckCarrier final : public Carrier {
 public:
  explicit StuckCarrier(std::vector<std::uint64_t>& ends) : ends_(ends) {}
  [[nodiscard]] std::uint32_t credits() const override { return 4; }
  [[nodiscard]] std::uint64_t capacity() const override { return 64 << 10; }
  [[nodiscard]] std::size_t segments() const override { return 0; }
  [[nodiscard]] const void* memory() const override { return this; }
  std::optional<SegmentMemory> take(const SegmentRequest&) override { return std::nullopt; }
  void give_back(const SegmentMemory&) override {}
  Result<void> allocate(const SegmentMemory&, std::uint64_t) override { return {}; }
  Result<void> send(const SegmentMemory&, std::uint64_t) override { return {}; }
  Result<bool> sent(const SegmentMemory&, bool) override { return false; }
  Result<void> send_header(const SegmentHeader&) override { return {}; }
  Result<bool> header_sent() override { return false; }
  Result<void> send_word(Bytes) override { return {}; }
  Result<std::optional<std::span<const std::byte>>> next_batch() override { return std::nullopt; }
  void pause(mpi::BackOff&, std::chrono::nanoseconds, bool) override { std::this_thread::sleep_for(1ms); }
  [[nodiscard]] bool usable() const override { return true; }
  void leave(std::uint64_t end_ns) override { ends_.push_back(end_ns); }
  [[nodiscard]] std::string name() const override { return "stuck"; }
  [[nodiscard]] std::string setting() const override { return ""; }

 private:
  std::vector<std::uint64_t>& ends_;
};

class TransportDeparture : public ::testing::Test {
 protected:
  std::unique_ptr<MpiClientLink> link(Millis deadline) {
    return std::make_unique<MpiClientLink>(
        std::make_unique<StuckCarrier>(ends_),
        MpiClientOptions{.sizes = {}, .policy = {deadline}, .rank_links = rank_links_});
  }
  std::vector<std::uint64_t> ends_;  ///< the times until which links may leave, in their order
  std::shared_ptr<RankLinks> rank_links_ = std::make_shared<RankLinks>();
};

/// It took two seconds per server.
TEST_F(TransportDeparture, links_of_a_rank_wait_together) {
  std::vector<std::unique_ptr<MpiClientLink>> links;
  for (int i = 0; i < 40; ++i) links.push_back(link(300ms));
  const std::uint64_t begin = now_ns();
  links.clear();
  const std::uint64_t took_ms = (now_ns() - begin) / 1'000'000;
  EXPECT_GE(took_ms, 250u);
  EXPECT_LT(took_ms, 6'000u) << "40 links with 300 ms each";
  ASSERT_EQ(ends_.size(), 40u);
  EXPECT_EQ(std::ranges::count(ends_, ends_.front()), 40);
}

TEST_F(TransportDeparture, a_link_that_is_hurried_ends_earlier) {
  std::vector<std::unique_ptr<MpiClientLink>> links;
  for (int i = 0; i < 40; ++i) links.push_back(link(60s));
  const std::uint64_t end = now_ns() + 100'000'000;
  for (auto& it : links) it->hurry(end);
  links.clear();
  EXPECT_LT(now_ns() - end, 1'800'000'000u) << "it does not wait two seconds";
  EXPECT_EQ(std::ranges::count(ends_, end), 40);
}

TEST(TransportWaitPolicy, no_wait_ends_after_the_time_that_is_left) {
  WaitPolicy policy{60s, 75s};
  EXPECT_EQ(policy.patience(true), 60s);
  policy.first_answer = 10s;
  EXPECT_EQ(policy.patience(false), 10s);
  policy.end_ns = now_ns() + 5'000'000'000;
  EXPECT_LE(policy.patience(true), 5s);
  EXPECT_GE(policy.patience(false), 3s);
  policy.end_ns = now_ns();
  EXPECT_EQ(policy.patience(true), 0ms);
}

}  // namespace
}  // namespace afterbay::transport::network
