// SPDX-License-Identifier: Apache-2.0
// What is copied of a collection with `compress: auto`, and what trials of the copies give.
#include "server/codecs/collection_trial.hpp"

#include <gtest/gtest.h>

#include "server/served_collection.hpp"

namespace afterbay::server {
namespace {

/// Records of 16 MiB and of 80 bytes, and a fixed variable.
class ServerCollectionTrial : public ::testing::Test {
 protected:
  ServerCollectionTrial() {
    it_.name = "h";
    it_.trial_compressors = {"deflate"};
    it_.schema.dimension("time", unlimited).dimension("y", 2048).dimension("x", 2048).dimension("n", 10);
    it_.schema.variable("large", Type::float32, {"time", "y", "x"}).with_deflate(1);
    it_.schema.variable("small", Type::float64, {"time", "n"}).with_deflate(1);
    it_.schema.variable("fixed", Type::float64, {"n"}).with_deflate(1);
    it_.schema.variable("plain", Type::float64, {"time", "n"});
    auto files = std::make_shared<const model::FileLayout>(
        model::make_layout(it_.schema, Format::netcdf4, {}).value());
    it_.owners = model::FrameOwners(*files, model::FileSharing::none, 1);
    it_.layout = files;
    it_.sink = make_direct_sink(std::move(files));
    for (std::size_t i = 0; i < buffer_.size(); ++i) buffer_[i] = std::byte(i / 100 % 7);
  }

  void write_record(CollectionTrial& trial, std::uint64_t record) {
    const model::FileLayout& files = *it_.sink->file_layout();
    for (std::uint32_t p = 0; p < files.pieces.size(); ++p) {
      const model::Piece piece = files.pieces[p];
      const storage::PieceWrite write{piece, record, std::span(buffer_).first(piece.bytes)};
      trial.take({&write, 1});
    }
  }

  ServedCollection it_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(std::size_t{4} << 20);
  int came_ = 0;
};

TEST_F(ServerCollectionTrial, copies_parts_of_the_first_records) {
  assert_role(ingest_thread);  // there is no other
  SampleRoom room(std::uint64_t{16} << 20);
  CollectionTrial trial(it_, room, [&] { ++came_; });
  EXPECT_FALSE(trial.has_samples());
  EXPECT_FALSE(trial.try_one());
  write_record(trial, 0);
  EXPECT_TRUE(trial.has_samples());
  const double of_one = trial.record().measured_bytes;
  write_record(trial, 1);
  const double of_two = trial.record().measured_bytes;
  EXPECT_GE(of_one, 1 << 20);
  EXPECT_EQ(of_two, 2 * of_one);
  EXPECT_LE(of_two, CollectionTrial::wanted_bytes + CollectionTrial::most_copy_bytes);
  write_record(trial, 2);
  EXPECT_EQ(trial.record().measured_bytes, of_two);
  EXPECT_NEAR(trial.record().bytes, (16 << 20) + 80, 1);
  EXPECT_GT(came_, 0);
}

TEST_F(ServerCollectionTrial, reports_chains_that_were_tried_on_everything) {
  assert_role(ingest_thread);
  SampleRoom room(std::uint64_t{16} << 20);
  CollectionTrial trial(it_, room, [] {});
  write_record(trial, 0);
  write_record(trial, 1);
  EXPECT_TRUE(trial.record().trials.empty());
  std::size_t known = 0;
  std::uint32_t units = 0;
  while (trial.try_one()) {
    ++units;
    const std::size_t now = trial.record().trials.size();
    EXPECT_TRUE(now == known || now == known + 1);
    known = now;
  }
  const observe::CodecTrialRecord record = trial.record();
  ASSERT_EQ(record.trials.size(), record.chains);
  EXPECT_EQ(units % record.chains, 0U);
  EXPECT_TRUE(record.trials[0].filters.empty());
  EXPECT_NEAR(record.trials[0].bytes, record.bytes, 1e-6 * record.bytes);
  EXPECT_EQ(record.trials[0].seconds, 0);
  for (std::size_t c = 1; c < record.trials.size(); ++c) {
    EXPECT_LT(record.trials[c].bytes, record.bytes / 10) << c;
    EXPECT_GT(record.trials[c].seconds, 0) << c;
  }
  EXPECT_TRUE(room.take(std::uint64_t{16} << 20));  // all copies are gone
}

TEST_F(ServerCollectionTrial, takes_no_more_memory_than_there_is) {
  assert_role(ingest_thread);
  SampleRoom room(std::uint64_t{1} << 20);
  CollectionTrial trial(it_, room, [] {});
  write_record(trial, 0);
  write_record(trial, 1);
  EXPECT_LE(trial.record().measured_bytes, 1 << 20);
  EXPECT_NEAR(trial.record().bytes, (16 << 20) + 80, 1);
}

TEST_F(ServerCollectionTrial, counts_records_that_come_in_parts_once) {
  assert_role(ingest_thread);
  SampleRoom room(0);
  CollectionTrial trial(it_, room, [] {});
  EXPECT_EQ(trial.record().records, 0U);
  trial.record_taken(1, 0);
  trial.record_taken(1, 0);
  trial.record_taken(1, 1);
  trial.record_taken(2, 0);
  EXPECT_EQ(trial.record().records, 3U);
  EXPECT_LE(trial.record().first_s, trial.record().last_s);
}

}  // namespace
}  // namespace afterbay::server
