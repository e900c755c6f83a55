// SPDX-License-Identifier: Apache-2.0
// The memory of servers that one caller of a rank's joint puts uses, slots, and what it reads.
#include "client/part_endpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "unit/client/two_endpoints.hpp"

namespace afterbay::client {
namespace {

using test::JointRank;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using ClientPartEndpointRoom = test::TwoEndpoints;
using ThreadClientPartEndpointRoom = test::TwoEndpoints;

// ---- room

TEST_F(ClientPartEndpointRoom, a_put_that_may_not_wait_takes_nothing_without_room) {
  make({.blocks = 4});
  ASSERT_EQ(put(*upper_, "v", 0, ascending<double>(upper_cells, 0), {}, false), true);
  const auto rest = ascending<double>(lower_cells, upper_cells);
  EXPECT_EQ(put(*lower_, "v", 0, rest, {}, false), false)
      << "the last block is reserved for the slowest rank";
  EXPECT_EQ(lower_->member().puts, 0U);
  EXPECT_THAT(rank_->received(), ElementsAre("begin record 0 as 0", "v[0] of 0", "v[1] of 0"));
  rank_->write("v", 0, 0);
  EXPECT_EQ(put(*lower_, "v", 0, rest, {}, false), true);
  EXPECT_THAT(rank_->received(), ElementsAre("v[2] of 0", "v[3] of 0", "put v of 0"));
}

TEST_F(ClientPartEndpointRoom, a_put_for_which_there_can_be_no_room_at_once_is_refused_unless_it_waits) {
  make({.blocks = 2});
  const Error never = refusal_of(put(*upper_, "v", 0, ascending<double>(upper_cells, 0), {}, false));
  EXPECT_EQ(never.code, ErrorCode::resources);
  EXPECT_THAT(never.message, HasSubstr("to put this without waiting takes 3 blocks at once"));
  EXPECT_TRUE(rank_->joint().check_usable());
  end_steps();
}

TEST_F(ClientPartEndpointRoom, a_put_that_waits_for_room_in_vain_ends_the_session) {
  make({.blocks = 2, .deadline = std::chrono::milliseconds(100)});
  const Error stuck = refusal_of(put(*upper_, "v", 0, ascending<double>(upper_cells, 0)));
  EXPECT_EQ(stuck.code, ErrorCode::timed_out);
  EXPECT_EQ(stuck.file, "c.nc");
  EXPECT_EQ(stuck.variable, "v");
  EXPECT_THAT(stuck.message, AllOf(HasSubstr("no progress for 0 s while waiting for room: I/O server 0"),
                                   HasSubstr("all of them are in use")));
  EXPECT_EQ(refusal_of(lower_->end_step()).message, stuck.message);
}

TEST_F(ThreadClientPartEndpointRoom, a_put_waits_until_the_server_has_written) {
  make({.blocks = 2});
  std::vector<double> written;
  {
    std::atomic<bool> failed{false};
    const auto put_part = [&](PartEndpoint& endpoint, const std::vector<double>& values) {
      const auto done = put(endpoint, "v", 0, values);
      EXPECT_EQ(done, true);
      if (done != true) failed = true;
    };
    std::jthread upper([&] { put_part(*upper_, ascending<double>(upper_cells, 0)); });
    std::jthread lower([&] { put_part(*lower_, ascending<double>(lower_cells, upper_cells)); });
    std::map<std::uint32_t, std::vector<double>> pieces;
    while (pieces.size() < 4 && !failed) {
      for (const std::string& text : rank_->received()) {
        if (!text.starts_with("v[")) continue;
        const auto piece = static_cast<std::uint32_t>(text[2] - '0');
        pieces[piece] = rank_->piece_values<double>("v", piece, 0);
        rank_->write("v", piece, 0);
      }
      std::this_thread::yield();
    }
    for (const auto& [number, values] : pieces) written.insert(written.end(), values.begin(), values.end());
  }
  EXPECT_EQ(written, ascending<double>(line_cells, 0));
}

// ---- slots

TEST_F(ClientPartEndpointRoom, a_slot_lies_in_the_memory_of_the_server) {
  make();
  const auto slot = upper_->acquire(rank_->file(), "v", 0, Type::float64);
  ASSERT_TRUE(slot) << slot.error().text();
  EXPECT_TRUE(upper_->is_out(*slot));
  EXPECT_EQ(slot->array.count, model::Index(std::vector<std::uint64_t>{upper_cells}));
  ASSERT_TRUE(slot->frames);
  ASSERT_EQ(slot->frames->size(), 3U) << "one per piece";
  const auto values = ascending<double>(upper_cells, 0);
  for (std::size_t i = 0; i < slot->plan->pieces.size(); ++i) {
    const PartPiece& piece = slot->plan->pieces[i];
    (void)piece.copy(values.data(), (*slot->frames)[i] + piece.site.frame_offset,
                     slot->plan->into_piece.kernel);
  }
  ASSERT_EQ(put(*lower_, "v", 0, ascending<double>(lower_cells, upper_cells)), true);
  EXPECT_THAT(rank_->received(), ElementsAre("begin record 0 as 0", "v[3] of 0"))
      << "the slot may be written to";
  ASSERT_TRUE(upper_->commit(*slot, nullptr));
  EXPECT_FALSE(upper_->is_out(*slot));
  EXPECT_THAT(rank_->received(), ElementsAre("v[0] of 0", "v[1] of 0", "v[2] of 0", "put v of 0"));
  EXPECT_EQ(rank_->values<double>("v", 0), ascending<double>(line_cells, 0));
}

TEST_F(ClientPartEndpointRoom, a_slot_that_must_be_converted_or_has_no_room_is_committed_from_a_buffer) {
  make({.blocks = 8});
  const auto converted = upper_->acquire(rank_->file(), "k", 0, Type::float64);
  ASSERT_TRUE(converted);
  EXPECT_FALSE(converted->frames);
  ASSERT_TRUE(upper_->commit(*converted, ascending<double>(upper_cells, 0).data()));
  ASSERT_EQ(put(*lower_, "k", 0, ascending<double>(lower_cells, upper_cells)), true);
  EXPECT_EQ(rank_->values<std::int16_t>("k", 0), ascending<std::int16_t>(line_cells, 0));
  for (std::uint64_t record = 1; record < 5; ++record)
    ASSERT_EQ(put(*lower_, "k", record, ascending<double>(lower_cells, 0)), true);
  const auto without_room = upper_->acquire(rank_->file(), "v", 0, Type::float64);
  ASSERT_TRUE(without_room) << "it does not wait";
  EXPECT_FALSE(without_room->frames);
  EXPECT_TRUE(upper_->is_out(*without_room));
}

TEST_F(ClientPartEndpointRoom, a_commit_of_values_out_of_range_is_refused_and_may_be_repeated) {
  make();
  const auto slot = upper_->acquire(rank_->file(), "k", 0, Type::float64);
  ASSERT_TRUE(slot);
  std::vector<double> values(upper_cells, 1e9);
  const Error bad = refusal_of(upper_->commit(*slot, values.data()));
  EXPECT_EQ(bad.code, ErrorCode::wrong_type);
  EXPECT_EQ(bad.variable, "k");
  EXPECT_THAT(bad.message,
              HasSubstr("5000 values of type float64 are out of range of the file's type int16"));
  EXPECT_THAT(bad.message, HasSubstr("commit the slot again with other values"));
  EXPECT_TRUE(upper_->is_out(*slot));
  ASSERT_TRUE(upper_->commit(*slot, ascending<double>(upper_cells, 0).data()));
  EXPECT_FALSE(upper_->is_out(*slot));
}

TEST_F(ClientPartEndpointRoom, a_slot_keeps_its_values_from_being_put_and_the_step_from_ending) {
  make();
  const auto slot = upper_->acquire(rank_->file(), "v", 0, Type::float64);
  ASSERT_TRUE(slot);
  const auto values = ascending<double>(upper_cells, 0);
  EXPECT_EQ(refusal_of(put(*upper_, "v", 0, values)).code, ErrorCode::conflict);
  EXPECT_EQ(refusal_of(upper_->acquire(rank_->file(), "v", 0, Type::float64)).code, ErrorCode::conflict);
  const auto other = rank_->another_file("other.nc");
  EXPECT_TRUE(upper_->check_nothing_begun("close", other.get()));
  for (const Error& error : {refusal_of(upper_->end_step()), refusal_of(upper_->close()),
                             refusal_of(upper_->check_nothing_begun("close", rank_->file().get()))}) {
    EXPECT_EQ(error.code, ErrorCode::bad_state);
    EXPECT_EQ(error.rank, JointRank::session_rank);
    EXPECT_THAT(error.message,
                HasSubstr("of endpoint 1 ('upper') before 1 of its slots is committed: commit or "
                          "destroy it first"));
  }
  EXPECT_EQ(upper_->steps(), 0U);
  EXPECT_FALSE(upper_->is_closed());
  ASSERT_TRUE(upper_->commit(*slot, nullptr));
  EXPECT_TRUE(upper_->end_step());
}

TEST_F(ClientPartEndpointRoom, values_of_a_slot_that_is_destroyed_are_missing_at_the_end_of_the_step) {
  make();
  const auto slot = upper_->acquire(rank_->file(), "v", 0, Type::float64);
  ASSERT_TRUE(slot);
  upper_->forget(*slot);
  EXPECT_FALSE(upper_->is_out(*slot));
  const Error again = refusal_of(put(*upper_, "v", 0, ascending<double>(upper_cells, 0)));
  EXPECT_EQ(again.code, ErrorCode::conflict);
  EXPECT_THAT(again.message,
              HasSubstr("a slot of record 0 of the variable was acquired by this caller and destroyed "
                        "without commit"));
  ASSERT_EQ(put(*lower_, "v", 0, ascending<double>(lower_cells, upper_cells)), true);
  ASSERT_TRUE(upper_->end_step());
  ASSERT_TRUE(lower_->end_step());
  const Error missing = refusal_of(rank_->end_session_step());
  EXPECT_EQ(missing.code, ErrorCode::bad_state);
  EXPECT_THAT(missing.message,
              HasSubstr("5000 of 8192 values of variable 'v', record 0 of c.nc are missing: not "
                        "handed over by endpoint 1 ('upper')"));
}

// ---- reading

/// Also a file that is read: "t" on the line in four pieces, strings "s", and "r" with two records.
class ClientPartEndpointReads : public test::TwoEndpoints {
 protected:
  void make_reader() {
    make();
    const model::InputSizes sizes{JointRank::piece_cells * sizeof(double), 1 << 20};
    reader_.emplace(rank_->core(), std::vector<std::size_t>{0}, sizes, rank_->profile(), Reader::Host{});
    reads_.emplace(rank_->core(), *reader_, rank_->joint());
    rank_->handle = [this](std::size_t server, std::span<const std::byte> message) -> Result<> {
      const auto kind = wire::kind_of(message);
      if (kind == wire::InputMemory::kind)
        return reader_->map_memory(server, wire::decode<wire::InputMemory>(message).value());
      if (kind == wire::InputPiece::kind)
        return reader_->answer(server, wire::decode<wire::InputPiece>(message).value());
      return {};
    };
    input_ = std::make_shared<Input>();
    input_->path = "in.nc";
    wire::InputOpened answer;
    answer.schema.dimension("x", line_cells).dimension("time", unlimited);
    answer.schema.variable("t", Type::float64, {"x"});
    answer.schema.variable("s", Type::string, {"x"});
    answer.schema.variable("r", Type::float64, {"time", "x"});
    answer.records = 2;
    input_->opened(std::move(answer), sizes);
  }
  Result<> get(PartEndpoint& endpoint, const std::string& variable, const Selection& what,
               std::vector<double>& to) {
    return endpoint.get(*reads_, input_, variable, what, to.data(), Type::float64, {});
  }

  std::shared_ptr<Input> input_;
  std::optional<Reader> reader_;
  std::optional<EndpointReads> reads_;
};

TEST_F(ClientPartEndpointReads, a_wrong_request_is_refused_at_once) {
  make_reader();
  std::vector<double> to(line_cells);
  const auto refused = [&](const std::string& variable, const Selection& what) {
    const Error error = refusal_of(get(*upper_, variable, what, to));
    EXPECT_EQ(error.file, "in.nc") << error.text();
    EXPECT_EQ(error.variable, variable);
    EXPECT_EQ(error.rank, JointRank::session_rank);
    EXPECT_THAT(error.context, ElementsAre("by endpoint 1 ('upper')"));
    return std::pair(error.code, error.message);
  };
  const auto is = [](ErrorCode code, const std::string& text) {
    return ::testing::Pair(code, HasSubstr(text));
  };
  EXPECT_THAT(refused("u", {}), is(ErrorCode::unknown_name, "the file has no variable 'u'"));
  EXPECT_THAT(refused("s", {}), is(ErrorCode::wrong_type, "variable 's' holds strings"));
  EXPECT_THAT(refused("r", {.record = 2}), is(ErrorCode::invalid_argument, "the file has 2"));
  Selection both;
  both.decomposition = "line";
  both.block = Block{{line_cells}, {0}, {1}};
  EXPECT_THAT(refused("t", both),
              is(ErrorCode::invalid_argument, "a decomposition ('line') and a block are requested"));
  EXPECT_THAT(refused("t", {.decomposition = "odd points"}),
              is(ErrorCode::bad_state, "this endpoint has no part of decomposition 'odd points'"));
  EXPECT_THAT(rank_->received(), IsEmpty());
}

using ThreadClientPartEndpointReads = ClientPartEndpointReads;

TEST_F(ThreadClientPartEndpointReads, an_endpoint_reads_its_own_part_of_a_decomposition) {
  assert_role(ingest_thread);  // the test is the server
  make_reader();
  constexpr std::uint64_t piece_bytes = JointRank::piece_cells * sizeof(double);
  transport::shm::SharedMemory memory = transport::shm::Mapping::create(4 * piece_bytes).value();
  ASSERT_TRUE(memory.mapping.allocate({{0, 4 * piece_bytes}}));
  const auto in_file = ascending<double>(line_cells, 0);
  std::memcpy(memory.mapping.data(), in_file.data(), 4 * piece_bytes);
  std::vector<double> got(lower_cells);
  std::vector<std::uint64_t> asked;
  std::vector<std::uint64_t> taken;
  transport::ServerPort& port = rank_->port(0);
  const auto answer = [&] {
    while (const auto message = port.peek(0)) {
      if (wire::kind_of(*message) == wire::InputTaken::kind)
        taken.push_back(wire::decode<wire::InputTaken>(*message).value().piece);
      if (wire::kind_of(*message) == wire::GetInput::kind) {
        const auto request = wire::decode<wire::GetInput>(*message).value();
        asked = request.pieces;
        port.send(0, wire::encode(wire::InputMemory{memory.door.address(), memory.mapping.size()}));
        for (const std::uint64_t piece : request.pieces)
          port.send(0, wire::encode(wire::InputPiece{request.request, piece, piece * piece_bytes, {}}));
      }
      port.pop(0);
    }
    port.pump();
  };
  {
    std::atomic<bool> ended{false};
    std::jthread endpoint([&] {
      const auto result = get(*lower_, "t", {.decomposition = "line"}, got);
      EXPECT_TRUE(result) << result.error().text();
      ended = true;
    });
    while (!ended) {
      answer();
      std::this_thread::yield();
    }
  }
  answer();
  EXPECT_THAT(asked, ElementsAre(2, 3)) << "those in which it has points";
  EXPECT_THAT(taken, ElementsAre(2, 3));
  EXPECT_EQ(got, ascending<double>(lower_cells, upper_cells));
}

}  // namespace
}  // namespace afterbay::client
