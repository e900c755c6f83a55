// SPDX-License-Identifier: Apache-2.0
// Reducer without a server: when workers take samples, and what is written to a file.
#include "server/reduce/reducer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <sstream>

#include "unit/server/reduce/reduced_collection.hpp"

namespace afterbay::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Keeps the values that it is given.
class ReducedFile : public storage::File {
 public:
  explicit ReducedFile(std::vector<std::vector<double>>& written) : written_(written) {}

  [[nodiscard]] std::uint64_t records() const override { return 0; }
  Result<storage::WriteCost> write(std::span<const storage::PieceWrite> pieces) override {
    for (const storage::PieceWrite& it : pieces) {
      std::vector<double> values(it.bytes.size() / sizeof(double));
      std::memcpy(values.data(), it.bytes.data(), it.bytes.size());
      written_.push_back(std::move(values));
    }
    return storage::WriteCost{};
  }
  Result<storage::WriteCost> write_strings(std::uint32_t, std::uint64_t,
                                           std::span<const std::string>) override {
    return storage::WriteCost{};
  }
  Result<storage::Published> finish() override { return storage::Published{}; }
  void abandon() noexcept override {}
  [[nodiscard]] std::string engine() const override { return "fake"; }

 private:
  std::vector<std::vector<double>>& written_;
};

/// Tasks wait in `submitted_` until `run`.
class ServerReducer : public ::testing::Test {
 protected:
  ServerReducer() {
    assert_role(ingest_thread);
    config_.statistics.directory.clear();
    identity_.session_ranks = {10};
    space_.emplace(config_, SpacePolicy::Host{});
    observation_.emplace(config_, identity_, collection_.frames, Logger({"test"}, LogLevel::warning, log_),
                         nullptr, profile_, 1, Observation::Host{});
    FileTasks::Host host;
    host.submit = [](const WorkerTask& task, int) { task(); };
    host.check_time = [](const std::string&) -> Result<> { return {}; };
    host.done = [this](FileTaskResult result) { done_.push_back(std::get<FrameWritten>(std::move(result))); };
    host.moved = [] {};
    host.dropped = [](const Overflow::RecordKey&) {};
    tasks_.emplace(
        config_, identity_, [](Format) -> storage::Store& { std::abort(); }, collection_.frames,
        *observation_, *space_, 1, std::move(host));
    file_.id = 7;
    file_.collection = &collection_.get();
    file_.path = "a.nc";
    file_.file = std::make_unique<ReducedFile>(written_);
    make(1 << 20);
  }
  void make(std::uint64_t limit) {
    reducer_.emplace(
        limit,
        Reducer::Host{.tasks = *tasks_,
                      .frames = [this]() -> const transport::FramePool& { return collection_.frames; },
                      .submit = [this](WorkerTask task) { submitted_.push_back(std::move(task)); },
                      .hold = [this](OutputFile& file) { held_.push_back(file.id); },
                      .submit_of_file = [this](std::uint64_t, std::uint64_t,
                                               WorkerTask task) { submitted_.push_back(std::move(task)); }});
  }
  void sample(std::uint64_t seq, const std::vector<double>& values) {
    Record& record = records_[seq];
    record.file = wire::no_file;
    record.duration = 60;
    record.meaning = seq == 1 ? wire::RecordKind::first_sample : wire::RecordKind::sample;
    reducer_->take({.collection = &collection_.get(),
                    .view = {.seq = seq, .buffer = collection_.frame(values)},
                    .pieces = {0}},
                   seq, record, 0);
  }
  /// All ranks have handed over the records until `seq`.
  void ended(std::uint64_t seq) {
    for (auto& [number, record] : records_) record.ended = number <= seq;
    reducer_->note(3, records_);
  }
  /// Runs the tasks that may run, one after the other; gives the records to which they belong.
  std::vector<std::uint64_t> run() {
    std::vector<std::uint64_t> ran;
    while (!submitted_.empty()) {
      const WorkerTask task = std::move(submitted_.front());
      submitted_.pop_front();
      task();
      EXPECT_EQ(done_.size(), 1u);
      EXPECT_FALSE(done_.back().error) << done_.back().error->text();
      ran.push_back(done_.back().seq);
      reducer_->done(done_.back().turn.value());
      done_.clear();
    }
    return ran;
  }

  test::ReducedCollection collection_;
  config::Config config_;
  ServerIdentity identity_;
  std::ostringstream log_;
  observe::Profile profile_;
  std::vector<std::vector<double>> written_;
  std::vector<std::uint64_t> held_;
  std::deque<WorkerTask> submitted_;
  std::vector<FrameWritten> done_;
  OutputFile file_;
  std::map<std::uint64_t, Record> records_;
  std::optional<SpacePolicy> space_;
  std::optional<Observation> observation_;
  std::optional<FileTasks> tasks_;
  std::optional<Reducer> reducer_;
};

TEST_F(ServerReducer, WritesTheMeanOfTheSamplesBeforeARecordOfAFile) {
  ASSERT_TRUE(reducer_->add(collection_.get()));
  EXPECT_TRUE(reducer_->has(3));
  EXPECT_GT(reducer_->bytes(), 0u);
  sample(1, {1, 2, 3, 4});
  sample(2, {3, 4, 5, 8});
  records_[3].file = 7;
  records_[3].put = {{true}};
  ended(3);
  reducer_->write_results(file_, 3, records_[3]);
  EXPECT_THAT(held_, ElementsAre(7));
  EXPECT_EQ(records_[1].writes, 1u);
  EXPECT_EQ(records_[3].writes, 1u);
  EXPECT_THAT(run(), ElementsAre(1, 2, 3)) << "in the order of the records";
  EXPECT_THAT(written_, ElementsAre(ElementsAre(2, 3, 4, 6)));
  EXPECT_THAT(collection_.frames.released, ElementsAre(1, 2));
}

TEST_F(ServerReducer, AVariableThatNoRankHasPutIsNotWritten) {
  ASSERT_TRUE(reducer_->add(collection_.get()));
  records_[1].put = {{}};
  ended(1);
  reducer_->write_results(file_, 1, records_[1]);
  EXPECT_THAT(held_, IsEmpty());
  EXPECT_THAT(run(), IsEmpty());
}

TEST_F(ServerReducer, SamplesBeginWhenTheRanksHavePutTheRecordOrNeedItsRoom) {
  ASSERT_TRUE(reducer_->add(collection_.get()));
  sample(1, {1, 2, 3, 4});
  ended(0);
  EXPECT_THAT(run(), IsEmpty()) << "the ranks still put it";
  reducer_->relieve();
  EXPECT_THAT(run(), IsEmpty()) << "there is room";
  collection_.frames.is_full = true;
  reducer_->relieve();
  EXPECT_THAT(run(), ElementsAre(1));
  collection_.frames.is_full = false;
  sample(2, {3, 4, 5, 8});
  ended(1);
  EXPECT_THAT(run(), IsEmpty());
  ended(2);
  EXPECT_THAT(run(), ElementsAre(2));
}

TEST_F(ServerReducer, SamplesOfOneStepBeginInAnyOrderIfRanksNeedRoom) {
  ASSERT_TRUE(reducer_->add(collection_.get()));
  records_[1].file = records_[2].file = wire::no_file;  // samples of the first step
  records_[1].more_of_step = 1;
  sample(2, {1, 2, 3, 4});
  sample(3, {1, 2, 3, 4});  // the next step
  ended(0);
  collection_.frames.is_full = true;
  reducer_->relieve();
  EXPECT_THAT(run(), ElementsAre(2)) << "ranks that wait have not put the first record";
  sample(1, {3, 4, 5, 8});
  EXPECT_THAT(run(), ElementsAre(1));
  ended(2);
  reducer_->relieve();
  EXPECT_THAT(run(), ElementsAre(3));
}

TEST_F(ServerReducer, RefusesStatisticsThatNeedTooMuchMemory) {
  make(8);
  const auto refused = reducer_->add(collection_.get());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::resources);
  EXPECT_THAT(refused.error().message, HasSubstr("memory.statistics is 8"));
  EXPECT_FALSE(reducer_->has(3));
}

}  // namespace
}  // namespace afterbay::server
