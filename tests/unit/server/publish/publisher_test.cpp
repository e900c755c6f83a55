// SPDX-License-Identifier: Apache-2.0
// Publisher without a server: how files are completed and what is reported.
#include "server/publish/publisher.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace afterbay::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A file in memory: it has no part file, and so needs no name.
class PublisherFakeFile : public storage::File {
 public:
  explicit PublisherFakeFile(std::vector<std::string>& calls) : calls_(calls) {}
  bool fails = false;

  [[nodiscard]] std::uint64_t records() const override { return 0; }
  Result<storage::WriteCost> write(std::span<const storage::PieceWrite>) override { return {}; }
  Result<storage::WriteCost> write_strings(std::uint32_t, std::uint64_t,
                                           std::span<const std::string>) override {
    return {};
  }
  Result<> take(std::span<const std::byte> account) override {
    calls_.push_back("take " + std::to_string(account.size()));
    return {};
  }
  void reach(std::uint64_t records) override { calls_.push_back("reach " + std::to_string(records)); }
  Result<storage::Published> finish() override {
    calls_.emplace_back("finish");
    if (fails) return fail(ErrorCode::io, "the disk is gone");
    return storage::Published{.cost = {.bytes_out = 30}, .size_bytes = 70, .checksum = 5};
  }
  void abandon() noexcept override {}
  [[nodiscard]] std::string engine() const override { return "fake"; }

 private:
  std::vector<std::string>& calls_;
};

/// Tasks are kept until the test runs them.
class ServerPublisher : public ::testing::Test {
 protected:
  ServerPublisher() {
    collection_.layout = std::make_shared<model::HandoverLayout>();
    Publisher::Host host;
    host.submit = [this](WorkerTask task, int priority) {
      tasks_.push_back(std::move(task));
      priorities_.push_back(priority);
    };
    host.check_wanted = [](const OutputFile& file) { return file.check_wanted(); };
    host.triggers = [](const OutputFile&) { return std::vector<std::string>{"copy"}; };
    host.wrote = [this](std::uint64_t bytes) { wrote_ += bytes; };
    host.done = [this](PublicationEnded it) { done_.push_back(std::move(it)); };
    publisher_.emplace(journal_, 1, std::move(host));
  }
  OutputFile& file(std::uint64_t id) {
    OutputFile& it = files_.emplace_back();
    it.id = id;
    it.collection = &collection_;
    it.path = std::to_string(id) + ".nc";
    it.file = std::make_unique<PublisherFakeFile>(calls_);
    return it;
  }
  void run_all() {
    for (; !tasks_.empty(); tasks_.pop_front()) tasks_.front()();
  }

  const RunJournal journal_{nullptr};
  ServedCollection collection_;
  std::vector<std::string> calls_;
  std::deque<OutputFile> files_;
  std::deque<WorkerTask> tasks_;
  std::vector<int> priorities_;
  std::vector<PublicationEnded> done_;
  std::uint64_t wrote_ = 0;
  std::optional<Publisher> publisher_;
};

TEST_F(ServerPublisher, AddsPartsAndMissingRecordsBeforeAFileIsFinished) {
  OutputFile& it = file(4);
  it.records_put = 9;
  it.parts.handed.push_back({.account = std::vector<std::byte>(3)});
  publisher_->publish(it, nullptr, 2);
  EXPECT_THAT(priorities_, ElementsAre(2));
  EXPECT_THAT(calls_, IsEmpty());
  run_all();
  EXPECT_THAT(calls_, ElementsAre("take 3", "reach 9", "finish"));
  ASSERT_THAT(done_, SizeIs(1));
  EXPECT_EQ(done_.front().file, 4u);
  EXPECT_EQ(done_.front().bytes, 70u);
  EXPECT_EQ(done_.front().checksum, 5u);
  EXPECT_FALSE(done_.front().error);
  EXPECT_EQ(wrote_, 30u);
}

TEST_F(ServerPublisher, OneTaskPublishesAllFilesThatAreComplete) {
  observe::Profile profile;
  observe::Timer* const timer = profile.timer("publish");
  for (const std::uint64_t id : {1, 2, 3}) publisher_->publish(file(id), timer, 0);
  tasks_.front()();
  EXPECT_THAT(done_, SizeIs(3));
  run_all();  // the other tasks find nothing to do
  EXPECT_THAT(done_, SizeIs(3));
  EXPECT_EQ(timer->count(), 3u);
}

TEST_F(ServerPublisher, AFileThatFailsDoesNotAffectOthers) {
  OutputFile& bad = file(1);
  dynamic_cast<PublisherFakeFile&>(*bad.file).fails = true;
  OutputFile& unwanted = file(2);
  unwanted.ending = Ending::no_space;
  for (OutputFile& it : files_) publisher_->publish(it, nullptr, 0);
  publisher_->publish(file(3), nullptr, 0);
  run_all();
  ASSERT_THAT(done_, SizeIs(3));
  ASSERT_TRUE(done_[0].error);
  EXPECT_EQ(done_[0].error->message, "the disk is gone");
  EXPECT_TRUE(done_[1].error);
  EXPECT_FALSE(done_[2].error);
  EXPECT_THAT(calls_, ElementsAre("reach 0", "reach 0", "finish", "finish"));
}

}  // namespace
}  // namespace afterbay::server
