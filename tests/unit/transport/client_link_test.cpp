// SPDX-License-Identifier: Apache-2.0
// The parts of a model rank's end over MPI: what servers answer (Replies), segments on their way
// (StagedSegments), and what the server knows of the rank's position (StatedOrder).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "transport/mpi/replies.hpp"
#include "transport/mpi/staged_segments.hpp"
#include "transport/mpi/stated_order.hpp"

namespace afterbay::transport::network {
namespace {

using testing::ElementsAre;

Bytes bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}
std::string text_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Keeps the headers of what it is given; hands out what it is told to.
class PlainCarrier final : public Carrier {
 public:
  [[nodiscard]] std::uint32_t credits() const override { return 4; }
  [[nodiscard]] std::uint64_t capacity() const override { return 64 << 10; }
  [[nodiscard]] std::size_t segments() const override { return 8; }
  [[nodiscard]] const void* memory() const override { return this; }
  std::optional<SegmentMemory> take(const SegmentRequest& request) override {
    memory_.push_back(std::make_unique<std::byte[]>(request.bytes));
    return SegmentMemory{.data = memory_.back().get(), .capacity = request.bytes};
  }
  void give_back(const SegmentMemory&) override {}
  Result<void> allocate(const SegmentMemory&, std::uint64_t) override { return {}; }
  Result<void> send(const SegmentMemory& segment, std::uint64_t) override {
    orders.push_back(read_header<SegmentHeader>(segment.data).order);
    return {};
  }
  Result<bool> sent(const SegmentMemory&, bool) override { return true; }
  Result<void> send_header(const SegmentHeader& header) override {
    pings.push_back(header.order);
    return {};
  }
  Result<bool> header_sent() override { return true; }
  Result<void> send_word(Bytes) override { return {}; }
  Result<std::optional<std::span<const std::byte>>> next_batch() override {
    if (batches.empty()) return std::nullopt;
    batch_ = std::move(batches.front());
    batches.pop_front();
    return batch_;
  }
  Result<std::optional<ReceivedData>> next_data() override {
    if (data.empty()) return std::nullopt;
    data_ = std::move(data.front());
    data.pop_front();
    return ReceivedData{data_, nullptr};
  }
  void pause(mpi::BackOff&, std::chrono::nanoseconds, bool) override {}
  [[nodiscard]] bool usable() const override { return true; }
  [[nodiscard]] std::string name() const override { return "plain"; }
  [[nodiscard]] std::string setting() const override { return "memory.link"; }

  std::deque<Bytes> batches, data;
  std::vector<std::uint64_t> orders;  ///< those of segments
  std::vector<std::uint64_t> pings;   ///< their orders

 private:
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  Bytes batch_, data_;
};

TEST(TransportReplies, messages_come_in_order_and_credits_add_up) {
  PlainCarrier carrier;
  Replies replies(2);
  EXPECT_FALSE(replies.take(carrier, "the server").value());
  carrier.batches = {make_batch({.credits = 3, .progress = 5}, bytes_of("first")),
                     make_batch({.credits = 1, .progress = 4}, bytes_of("second"))};
  EXPECT_TRUE(replies.take(carrier, "the server").value());
  EXPECT_EQ(replies.credits(), 6u);
  EXPECT_EQ(replies.progress(), 5u) << "never less than before";
  ASSERT_FALSE(replies.empty());
  EXPECT_EQ(text_of(replies.pop().bytes), "first");
  EXPECT_EQ(text_of(replies.pop().bytes), "second");
  EXPECT_TRUE(replies.empty());
  replies.use_credits(5);
  EXPECT_EQ(replies.credits(), 1u);
}

TEST(TransportReplies, credits_alone_do_not_show_that_the_server_is_there) {
  PlainCarrier carrier;
  Replies replies(0);
  const BatchHeader credits{.credits = 1};
  carrier.batches = {Bytes(sizeof credits)};
  std::memcpy(carrier.batches.front().data(), &credits, sizeof credits);
  EXPECT_FALSE(replies.take(carrier, "the server").value());
  EXPECT_EQ(replies.credits(), 1u);
  EXPECT_FALSE(replies.heard());
  carrier.batches = {make_batch({.flags = BatchHeader::pong | BatchHeader::failed}, {})};
  ASSERT_TRUE(replies.take(carrier, "the server"));
  EXPECT_TRUE(replies.heard());
  EXPECT_TRUE(replies.server_failed());
  EXPECT_FALSE(replies.server_ended());
  EXPECT_TRUE(replies.take_pong());
  EXPECT_FALSE(replies.take_pong()) << "a ping is answered once";
}

TEST(TransportReplies, data_come_with_their_message) {
  PlainCarrier carrier;
  Replies replies(0);
  Bytes message = make_data_head(bytes_of("head"), 3);
  const Bytes values = bytes_of("abc");
  message.insert(message.end(), values.begin(), values.end());
  carrier.data = {message, bytes_of("short")};
  const auto taken = replies.take(carrier, "I/O server 3");
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().message, "I/O server 3 sent 5 bytes of data with an invalid header");
  EXPECT_EQ(replies.data_messages(), 1u);
  const Replies::Message first = replies.pop();
  EXPECT_EQ(text_of(first.bytes), "head");
  EXPECT_EQ(first.data.bytes.size(), 3u);
}

class TransportStagedSegments : public ::testing::Test {
 protected:
  /// Another segment with one message.
  void stage() {
    ASSERT_TRUE(segments_.begin_another(item_bytes(8), false).value());
    segments_.append({ItemKind::message, 0, 8, {}});
  }
  void end_filling(std::uint64_t order) { segments_.end_filling(*segments_.filling(), order); }
  std::uint32_t send(std::uint32_t credits) { return segments_.send_ready(credits, order_).value(); }

  PlainCarrier carrier_;
  StagedSegments segments_{carrier_};
  StatedOrder order_;
};

TEST_F(TransportStagedSegments, are_sent_in_order_as_far_as_credits_last) {
  order_.follow(30);
  stage();
  end_filling(10);
  stage();
  end_filling(20);
  stage();
  EXPECT_EQ(send(1), 1u);
  EXPECT_EQ(send(5), 1u) << "the third is still being filled";
  EXPECT_TRUE(segments_.staged());
  segments_.filling()->flush = true;
  EXPECT_TRUE(segments_.under_way());
  EXPECT_EQ(send(5), 1u);
  EXPECT_THAT(carrier_.orders, ElementsAre(10, 20, 30)) << "full ones with the order of that time";
  EXPECT_EQ(order_.stated(), 30u);
  ASSERT_TRUE(segments_.complete(false));
  EXPECT_FALSE(segments_.under_way());
}

TEST_F(TransportStagedSegments, wait_for_parts_that_the_caller_fills) {
  const FrameSlot slot{.frame = 7, .seq = 2};
  ASSERT_TRUE(segments_.begin_another(2 * item_bytes(8), false).value());
  segments_.append_open_part(slot, 1, 8);
  segments_.append_open_part(slot, 2, 8);
  segments_.filling()->flush = true;
  EXPECT_EQ(send(5), 0u);
  EXPECT_EQ(segments_.close_part(slot, 3), nullptr) << "was not reserved";
  ASSERT_NE(segments_.close_part(slot, 2), nullptr);
  EXPECT_EQ(segments_.close_part(slot, 2), nullptr) << "was closed before";
  EXPECT_EQ(send(5), 0u);
  const StagedSegments::Segment* const last = segments_.close_part(slot, 1);
  ASSERT_NE(last, nullptr);
  EXPECT_TRUE(last->is_due());
  EXPECT_EQ(send(5), 1u);
}

TEST_F(TransportStagedSegments, tell_the_order_before_pings_do) {
  order_.follow(10);
  stage();
  ASSERT_TRUE(order_.state(carrier_, segments_));
  EXPECT_THAT(carrier_.pings, ElementsAre()) << "the segment will tell it";
  ASSERT_TRUE(order_.ping_if_due(carrier_, segments_));
  EXPECT_THAT(carrier_.pings, ElementsAre(0)) << "not more than the server may know yet";
}

TEST(TransportStatedOrder, is_stated_once_by_one_ping_at_a_time) {
  PlainCarrier carrier;
  const StagedSegments none(carrier);
  StatedOrder order;
  ASSERT_TRUE(order.state(carrier, none));
  EXPECT_THAT(carrier.pings, ElementsAre()) << "nothing new";
  order.follow(5);
  ASSERT_TRUE(order.state(carrier, none));
  order.follow(9);
  order.follow(7);
  ASSERT_TRUE(order.state(carrier, none));
  EXPECT_THAT(carrier.pings, ElementsAre(5)) << "the first has not been answered";
  order.note_pong();
  ASSERT_TRUE(order.state(carrier, none));
  EXPECT_THAT(carrier.pings, ElementsAre(5, 9));
  EXPECT_EQ(order.stated(), 9u);
}

}  // namespace
}  // namespace afterbay::transport::network
