// SPDX-License-Identifier: Apache-2.0
// The model ranks of a frontend: only rings in which ranks have left something are read.
#include "transport/mpi/relay_clients.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace afterbay::transport::network {
namespace {

constexpr std::size_t ranks = 200;
constexpr std::size_t far = 3;  ///< this client is on another node

using Notes = std::vector<std::pair<std::size_t, std::uint64_t>>;  // (client, order)

class TransportRelayClients : public ::testing::Test {
 protected:
  TransportRelayClients() {
    const LinkSizes sizes;
    const auto geometry = relay::channel_geometry(ranks, 2, {.small = 1, .common = 0}, sizes);
    options_.channel =
        relay::Channel::format(shm::Mapping::anonymous(geometry.total_bytes()).value(), geometry).value();
    for (std::size_t c = 0; c <= ranks; ++c) {
      const auto label = "model rank " + std::to_string(c);
      options_.clients.push_back({c, static_cast<int>(c), label, std::nullopt});
      if (c != far) options_.clients.back().slot = slot_of(c);
    }
    clients_ = std::make_unique<RelayClients>(options_);
  }
  /// In another order than the clients.
  static std::size_t slot_of(std::size_t client) { return ranks - 1 - (client - (client > far ? 1 : 0)); }
  std::unique_ptr<relay::ChannelEnd> end_of(std::size_t client, Millis deadline = Millis(5000)) {
    return std::make_unique<relay::ChannelEnd>(options_.channel, slot_of(client), "the frontend", "host",
                                               deadline);
  }
  static relay::Note note(std::uint64_t order) {
    relay::Note note;
    note.segment = relay::Note::header_only;
    note.header.order = order;
    return note;
  }
  Notes take() {
    Notes taken;
    clients_->take_notes([&](std::size_t client, const relay::Note& note, std::span<const std::byte>) {
      taken.emplace_back(client, note.header.order);
      return true;
    });
    return taken;
  }
  /// As often as it takes to look at all clients.
  void watch_all() {
    for (std::size_t i = 0; i <= ranks; i += 32)
      clients_->watch([this](std::size_t client) { left_.push_back(client); },
                      [this](std::size_t client) { reclaimed_.push_back(client); });
  }

  RelayOptions options_;
  std::unique_ptr<RelayClients> clients_;
  std::vector<std::size_t> left_;
  std::vector<std::size_t> reclaimed_;
};

TEST_F(TransportRelayClients, silent_ranks_cost_nothing) {
  const auto one = end_of(2);
  const auto other = end_of(150);
  for (std::uint64_t turn = 0; turn < 1000; ++turn) {
    ASSERT_TRUE(one->leave(note(2 * turn)));
    ASSERT_TRUE(one->leave(note(2 * turn + 1)));
    ASSERT_EQ(take(), (Notes{{2, 2 * turn}, {2, 2 * turn + 1}}));
    ASSERT_EQ(take(), Notes());
    ASSERT_EQ(clients_->rings_read(), turn + 1) << "those of " << ranks << " ranks";
  }
  ASSERT_TRUE(other->leave(note(7)));
  EXPECT_EQ(take(), (Notes{{150, 7}}));
  EXPECT_EQ(clients_->rings_read(), 1001u);
}

TEST_F(TransportRelayClients, answers_are_written_for_those_that_have_some) {
  const auto one = end_of(4);
  const relay::Answer answer{relay::Answer::Kind::batch, 1, 0, 0, 0, 0};
  Bytes message(sizeof answer + 10);
  std::memcpy(message.data(), &answer, sizeof answer);
  std::size_t written = 0;
  const auto count = [&](const Bytes&) { ++written; };
  EXPECT_FALSE(clients_->write_answers(count));
  clients_->keep(4, message);
  EXPECT_EQ(clients_->kept(4), 1u);
  EXPECT_TRUE(clients_->write_answers(count));
  EXPECT_FALSE(clients_->write_answers(count));
  EXPECT_EQ(written, 1u);
  EXPECT_EQ(one->next(1)->size(), 10u);
}

/// A rank looked every millisecond whether there is room.
TEST_F(TransportRelayClients, a_rank_whose_ring_is_full_sleeps_until_the_frontend_has_read) {
  const auto one = end_of(5);
  const std::atomic<std::uint32_t>& is_full = options_.channel->slot(slot_of(5)).up_is_full;
  const Bytes message(3 * options_.channel->geometry().up_bytes, std::byte{7});
  std::optional<Result<void>> left;
  std::jthread rank([&] { left = one->leave(note(1), message); });
  const auto end = std::chrono::steady_clock::now() + Millis(3000);
  while (is_full.load() == 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(Millis(1));
  EXPECT_EQ(is_full.load(), 1U) << "the frontend does not ring the rank's bell";
  Bytes got;
  while (got.empty() && std::chrono::steady_clock::now() < end)
    clients_->take_notes([&](std::size_t, const relay::Note&, std::span<const std::byte> rest) {
      got.assign(rest.begin(), rest.end());
      return true;
    });
  rank.join();
  ASSERT_TRUE(left && *left) << left->error().text();
  EXPECT_TRUE(got == message);
  EXPECT_EQ(is_full.load(), 0U);
}

TEST_F(TransportRelayClients, a_rank_whose_ring_is_not_read_gives_up_at_its_deadline) {
  const auto one = end_of(6, Millis(60));
  const Bytes message(3 * options_.channel->geometry().up_bytes);
  const auto left = one->leave(note(1), message);
  ASSERT_FALSE(left);
  EXPECT_EQ(left.error().code, ErrorCode::timed_out);
  EXPECT_EQ(left.error().message,
            "the frontend: it has not read this rank's requests for 60 ms; is it stuck?");
}

/// It has ended in order; what it left is read first.
TEST_F(TransportRelayClients, a_rank_that_ended_is_gone_after_its_notes) {
  ASSERT_TRUE(end_of(9)->leave(note(1)));
  watch_all();
  EXPECT_TRUE(clients_->is_present(9));
  EXPECT_EQ(take(), (Notes{{9, 1}}));
  watch_all();
  EXPECT_EQ(clients_->life(9), RelayClients::Life::ended);
  EXPECT_EQ(left_, std::vector<std::size_t>{9});
  EXPECT_EQ(clients_->gone(), 1u);
  watch_all();
  watch_all();
  EXPECT_EQ(reclaimed_, std::vector<std::size_t>{9}) << "once";
}

/// Its last note is found although no mark says so.
TEST_F(TransportRelayClients, a_rank_that_died_between_its_note_and_its_mark) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  relay::RankSlot& slot = options_.channel->slot(slot_of(100));
  slot.process = {static_cast<std::uint32_t>(child), own_process().space};
  slot.life.store(shm::Life::present);
  shm::RingWriter up(slot.up, options_.channel->up_ring(slot_of(100)));
  const relay::Note last = note(5);
  up.write(std::as_bytes(std::span(&last, 1)), 0);
  EXPECT_EQ(take(), Notes());
  watch_all();
  EXPECT_EQ(clients_->life(100), RelayClients::Life::died);
  watch_all();
  EXPECT_TRUE(reclaimed_.empty()) << "its note may name a segment";
  EXPECT_EQ(take(), (Notes{{100, 5}}));
  watch_all();
  EXPECT_EQ(reclaimed_, std::vector<std::size_t>{100});
}

TEST_F(TransportRelayClients, those_that_are_present_are_named) {
  EXPECT_EQ(clients_->names_of_present(), "model ranks 0-200");
  for (std::size_t c = 0; c <= ranks; ++c)
    if (c != far) clients_->end(c);
  clients_->end(0);
  EXPECT_EQ(clients_->gone(), ranks);
  EXPECT_EQ(clients_->names_of_present(), "model rank 3");
}

}  // namespace
}  // namespace afterbay::transport::network
