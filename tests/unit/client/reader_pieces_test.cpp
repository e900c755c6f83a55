// SPDX-License-Identifier: Apache-2.0
// The pieces that a rank reads: which server is asked for which and when, and what is done with the
// answers.
#include "client/reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "unit/client/reading_rank.hpp"

namespace afterbay::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using ClientReaderPieces = test::ReadingRank;

// ---- reading from the servers' memory

TEST_F(ClientReaderPieces, pieces_are_asked_of_the_readers_in_turn_and_given_back_when_they_are_copied) {
  make();
  const auto input = open();
  share_memory();
  answer_record(1, 3);
  std::vector<double> got(points, -1);
  const auto read = reader_->get(input, "t", {.record = 3}, got.data(), Type::float64, {});
  ASSERT_TRUE(read) << read.error().text();
  for (std::uint64_t i = 0; i < points; ++i) EXPECT_EQ(got[i], value_in_file(3, i)) << i;
  EXPECT_THAT(links_[0]->sent, IsEmpty());
  const std::vector<std::vector<std::uint64_t>> pieces{{}, {0, 2}, {1}};
  for (const std::size_t s : {1U, 2U}) {
    const auto asked = requests_to(s);
    ASSERT_THAT(asked, SizeIs(1)) << s;
    EXPECT_EQ(asked[0].request, 1U);
    EXPECT_EQ(asked[0].input, 0U);
    EXPECT_EQ(asked[0].variable, 0U);
    EXPECT_EQ(asked[0].record, 3U);
    EXPECT_FALSE(asked[0].ahead);
    EXPECT_EQ(asked[0].pieces, pieces[s]);
    EXPECT_FALSE(asked[0].part) << "the rank copies its part itself";
    std::vector<std::uint64_t> taken;
    for (const auto& it : links_[s]->all_sent<wire::InputTaken>()) {
      EXPECT_EQ(it.request, 1U);
      taken.push_back(it.piece);
    }
    EXPECT_EQ(taken, pieces[s]);
  }
}

TEST_F(ClientReaderPieces, which_server_reads_a_piece_depends_on_file_and_variable_too) {
  make();
  open(0);
  const auto second = open(1);
  ASSERT_TRUE(reader_->prefetch(*second, "t", {.record = 0}));
  EXPECT_THAT(requests_to(1).at(0).pieces, ElementsAre(1));
  EXPECT_THAT(requests_to(2).at(0).pieces, ElementsAre(0, 2));
  ASSERT_TRUE(reader_->prefetch(*second, "big", {}));
  EXPECT_THAT(requests_to(1).at(1).pieces, ElementsAre(0, 2));
  EXPECT_THAT(requests_to(2).at(1).pieces, ElementsAre(1));
}

TEST_F(ClientReaderPieces, a_part_needs_the_pieces_in_which_it_has_points) {
  make();
  const auto input = open();
  share_memory();
  answer_piece(2, 1, 2, 1);
  answer_piece(1, 1, 2, 2);
  Selection block{.record = 2};
  block.block = Block{{}, {6}, {4}};
  std::vector<float> got(8, -1);
  MemoryLayout memory;
  memory.shape = {8};
  memory.offset = {1};
  const auto read = reader_->get(input, "t", block, got.data(), Type::float32, memory);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_THAT(got, ElementsAre(-1, 206, 207, 208, 209, -1, -1, -1));
  EXPECT_THAT(requests_to(1).at(0).pieces, ElementsAre(2));
  EXPECT_THAT(requests_to(2).at(0).pieces, ElementsAre(1));
}

TEST_F(ClientReaderPieces, a_decomposition_is_looked_up_by_its_name) {
  make();
  decompositions_ = {
      {.id = 4, .name = "line", .coverage = {}, .block = Block{{points}, {8}, {3}}, .map = nullptr}};
  const auto input = open();
  share_memory();
  answer_piece(1, 1, 0, 2);
  std::vector<double> got(3);
  ASSERT_TRUE(
      reader_->get(input, "t", {.record = 0, .decomposition = "line"}, got.data(), Type::float64, {}));
  EXPECT_THAT(got, ElementsAre(8, 9, 10));
  EXPECT_EQ(refused(input, "t", {.record = 0, .decomposition = "lines"}, got.data()).code,
            ErrorCode::unknown_name);
}

TEST_F(ClientReaderPieces, points_that_a_rank_lists_twice_are_read_into_both_elements) {
  make();
  Map map;
  map.global = {points};
  map.indices = {11, 0, -1, 1, 0};
  decompositions_ = {{.id = 0, .name = "halo", .coverage = {}, .block = {}, .map = nullptr}};
  decompositions_[0].map = std::make_shared<MapPart>(
      model::Index(map.global), model::make_listed_runs("halo", map, Repeats::first).value());
  const auto input = open();
  share_memory();
  answer_piece(1, 1, 5, 0);
  answer_piece(1, 1, 5, 2);
  std::vector<double> got(5, -1);
  ASSERT_TRUE(
      reader_->get(input, "t", {.record = 5, .decomposition = "halo"}, got.data(), Type::float64, {}));
  EXPECT_THAT(got, ElementsAre(511, 500, -1, 501, 500)) << "a hole keeps its value";
  EXPECT_THAT(requests_to(2), IsEmpty()) << "it has no point in that piece";
}

TEST_F(ClientReaderPieces, values_out_of_range_are_counted_and_the_others_read) {
  make();
  const auto input = open();
  share_memory();
  answer_record(1, 2);
  std::vector<std::int8_t> got(points, -1);
  const Error error = refused(input, "t", {.record = 2}, got.data(), Type::int8);
  EXPECT_EQ(error.code, ErrorCode::wrong_type);
  EXPECT_THAT(error.message,
              HasSubstr("12 values of the file's type float64 are out of range of int8; the rest was read"));
  answer_record(2, 1);
  const Error some = refused(input, "t", {.record = 1, .records = 1}, got.data(), Type::int8);
  EXPECT_EQ(some.code, ErrorCode::internal) << "values up to 111 fit";
  for (std::uint64_t i = 0; i < points; ++i) EXPECT_EQ(got[i], 100 + static_cast<int>(i));
}

TEST_F(ClientReaderPieces, records_are_asked_for_two_at_a_time_and_four_more_are_read_ahead) {
  make();
  const auto input = open();
  share_memory();
  std::vector<double> got(7 * points, -1);
  const auto job =
      reader_->begin(input, "t", {.record = 1, .records = 7}, nullptr, got.data(), Type::float64, {});
  ASSERT_TRUE(job) << job.error().text();
  EXPECT_EQ(reader_->advance(**job), false);
  EXPECT_THAT(records_asked(), ElementsAre(1, 2, -3, -4, -5));
  ASSERT_TRUE(core_->poll());
  EXPECT_EQ(reader_->advance(**job), false) << "nothing has come";
  EXPECT_THAT(records_asked(), SizeIs(5)) << "nothing is asked twice";
  answer_record(1, 1);
  ASSERT_TRUE(core_->poll());
  EXPECT_TRUE((*job)->can_advance());
  EXPECT_EQ(reader_->advance(**job), false);
  EXPECT_EQ((*job)->taken, 1U);
  EXPECT_THAT(records_asked(), ElementsAre(1, 2, -3, -4, -5, 3, -6));
  answer_record(3, 3);  // before record 2
  ASSERT_TRUE(core_->poll());
  EXPECT_FALSE((*job)->can_advance()) << "records are taken in their order";
  for (std::uint64_t request = 2; request <= 7; ++request) {
    if (request != 3) answer_record(request, request);
    ASSERT_TRUE(core_->poll());
    EXPECT_EQ(reader_->advance(**job), request == 7) << request;
  }
  EXPECT_THAT(records_asked(), ElementsAre(1, 2, -3, -4, -5, 3, -6, 4, -7, 5, 6, 7));
  for (std::uint64_t record = 0; record < 7; ++record)
    for (std::uint64_t i = 0; i < points; ++i)
      ASSERT_EQ(got[record * points + i], value_in_file(record + 1, i)) << record << " " << i;
}

TEST_F(ClientReaderPieces, answers_to_a_job_that_has_ended_are_given_back_and_not_copied) {
  make();
  const auto input = open();
  share_memory();
  std::vector<double> got(points, -1);
  const auto job = reader_->begin(input, "t", {.record = 1}, nullptr, got.data(), Type::float64, {});
  ASSERT_TRUE(job);
  ASSERT_EQ(reader_->advance(**job), false);
  answer_piece(1, 1, 1, 0);
  ASSERT_TRUE(core_->poll());
  reader_->end(**job);
  answer_piece(2, 1, 1, 1);
  answer_piece(1, 1, 1, 2);
  ASSERT_TRUE(core_->poll());
  for (std::uint64_t i = 0; i < piece_points; ++i) EXPECT_EQ(got[i], value_in_file(1, i));
  for (std::uint64_t i = piece_points; i < points; ++i) EXPECT_EQ(got[i], -1);
  EXPECT_THAT(links_[1]->all_sent<wire::InputTaken>(), SizeIs(2));
  EXPECT_THAT(links_[2]->all_sent<wire::InputTaken>(), SizeIs(1));
}

TEST_F(ClientReaderPieces, a_job_fails_if_its_file_is_closed_meanwhile) {
  make();
  const auto input = open();
  std::vector<double> got(points);
  const auto job = reader_->begin(input, "t", {.record = 1}, nullptr, got.data(), Type::float64, {});
  ASSERT_TRUE(job);
  ASSERT_EQ(reader_->advance(**job), false);
  ASSERT_TRUE(reader_->close_input(*input));
  const auto ended = reader_->advance(**job);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::bad_state);
  EXPECT_THAT(ended.error().message, HasSubstr("the file was closed on this rank while it was being read"));
}

TEST_F(ClientReaderPieces, an_error_in_a_piece_ends_the_read_after_what_was_requested_has_come) {
  make();
  const auto input = open();
  share_memory();
  links_[1]->answer(wire::InputPiece{1, 0, 0, Error(ErrorCode::io, "a bad sector")});
  answer_piece(2, 1, 0, 1);
  links_[1]->answer(wire::InputPiece{1, 2, 0, Error(ErrorCode::io, "another one")});
  answer_record(2, 1);
  std::vector<double> got(4 * points, -1);
  const Error error = refused(input, "t", {.record = 0, .records = 4}, got.data());
  EXPECT_EQ(error.code, ErrorCode::io);
  EXPECT_EQ(error.message, "a bad sector") << "the first one";
  EXPECT_EQ(got[points], value_in_file(1, 0)) << "this record was requested before";
  EXPECT_EQ(got[2 * points], -1) << "nothing is requested after the error";
  EXPECT_THAT(links_[2]->all_sent<wire::InputTaken>(), SizeIs(2));
  EXPECT_THAT(links_[1]->all_sent<wire::InputTaken>(), SizeIs(2))
      << "pieces with an error are not in the memory";
  EXPECT_TRUE(core_->is_usable());
}

TEST_F(ClientReaderPieces, a_piece_that_does_not_match_the_request_ends_the_session) {
  make();
  const auto input = open();
  share_memory();
  links_[1]->answer(wire::InputPiece{1, 0, memory_.mapping.size(), {}});
  std::vector<double> got(points);
  const Error outside = refused(input, "t", {.record = 0}, got.data());
  EXPECT_EQ(outside.code, ErrorCode::internal);
  EXPECT_THAT(outside.message, HasSubstr("I/O server 1 sent"));
  EXPECT_THAT(outside.message, HasSubstr("of piece 0, which do not match the request"));
  EXPECT_FALSE(core_->is_usable());
}

TEST_F(ClientReaderPieces, a_read_that_is_not_answered_names_the_record_and_the_variable) {
  make("100ms");
  const auto input = open();
  std::vector<double> got(points);
  const Error error = refused(input, "t", {.record = 6}, got.data());
  EXPECT_EQ(error.code, ErrorCode::timed_out);
  EXPECT_THAT(error.message, HasSubstr("for record 6 of variable t of in.nc"));
  EXPECT_FALSE(core_->is_usable());
}

// ---- servers that share no memory with the rank

TEST_F(ClientReaderPieces, far_servers_are_told_the_part_and_send_it_packed) {
  make();
  const auto input = open();
  links_[1]->far = links_[2]->far = true;
  const auto packed = [](std::vector<double> values) {
    transport::Bytes bytes(values.size() * sizeof(double));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  };
  links_[2]->answer(wire::InputPiece{1, 1, 0, {}});
  links_[2]->data.push_back(packed({6, 7}));
  links_[1]->answer(wire::InputPiece{1, 2, 0, {}});
  links_[1]->data.push_back(packed({8, 9, 10}));
  Selection block{.record = 0};
  block.block = Block{{}, {6}, {5}};
  std::vector<double> got(5);
  const auto read = reader_->get(input, "t", block, got.data(), Type::float64, {});
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_THAT(got, ElementsAre(6, 7, 8, 9, 10));
  for (const std::size_t s : {1U, 2U}) {
    const auto asked = requests_to(s);
    ASSERT_THAT(asked, SizeIs(1));
    ASSERT_TRUE(asked[0].part);
    EXPECT_THAT(asked[0].part->start, ElementsAre(6));
    EXPECT_THAT(asked[0].part->count, ElementsAre(5));
    EXPECT_EQ(asked[0].part->map, -1);
    EXPECT_EQ(links_[s]->sent.size(), 1U) << "nothing is to be given back, and no cell described";
  }
}

TEST_F(ClientReaderPieces, a_far_piece_of_another_size_ends_the_session) {
  make();
  const auto input = open();
  links_[1]->far = links_[2]->far = true;
  links_[1]->answer(wire::InputPiece{1, 0, 0, {}});
  links_[1]->data.emplace_back(8);
  std::vector<double> got(points);
  const Error error = refused(input, "t", {.record = 0}, got.data());
  EXPECT_EQ(error.code, ErrorCode::internal);
  EXPECT_THAT(error.message,
              HasSubstr("I/O server 1 sent 8 bytes of piece 0, which do not match the request"));
  EXPECT_FALSE(core_->is_usable());
}

TEST_F(ClientReaderPieces, far_servers_hear_once_of_the_cells_of_a_map) {
  make();
  Map map;
  map.global = {points};
  map.indices = {9, 1};
  decompositions_ = {{.id = 2, .name = "cells", .coverage = {}, .block = {}, .map = nullptr}};
  decompositions_[0].map = std::make_shared<MapPart>(
      model::Index(map.global), model::make_listed_runs("cells", map, Repeats::refuse).value());
  const auto input = open();
  links_[1]->far = links_[2]->far = true;
  ASSERT_TRUE(reader_->prefetch(*input, "t", {.record = 0, .decomposition = "cells"}));
  ASSERT_TRUE(reader_->prefetch(*input, "t", {.record = 1, .decomposition = "cells"}));
  const auto described = links_[1]->all_sent<wire::InputCells>();
  ASSERT_THAT(described, SizeIs(1));
  EXPECT_EQ(described[0].map, 2U);
  EXPECT_THAT(described[0].part, ElementsAre(piece_points));
  ASSERT_THAT(described[0].cells, SizeIs(2));
  EXPECT_EQ(described[0].cells[0].cell, 0U);
  EXPECT_THAT(described[0].cells[0].within, ElementsAre(1));
  EXPECT_EQ(described[0].cells[1].cell, 2U);
  EXPECT_THAT(described[0].cells[1].within, ElementsAre(1));
  EXPECT_EQ(wire::kind_of(links_[1]->sent.front()), wire::InputCells::kind) << "before the first request";
  EXPECT_THAT(requests_to(1), SizeIs(2));
  EXPECT_EQ(requests_to(1)[0].part->map, 2);
  EXPECT_THAT(links_[2]->sent, IsEmpty()) << "the rank has no point there";
}

}  // namespace
}  // namespace afterbay::client
