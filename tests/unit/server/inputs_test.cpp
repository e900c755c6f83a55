// SPDX-License-Identifier: Apache-2.0
// Inputs without a server and without ranks: what ranks are answered, and when memory is reused.
#include "server/inputs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netcdf.h>

#include <cstring>
#include <deque>
#include <utility>

#include "scratch_directory.hpp"
#include "unit/server/fake_transport.hpp"

namespace afterbay::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Two ranks, 10 and 11 in the session, and a classic file with 12 records of a variable. A record
/// is one piece. Tasks run in `settle`.
class ServerInputs : public ::testing::Test {
 protected:
  static constexpr std::size_t points = 8192, records = 12;

  ServerInputs() {
    config_.memory.input_bytes = 512 << 10;
    inputs_.emplace(Inputs::Host{config_, port_, catalog_, workers_, profile_,
                                 [this](IngestFunction<void()> then) { back_.push_back(std::move(then)); }});
  }
  static double value(std::size_t record, std::size_t point) {
    return static_cast<double>(record * points + point);
  }
  void SetUp() override {
    int nc = 0, time = 0, x = 0, t = 0;
    ASSERT_EQ(nc_create(path_.c_str(), NC_64BIT_DATA, &nc), NC_NOERR);
    ASSERT_EQ(nc_def_dim(nc, "time", NC_UNLIMITED, &time), NC_NOERR);
    ASSERT_EQ(nc_def_dim(nc, "x", points, &x), NC_NOERR);
    const int dimensions[]{time, x};
    ASSERT_EQ(nc_def_var(nc, "t", NC_DOUBLE, 2, dimensions, &t), NC_NOERR);
    ASSERT_EQ(nc_enddef(nc), NC_NOERR);
    for (std::size_t r = 0; r < records; ++r) {
      std::vector<double> values(points);
      for (std::size_t i = 0; i < points; ++i) values[i] = value(r, i);
      const std::size_t start[]{r, 0}, count[]{1, points};
      ASSERT_EQ(nc_put_vara_double(nc, t, start, count, values.data()), NC_NOERR);
    }
    ASSERT_EQ(nc_close(nc), NC_NOERR);
  }
  Result<> open(std::size_t peer, const std::string& path, bool answer = true) {
    return inputs_->open(peer, {.input = 1, .path = path, .answer = answer});
  }
  /// Requests a record; the number of the request is that of the record.
  Result<> get(std::size_t peer, std::uint64_t record, std::optional<wire::InputPart> part = {}) {
    return inputs_->get(
        peer, {.request = record, .input = 1, .variable = 0, .record = record, .pieces = {0}, .part = part});
  }
  Result<> take(std::size_t peer, std::uint64_t record) {
    return inputs_->taken(peer, {.request = record, .piece = 0});
  }
  /// Runs everything that can run.
  void settle() {
    for (bool did = true; did;) {
      did = inputs_->advance();
      while (workers_.run_one()) did = true;
      for (; !back_.empty(); back_.pop_front(), did = true) back_.front()();
    }
  }
  /// The messages of a kind that were sent since `forget_sent`, with their receivers.
  template <class Message>
  std::vector<std::pair<std::size_t, Message>> sent() const {
    std::vector<std::pair<std::size_t, Message>> found;
    for (const auto& [peer, bytes] : port_.sent)
      if (wire::kind_of(bytes) == Message::kind)
        found.emplace_back(peer, wire::decode<Message>(bytes).value());
    return found;
  }
  /// The records that are at hand for ranks, in the order of the answers.
  std::vector<std::uint64_t> ready() const {
    std::vector<std::uint64_t> found;
    for (const auto& [peer, piece] : sent<wire::InputPiece>()) found.push_back(piece.request);
    return found;
  }

  const test::Directory directory_;
  const std::string path_ = (directory_.path / "in.nc").string();
  config::Config config_;
  Catalog catalog_{{10, 11}, config_};
  test::FakePort port_;
  observe::Profile profile_;
  std::deque<IngestFunction<void()>> back_;
  Workers workers_{0};
  std::optional<Inputs> inputs_;
};

TEST_F(ServerInputs, ARankThatAsksGetsTheSchemaOfTheFile) {
  ASSERT_TRUE(open(1, path_, false));
  ASSERT_TRUE(open(0, path_));
  EXPECT_THAT(port_.sent, IsEmpty()) << "a worker opens the file";
  settle();
  const auto opened = sent<wire::InputOpened>();
  ASSERT_THAT(opened, SizeIs(1));
  EXPECT_EQ(opened[0].first, 0u);
  EXPECT_FALSE(opened[0].second.error);
  EXPECT_EQ(opened[0].second.records, records);
  EXPECT_NE(opened[0].second.schema.find_variable("t"), nullptr);
}

TEST_F(ServerInputs, RanksThatOpenDifferentFilesAreNamed) {
  ASSERT_TRUE(open(0, path_));
  const auto other = open(1, "other.nc");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::conflict);
  EXPECT_EQ(other.error().rank, 11);
  EXPECT_THAT(other.error().message, HasSubstr("opens 'other.nc'"));
}

TEST_F(ServerInputs, AFileThatCannotBeOpenedIsAnErrorOfItsRequestsOnly) {
  ASSERT_TRUE(open(0, (directory_.path / "absent.nc").string()));
  ASSERT_TRUE(get(0, 3));
  settle();
  ASSERT_THAT(sent<wire::InputOpened>(), SizeIs(1));
  EXPECT_TRUE(sent<wire::InputOpened>()[0].second.error);
  ASSERT_THAT(ready(), ElementsAre(3));
  EXPECT_TRUE(sent<wire::InputPiece>()[0].second.error);
}

TEST_F(ServerInputs, APieceIsReadOnceForAllRanksThatWaitForIt) {
  for (const std::size_t peer : {0, 1}) {
    ASSERT_TRUE(open(peer, path_, false));
    ASSERT_TRUE(get(peer, 5));
  }
  settle();
  EXPECT_THAT(sent<wire::InputMemory>(), SizeIs(2)) << "each rank hears of the memory once";
  ASSERT_THAT(ready(), ElementsAre(5, 5));
  EXPECT_EQ(sent<wire::InputPiece>()[0].second.offset, sent<wire::InputPiece>()[1].second.offset);
  EXPECT_EQ(profile_.counter("pieces read")->value(), 1u);
}

TEST_F(ServerInputs, ARankWithoutAccessToTheMemoryGetsItsPartOfThePiece) {
  ASSERT_TRUE(open(0, path_, false));
  ASSERT_TRUE(get(0, 7, wire::InputPart{.start = {100}, .count = {50}}));
  settle();
  EXPECT_THAT(sent<wire::InputMemory>(), IsEmpty());
  ASSERT_THAT(port_.data, SizeIs(1));
  std::vector<double> got(50);
  ASSERT_EQ(port_.data[0].parts.size(), 1u);
  ASSERT_EQ(port_.data[0].parts[0].size(), got.size() * sizeof(double));
  std::memcpy(got.data(), port_.data[0].parts[0].data(), got.size() * sizeof(double));
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], value(7, 100 + i)) << i;
}

TEST_F(ServerInputs, PiecesWaitForRoomUntilRanksHaveTakenOthers) {
  ASSERT_TRUE(open(0, path_, false));
  for (std::uint64_t r = 0; r < records; ++r) ASSERT_TRUE(get(0, r));
  settle();
  const std::size_t fit = config_.memory.input_bytes / (points * sizeof(double));
  ASSERT_THAT(ready(), SizeIs(fit));
  ASSERT_TRUE(take(0, 2));
  settle();
  EXPECT_THAT(ready(), SizeIs(fit + 1));
  EXPECT_EQ(ready().back(), fit);
  EXPECT_EQ(sent<wire::InputPiece>().back().second.offset, sent<wire::InputPiece>()[2].second.offset);
  ASSERT_TRUE(get(0, 0));
  EXPECT_EQ(ready().back(), 0u) << "it is still there";
}

TEST_F(ServerInputs, AFileIsClosedWhenNoRankUsesIt) {
  for (const std::size_t peer : {0, 1}) ASSERT_TRUE(open(peer, path_, false));
  ASSERT_TRUE(get(1, 0));
  settle();
  ASSERT_TRUE(inputs_->close(0, {.input = 1}));
  EXPECT_TRUE(get(1, 1)) << "rank 1 has it open";
  settle();
  inputs_->forget(1);
  const auto closed = get(1, 2);
  ASSERT_FALSE(closed);
  EXPECT_THAT(closed.error().message, HasSubstr("which is not open"));
}

}  // namespace
}  // namespace afterbay::server
