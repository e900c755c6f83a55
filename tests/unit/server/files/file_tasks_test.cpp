// SPDX-License-Identifier: Apache-2.0
// FileTasks without a server: what workers do with a file, and what they report.
#include "server/files/file_tasks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "unit/server/fake_transport.hpp"

namespace afterbay::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Remembers what is done with it.
class TaskFile : public storage::File {
 public:
  TaskFile(std::vector<std::string>& calls, bool fails) : calls_(calls), fails_(fails) {}

  [[nodiscard]] std::uint64_t records() const override { return 6; }
  Result<storage::WriteCost> write(std::span<const storage::PieceWrite>) override { return {}; }
  Result<storage::WriteCost> write_strings(std::uint32_t variable, std::uint64_t record,
                                           std::span<const std::string> values) override {
    calls_.push_back(fmt::format("strings {} {} {}", variable, record, values.size()));
    if (fails_) return fail(ErrorCode::io, "the disk is gone");
    return storage::WriteCost{.bytes_in = 40};
  }
  Result<storage::WriteCost> mark_epoch(const storage::Epoch& epoch,
                                        std::span<const storage::MemberEpoch> parts) override {
    calls_.push_back(fmt::format("epoch {} records {} dropped {} parts {}", epoch.number, epoch.records,
                                 epoch.dropped, parts.size()));
    return {};
  }
  Result<storage::MemberEpoch> mark_member_epoch(const storage::Epoch& epoch) override {
    calls_.push_back(fmt::format("member's epoch {}", epoch.number));
    return storage::MemberEpoch{.account = std::vector<std::byte>(5)};
  }
  Result<std::vector<std::byte>> share() override { return std::vector<std::byte>(2); }
  Result<std::vector<std::byte>> hand_over() override {
    if (fails_) return fail(ErrorCode::io, "the disk is gone");
    return std::vector<std::byte>(3);
  }
  Result<storage::Published> finish() override { return {}; }
  void abandon() noexcept override {}
  [[nodiscard]] std::string engine() const override { return "fake"; }

 private:
  std::vector<std::string>& calls_;
  bool fails_;
};

class TaskStore : public storage::Store {
 public:
  explicit TaskStore(std::vector<std::string>& calls) : calls_(calls) {}
  bool fails = false;

  Result<std::unique_ptr<storage::File>> create(const storage::FileRequest& request) override {
    calls_.push_back(
        fmt::format("create {} with {} variables", request.path, request.schema.variables.size()));
    if (fails) return fail(ErrorCode::io, "there is no such directory");
    return std::make_unique<TaskFile>(calls_, false);
  }
  Result<std::unique_ptr<storage::File>> join(const storage::FileRequest& request,
                                              std::span<const std::byte> share,
                                              std::shared_ptr<storage::Placer>) override {
    calls_.push_back(fmt::format("join {} with {} bytes", request.path, share.size()));
    return std::make_unique<TaskFile>(calls_, false);
  }

 private:
  std::vector<std::string>& calls_;
};

class TaskSink : public Sink {
 public:
  TaskSink() : Sink(nullptr) {}
  [[nodiscard]] bool takes_scratch() const noexcept override { return false; }
  Result<storage::WriteCost> write(const CompleteFrame&, storage::File&, ScratchBuffers&,
                                   observe::Timer*) const override {
    return {};
  }
};

class ServerFileTasks : public ::testing::Test {
 protected:
  ServerFileTasks() {
    identity_.session_ranks = {10, 11};
    config_.statistics.directory.clear();
    collection_.id = 4;
    collection_.name = "history";
    collection_.sink = std::make_shared<TaskSink>();
    collection_.format = Format::memory;
    collection_.schema.dimension("time", unlimited);
    collection_.schema.variable("label", Type::string, {"time"});
    file_.id = 7;
    file_.collection = &collection_;
    file_.path = "a.nc";
    file_.file = std::make_unique<TaskFile>(calls_, false);
    space_.emplace(config_, SpacePolicy::Host{});
    observation_.emplace(config_, identity_, frames_, Logger({"test"}, LogLevel::warning, log_), nullptr,
                         profile_, 1, Observation::Host{});
    FileTasks::Host host;
    host.submit = [](WorkerTask task, int) { task(); };
    host.check_time = [this](const std::string& path) -> Result<> {
      if (out_of_time_) return fail(ErrorCode::stopped, "{} is late", path);
      return {};
    };
    host.done = [this](FileTaskResult result) { done_.push_back(std::move(result)); };
    host.moved = [] {};
    host.dropped = [](const Overflow::RecordKey&) {};
    tasks_.emplace(
        config_, identity_, [this](Format) -> storage::Store& { return store_; }, frames_, *observation_,
        *space_, 1, std::move(host));
  }
  /// Runs a task and returns what it reports.
  template <class Report>
  Report run(const WorkerTask& task) {
    EXPECT_THAT(done_, IsEmpty());
    task();
    EXPECT_THAT(done_, SizeIs(1));
    Report report = std::get<Report>(std::move(done_.front()));
    done_.clear();
    return report;
  }
  static storage::Epoch epoch(std::uint64_t number, std::uint64_t records = 0) {
    storage::Epoch it;
    it.number = number;
    it.records = records;
    return it;
  }
  static wire::PutStrings strings() { return {.file = 7, .record = 3, .variable = 0, .values = {"a", "b"}}; }

  config::Config config_;
  ServerIdentity identity_;
  ServedCollection collection_;
  std::vector<std::string> calls_;
  OutputFile file_;
  TaskStore store_{calls_};
  test::FakeFrames frames_;
  std::ostringstream log_;
  observe::Profile profile_;
  bool out_of_time_ = false;
  std::vector<FileTaskResult> done_;
  std::optional<SpacePolicy> space_;
  std::optional<Observation> observation_;
  std::optional<FileTasks> tasks_;
};

TEST_F(ServerFileTasks, CreatesAFileAndTheDataThatItsMembersNeed) {
  FileCreated sole = run<FileCreated>(tasks_->create(file_, {}));
  EXPECT_EQ(sole.file, 7u);
  EXPECT_NE(sole.created, nullptr);
  EXPECT_FALSE(sole.share);
  EXPECT_FALSE(sole.error);
  file_.role = OutputFile::Role::leader;
  EXPECT_THAT(run<FileCreated>(tasks_->create(file_, {})).share, testing::Optional(SizeIs(2)));
  store_.fails = true;
  const FileCreated failed = run<FileCreated>(tasks_->create(file_, {}));
  ASSERT_TRUE(failed.error);
  EXPECT_EQ(failed.created, nullptr);
  EXPECT_THAT(calls_[0], "create a.nc with 1 variables");
}

TEST_F(ServerFileTasks, AMemberJoinsWithTheLeadersData) {
  file_.role = OutputFile::Role::member;
  const FileCreated joined = run<FileCreated>(tasks_->join(file_, {}, std::vector<std::byte>(9), nullptr));
  EXPECT_NE(joined.created, nullptr);
  EXPECT_THAT(calls_, ElementsAre("join a.nc with 9 bytes"));
}

TEST_F(ServerFileTasks, WritesStringsAndCountsThem) {
  const auto written = run<StringsWritten>(tasks_->write_strings(file_, 12, strings()));
  EXPECT_EQ(written.file, 7u);
  EXPECT_EQ(written.number, 12u);
  EXPECT_FALSE(written.error);
  EXPECT_THAT(calls_, ElementsAre("strings 0 3 2"));
  EXPECT_EQ(observation_->profile().of(collection_).write->bytes(), 40u);
}

TEST_F(ServerFileTasks, AnErrorNamesTheVariable) {
  file_.file = std::make_unique<TaskFile>(calls_, true);
  const auto written = run<StringsWritten>(tasks_->write_strings(file_, 12, strings()));
  ASSERT_TRUE(written.error);
  EXPECT_EQ(written.error->variable, "label");
  EXPECT_THAT(written.error->message, HasSubstr("the disk is gone"));
}

TEST_F(ServerFileTasks, NothingIsWrittenToAFileThatIsGivenUpOrLate) {
  const WorkerTask queued = tasks_->write_strings(file_, 12, strings());
  file_.ending = Ending::no_space;
  EXPECT_TRUE(run<StringsWritten>(queued).error);
  file_.ending = Ending::published;
  out_of_time_ = true;
  const auto late = run<EpochMarked>(tasks_->mark_epoch(file_, epoch(2), {}));
  ASSERT_TRUE(late.error);
  EXPECT_EQ(late.error->message, "a.nc is late");
  EXPECT_THAT(calls_, IsEmpty());
}

TEST_F(ServerFileTasks, AnEpochHasAllRecordsOfTheFileAndTheMembersParts) {
  file_.records_dropped = 1;
  const auto marked = run<EpochMarked>(tasks_->mark_epoch(file_, epoch(2, 4), {{}, {}}));
  EXPECT_EQ(marked.epoch, 2u);
  EXPECT_FALSE(marked.part);
  EXPECT_THAT(calls_, ElementsAre("epoch 2 records 6 dropped 1 parts 2"));
}

TEST_F(ServerFileTasks, AMemberReportsItsPart) {
  file_.role = OutputFile::Role::member;
  const auto marked = run<EpochMarked>(tasks_->mark_epoch(file_, epoch(2), {}));
  ASSERT_TRUE(marked.part);
  EXPECT_THAT(marked.part->account, SizeIs(5));
  EXPECT_THAT(run<PartHandedOver>(tasks_->hand_over(file_)).account, SizeIs(3));
  file_.file = std::make_unique<TaskFile>(calls_, true);
  EXPECT_TRUE(run<PartHandedOver>(tasks_->hand_over(file_)).error);
}

}  // namespace
}  // namespace afterbay::server
