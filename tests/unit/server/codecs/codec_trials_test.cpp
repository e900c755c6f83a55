// SPDX-License-Identifier: Apache-2.0
// When codecs are tried for collections with `compress: auto`, and what is reported of it.
#include "server/codecs/codec_trials.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/served_collection.hpp"

namespace afterbay::server {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

/// Tasks are kept and run by the test, as by workers that have nothing else to do.
class ServerCodecTrials : public ::testing::Test {
 protected:
  static constexpr std::uint64_t plane_bytes = std::uint64_t{256} << 10;

  std::unique_ptr<CodecTrials> make(std::size_t workers) {
    return std::make_unique<CodecTrials>(workers,
                                         [this](WorkerTask task) { tasks_.push_back(std::move(task)); });
  }
  /// A collection with a variable of `planes` chunks. Without `compressors` it asks for no trials.
  const ServedCollection& collection(std::uint32_t id, std::vector<std::string> compressors = {"deflate"},
                                     std::uint64_t planes = 1) {
    auto made = std::make_unique<ServedCollection>();
    made->id = id;
    made->name = "c" + std::to_string(id);
    made->trial_compressors = std::move(compressors);
    made->schema.dimension("time", unlimited)
        .dimension("z", planes)
        .dimension("x", plane_bytes / sizeof(float));
    made->schema.variable("v", Type::float32, {"time", "z", "x"})
        .with_chunk({1, 1, plane_bytes / sizeof(float)})
        .with_deflate(1);
    auto files = std::make_shared<const model::FileLayout>(
        model::make_layout(made->schema, Format::netcdf4, {}).value());
    made->owners = model::FrameOwners(*files, model::FileSharing::none, 1);
    made->layout = files;
    made->sink = make_direct_sink(std::move(files));
    collections_.push_back(std::move(made));
    return *collections_.back();
  }
  /// A worker writes a record of the collection.
  void write(ChunkSampler& sampler, const ServedCollection& collection, std::uint64_t record) {
    const model::FileLayout& files = *collection.sink->file_layout();
    for (std::uint32_t p = 0; p < files.pieces.size(); ++p) {
      const model::Piece piece = files.pieces[p];
      const storage::PieceWrite write{piece, record, std::span(buffer_).first(piece.bytes)};
      sampler.take({&write, 1});
    }
  }
  /// A worker has nothing else to do.
  void run_one() {
    ASSERT_FALSE(tasks_.empty());
    const WorkerTask task = std::move(tasks_.front());
    tasks_.pop_front();
    task();
  }
  /// Runs tasks until there are none, or far too many; their number.
  std::size_t run_all() {
    std::size_t tasks = 0;
    for (; !tasks_.empty() && tasks < 1000; ++tasks) run_one();
    return tasks;
  }

  std::deque<WorkerTask> tasks_;
  std::vector<std::unique_ptr<ServedCollection>> collections_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(plane_bytes);
};

TEST_F(ServerCodecTrials, only_collections_that_ask_for_it_are_measured) {
  assert_role(ingest_thread);  // there is no other
  const auto trials = make(1);
  EXPECT_FALSE(trials->has_any());
  trials->add(collection(1, {}));
  EXPECT_FALSE(trials->has_any());
  EXPECT_EQ(trials->sampler_of(1), nullptr);
  trials->add(collection(2));
  EXPECT_TRUE(trials->has_any());
  EXPECT_NE(trials->sampler_of(2), nullptr);
  EXPECT_EQ(trials->sampler_of(3), nullptr);
  ASSERT_EQ(trials->records().size(), 1U);
  EXPECT_EQ(trials->records()[0].collection, "c2");
}

TEST_F(ServerCodecTrials, a_collection_that_is_defined_again_keeps_what_was_measured) {
  assert_role(ingest_thread);
  const auto trials = make(1);
  const ServedCollection& served = collection(1);
  trials->add(served);
  ChunkSampler* const sampler = trials->sampler_of(1);
  write(*sampler, served, 0);
  trials->record_taken(1, 0, 0);
  trials->add(served);
  EXPECT_EQ(trials->sampler_of(1), sampler);
  EXPECT_EQ(trials->records()[0].records, 1U);
  EXPECT_EQ(trials->records()[0].measured_bytes, plane_bytes);
}

TEST_F(ServerCodecTrials, nothing_is_tried_without_workers) {
  assert_role(ingest_thread);
  const auto trials = make(0);
  trials->add(collection(1));
  EXPECT_TRUE(trials->has_any());
  EXPECT_EQ(trials->sampler_of(1), nullptr) << "nothing is copied either";
  trials->record_taken(1, 0, 0);
  ASSERT_EQ(trials->records().size(), 1U);
  EXPECT_EQ(trials->records()[0].writers, 0U);
  EXPECT_EQ(trials->records()[0].records, 1U);
}

TEST_F(ServerCodecTrials, one_worker_at_a_time_tries_one_chain_on_one_copy) {
  assert_role(ingest_thread);
  const auto trials = make(4);
  const ServedCollection& served = collection(1);
  trials->add(served);
  EXPECT_EQ(tasks_.size(), 0U);
  write(*trials->sampler_of(1), served, 0);
  write(*trials->sampler_of(1), served, 1);
  EXPECT_EQ(tasks_.size(), 1U) << "not one per copy";
  const std::uint32_t chains = trials->records()[0].chains;
  ASSERT_GT(chains, 1U);
  EXPECT_TRUE(trials->records()[0].trials.empty());
  run_one();
  EXPECT_TRUE(trials->records()[0].trials.empty()) << "one of two copies";
  EXPECT_EQ(tasks_.size(), 1U) << "the next task";
  run_one();
  EXPECT_EQ(trials->records()[0].trials.size(), 1U) << "the first chain, on both copies";
  // One task per copy and chain, and one that finds nothing.
  EXPECT_EQ(run_all(), 2 * chains - 2 + 1);
  EXPECT_EQ(trials->records()[0].trials.size(), chains);
  write(*trials->sampler_of(1), served, 2);
  EXPECT_EQ(tasks_.size(), 0U) << "the first two records suffice";
}

TEST_F(ServerCodecTrials, copies_that_come_later_are_tried_too) {
  assert_role(ingest_thread);
  const auto trials = make(1);
  const ServedCollection& first = collection(1);
  const ServedCollection& second = collection(2);
  trials->add(first);
  trials->add(second);
  write(*trials->sampler_of(1), first, 0);
  run_all();
  EXPECT_FALSE(trials->records()[0].trials.empty());
  EXPECT_TRUE(trials->records()[1].trials.empty());
  write(*trials->sampler_of(2), second, 0);
  EXPECT_EQ(tasks_.size(), 1U);
  run_all();
  EXPECT_EQ(trials->records()[1].trials.size(), trials->records()[1].chains);
}

TEST_F(ServerCodecTrials, the_report_has_every_collection_with_its_own_records) {
  assert_role(ingest_thread);
  const auto trials = make(1);
  trials->add(collection(5));
  trials->add(collection(3));
  for (std::uint64_t record = 0; record < 4; ++record) trials->record_taken(5, 0, record);
  trials->record_taken(3, 1, 0);
  trials->record_taken(9, 1, 0);  // it is not measured
  std::vector<std::pair<std::string, std::uint64_t>> records;
  for (const observe::CodecTrialRecord& it : trials->records()) {
    records.emplace_back(it.collection, it.records);
    EXPECT_EQ(it.writers, 1U);
    EXPECT_EQ(it.bytes, plane_bytes);
  }
  EXPECT_THAT(records, ElementsAre(Pair("c3", 1U), Pair("c5", 4U)));
}

TEST_F(ServerCodecTrials, copies_of_all_collections_together_are_bounded) {
  assert_role(ingest_thread);
  const auto trials = make(1);
  constexpr std::uint32_t collections = 6;
  double copied = 0;
  for (std::uint32_t id = 0; id < collections; ++id) {
    const ServedCollection& served = collection(id, {"deflate"}, 8);
    trials->add(served);
    for (std::uint64_t record = 0; record < 2; ++record) write(*trials->sampler_of(id), served, record);
  }
  for (const observe::CodecTrialRecord& it : trials->records()) copied += it.measured_bytes;
  EXPECT_EQ(copied, CodecTrials::most_bytes) << "all there is: they want more together";
  trials->stop();
}

TEST_F(ServerCodecTrials, after_the_end_nothing_is_tried) {
  assert_role(ingest_thread);
  const auto trials = make(1);
  const ServedCollection& served = collection(1);
  trials->add(served);
  write(*trials->sampler_of(1), served, 0);
  ASSERT_EQ(tasks_.size(), 1U);
  trials->stop();
  run_one();
  EXPECT_EQ(tasks_.size(), 0U) << "the task that was submitted before does nothing";
  EXPECT_TRUE(trials->records()[0].trials.empty());
  write(*trials->sampler_of(1), served, 1);
  EXPECT_EQ(tasks_.size(), 0U);
}

}  // namespace
}  // namespace afterbay::server
