// SPDX-License-Identifier: Apache-2.0
// The files that a rank reads: how they are opened and closed, which requests are refused, strings,
// and ranks that read together.
#include "client/reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

using ClientReader = test::ReadingRank;

// ---- files

TEST_F(ClientReader, a_file_is_opened_by_all_readers_and_described_by_one) {
  make();
  links_[2]->answer(description(0));
  const auto input = reader_->open_input("out/../in.nc", {.as_of = AsOf::published});
  ASSERT_TRUE(input) << input.error().text();
  EXPECT_EQ((*input)->path, "in.nc");
  EXPECT_EQ((*input)->records, 8U);
  EXPECT_EQ((*input)->schema.variables.size(), 4U);
  EXPECT_THAT(links_[0]->sent, IsEmpty()) << "it does not read";
  for (const std::size_t s : {1U, 2U}) {
    const auto opened = links_[s]->all_sent<wire::OpenInput>();
    ASSERT_THAT(opened, SizeIs(1));
    EXPECT_EQ(opened[0].input, 0U);
    EXPECT_EQ(opened[0].path, "in.nc");
    EXPECT_EQ(opened[0].answer, s == 2) << "ranks of the upper half ask the last reader";
  }
  EXPECT_THAT(asked_host_, IsEmpty());
  links_[2]->answer(description(1));
  ASSERT_TRUE(reader_->open_input("in.nc", {.as_of = AsOf::published}));
  EXPECT_EQ(links_[1]->all_sent<wire::OpenInput>().back().input, 1U) << "files are numbered";
}

TEST_F(ClientReader, what_this_session_writes_is_waited_for_before_it_is_opened) {
  make();
  links_[2]->answer(description(0));
  ASSERT_TRUE(reader_->open_input("./in.nc", {.as_of = AsOf::closed}));
  EXPECT_THAT(asked_host_, ElementsAre("output in.nc"));
  asked_host_.clear();
  part_ = std::optional<std::string>("in.nc.part");
  links_[2]->answer(description(1));
  const auto part = reader_->open_input("in.nc", {.as_of = AsOf::epoch});
  ASSERT_TRUE(part);
  EXPECT_EQ((*part)->path, "in.nc.part");
  EXPECT_EQ(links_[1]->all_sent<wire::OpenInput>().back().path, "in.nc.part");
  EXPECT_THAT(asked_host_, ElementsAre("epoch in.nc")) << "it is not published yet";
  asked_host_.clear();
  part_ = std::optional<std::string>();
  links_[2]->answer(description(2));
  ASSERT_TRUE(reader_->open_input("in.nc", {.as_of = AsOf::epoch}));
  EXPECT_THAT(asked_host_, ElementsAre("epoch in.nc", "output in.nc")) << "as a file that was closed";
}

TEST_F(ClientReader, a_file_that_cannot_be_opened_is_refused_before_a_server_is_asked) {
  make();
  const auto nameless = reader_->open_input("", {});
  ASSERT_FALSE(nameless);
  EXPECT_EQ(nameless.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(nameless.error().rank, 5);
  output_ = fail(ErrorCode::bad_state, "the file is open for output");
  const auto open = reader_->open_input("in.nc", {});
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().message, "the file is open for output");
  EXPECT_EQ(open.error().file, "in.nc");
  part_ = fail(ErrorCode::bad_state, "there was no epoch");
  EXPECT_EQ(reader_->open_input("in.nc", {.as_of = AsOf::epoch}).error().message, "there was no epoch");
  for (const test::ScriptedLink* const link : links_) EXPECT_THAT(link->sent, IsEmpty());
  output_ = Result<>();
  links_[2]->answer(description(0));
  EXPECT_TRUE(reader_->open_input("in.nc", {})) << "the session goes on, and the first file has number 0";
}

TEST_F(ClientReader, a_file_that_no_server_can_read_is_closed_again) {
  make();
  wire::InputOpened answer;
  answer.error = Error(ErrorCode::format, "it is not a netCDF file");
  links_[2]->answer(answer);
  const auto input = reader_->open_input("in.nc", {});
  ASSERT_FALSE(input);
  EXPECT_EQ(input.error().code, ErrorCode::format);
  EXPECT_EQ(input.error().file, "in.nc");
  EXPECT_EQ(input.error().rank, 5);
  for (const std::size_t s : {1U, 2U}) {
    const auto closed = links_[s]->all_sent<wire::CloseInput>();
    ASSERT_THAT(closed, SizeIs(1)) << s;
    EXPECT_EQ(closed[0].input, 0U);
  }
  EXPECT_TRUE(core_->is_usable());
}

TEST_F(ClientReader, servers_that_do_not_describe_a_file_end_the_session) {
  make("100ms");
  const auto input = reader_->open_input("in.nc", {});
  ASSERT_FALSE(input);
  EXPECT_EQ(input.error().code, ErrorCode::timed_out);
  EXPECT_THAT(input.error().message, HasSubstr("for in.nc to be opened for input"));
  EXPECT_FALSE(core_->is_usable());
}

TEST_F(ClientReader, files_are_closed_once) {
  make();
  const auto first = open(0);
  const auto second = open(1);
  const auto third = open(2);
  ASSERT_TRUE(reader_->close_input(*second));
  ASSERT_TRUE(reader_->close_input(*second));
  ASSERT_TRUE(reader_->close_all());
  ASSERT_TRUE(reader_->close_all());
  for (const std::size_t s : {1U, 2U}) {
    std::vector<std::uint64_t> closed;
    for (const auto& it : links_[s]->all_sent<wire::CloseInput>()) closed.push_back(it.input);
    EXPECT_THAT(closed, ElementsAre(1, 2, 0)) << s;
  }
  EXPECT_TRUE(first->closed);
  std::vector<double> to(points);
  const Error closed = refused(third, "big", {}, to.data());
  EXPECT_EQ(closed.code, ErrorCode::bad_state);
  EXPECT_THAT(closed.message, HasSubstr("the file is closed on this rank: open it again"));
}

// ---- requests

TEST_F(ClientReader, a_prefetch_asks_and_does_not_wait) {
  make();
  const auto input = open();
  ASSERT_TRUE(reader_->prefetch(*input, "t", {.record = 5, .records = 2}));
  for (const std::size_t s : {1U, 2U}) {
    const auto asked = requests_to(s);
    ASSERT_THAT(asked, SizeIs(2)) << s;
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_TRUE(asked[i].ahead);
      EXPECT_EQ(asked[i].request, 0U);
      EXPECT_EQ(asked[i].record, 5 + i);
    }
  }
  const auto none = reader_->prefetch(*input, "u", {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::unknown_name);
  EXPECT_EQ(none.error().file, "in.nc");
  EXPECT_EQ(reader_->prefetch(*input, "label", {.record = 0}).error().code, ErrorCode::wrong_type);
  EXPECT_EQ(reader_->prefetch(*input, "t", {.record = 7, .records = 2}).error().code,
            ErrorCode::invalid_argument);
}

TEST_F(ClientReader, a_wrong_request_is_refused_before_a_server_is_asked) {
  make();
  const auto input = open();
  std::vector<double> to(points);
  const auto refusal = [&](const std::string& variable, const Selection& what, Type type = Type::float64,
                           const MemoryLayout& memory = {}) {
    const Error error = refused(input, variable, what, to.data(), type, memory);
    return std::pair(error.code, error.message);
  };
  const auto is = [](ErrorCode code, const std::string& text) {
    return ::testing::Pair(code, HasSubstr(text));
  };
  EXPECT_THAT(refusal("u", {}), is(ErrorCode::unknown_name, "the file has no variable 'u'"));
  EXPECT_THAT(refusal("hidden", {}),
              is(ErrorCode::wrong_type, "variable 'group/hidden' cannot be read: it lies in a group"));
  EXPECT_THAT(refusal("name", {}),
              is(ErrorCode::wrong_type, "variable 'name' holds strings: use get_strings"));
  EXPECT_THAT(refusal("t", {}), is(ErrorCode::invalid_argument, "give the record (0 to 7) to read"));
  EXPECT_THAT(refusal("t", {.record = 8}), is(ErrorCode::invalid_argument, "the file has 8"));
  EXPECT_THAT(refusal("t", {.record = 0, .records = 0}), is(ErrorCode::invalid_argument, "the file has 8"));
  EXPECT_THAT(refusal("big", {.record = 1}), is(ErrorCode::invalid_argument, "it has no records 1 to 1"));
  EXPECT_THAT(refusal("t", {.record = 0}, Type::text),
              is(ErrorCode::wrong_type, "the variable's type float64 cannot be read into data of type text"));
  Selection both{.record = 0, .decomposition = "line"};
  both.block = Block{{}, {0}, {1}};
  EXPECT_THAT(refusal("t", both), is(ErrorCode::invalid_argument, "a decomposition ('line') and a block"));
  Selection beyond{.record = 0};
  beyond.block = Block{{}, {10}, {3}};
  EXPECT_EQ(refusal("t", beyond).first, ErrorCode::invalid_argument);
  MemoryLayout strided;
  strided.strides = {2};
  EXPECT_THAT(
      refusal("t", {.record = 0, .records = 2}, Type::float64, strided),
      is(ErrorCode::invalid_argument, "2 records are read into an array that is described by strides"));
  const Error null = refused(input, "t", {.record = 0, .records = 2}, nullptr);
  EXPECT_EQ(null.code, ErrorCode::invalid_argument);
  EXPECT_THAT(null.message, HasSubstr("the data pointer is null, but 192 bytes are to be read"));
  for (const test::ScriptedLink* const link : links_) EXPECT_THAT(link->sent, IsEmpty());
  EXPECT_TRUE(core_->is_usable());
}

// ---- strings

TEST_F(ClientReader, strings_come_from_one_server) {
  make();
  const auto input = open();
  wire::InputStrings answer{1, {"north", "south"}, {}};
  links_[2]->answer(wire::InputStrings{99, {"of an earlier request"}, {}});
  links_[2]->answer(answer);
  const auto label = reader_->get_strings(*input, "label", 4);
  ASSERT_TRUE(label) << label.error().text();
  EXPECT_THAT(*label, ElementsAre("north", "south"));
  const auto asked = links_[2]->all_sent<wire::GetInputStrings>();
  ASSERT_THAT(asked, SizeIs(1));
  EXPECT_EQ(asked[0].request, 1U);
  EXPECT_EQ(asked[0].variable, 3U);
  EXPECT_EQ(asked[0].record, 4U);
  EXPECT_THAT(links_[1]->sent, IsEmpty());
  answer.request = 2;
  links_[1]->answer(answer);
  ASSERT_TRUE(reader_->get_strings(*input, "name", no_record));
  EXPECT_THAT(links_[1]->all_sent<wire::GetInputStrings>(), SizeIs(1)) << "of another variable";
}

TEST_F(ClientReader, strings_that_cannot_be_read_leave_the_session_usable) {
  make();
  const auto input = open();
  links_[2]->answer(wire::InputStrings{1, {}, Error(ErrorCode::format, "a damaged heap")});
  const auto damaged = reader_->get_strings(*input, "label", 0);
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().message, "a damaged heap");
  EXPECT_EQ(damaged.error().file, "in.nc");
  EXPECT_EQ(damaged.error().variable, "label");
  const auto numbers = reader_->get_strings(*input, "t", 0);
  ASSERT_FALSE(numbers);
  EXPECT_EQ(numbers.error().code, ErrorCode::wrong_type);
  EXPECT_THAT(numbers.error().message, HasSubstr("is of type float64, not of strings: use get"));
  EXPECT_EQ(reader_->get_strings(*input, "label", 8).error().code, ErrorCode::invalid_argument);
  ASSERT_TRUE(reader_->close_input(*input));
  EXPECT_EQ(reader_->get_strings(*input, "label", 0).error().code, ErrorCode::bad_state);
  EXPECT_TRUE(core_->is_usable());
}

// ---- ranks that read together

TEST_F(ClientReader, synchronous_ranks_wait_for_each_other_also_if_a_read_fails) {
  make();
  int arrived = 0;
  core_->set_synchronous([&]() -> Result<std::function<Result<bool>()>> {
    ++arrived;
    return [] { return Result<bool>(true); };
  });
  EXPECT_TRUE(reader_->is_synchronous());
  const auto input = open();
  EXPECT_EQ(arrived, 1) << "all have the file open";
  for (const std::uint64_t piece : {0U, 1U, 2U})
    links_[piece == 1 ? 2 : 1]->answer(wire::InputPiece{1, piece, 0, Error(ErrorCode::io, "a bad sector")});
  std::vector<double> got(points);
  EXPECT_EQ(refused(input, "t", {.record = 0}, got.data()).code, ErrorCode::io);
  EXPECT_EQ(arrived, 2);
  links_[2]->answer(wire::InputStrings{2, {}, Error(ErrorCode::io, "a bad sector")});
  EXPECT_FALSE(reader_->get_strings(*input, "label", 0));
  EXPECT_EQ(arrived, 3);
}

}  // namespace
}  // namespace afterbay::client
