// SPDX-License-Identifier: Apache-2.0
// Preparations without a server: what is prepared, and when the ranks get their answer.
#include "server/prepare/preparations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "unit/server/fake_transport.hpp"

namespace afterbay::server {
namespace {

using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Server 1 with two workers. Tasks are kept until the test runs them.
class ServerPreparations : public ::testing::Test {
 protected:
  void make(std::size_t workers = 2, bool journal = true) {
    Preparations::Host host;
    host.server = 1;
    host.workers = workers;
    host.submit = [this](Preparations::Task task, Preparations::Then then) {
      tasks_.emplace_back(std::move(task), std::move(then));
    };
    host.make_structure = [this](Format, const storage::FileRequest& request) {
      structures_.push_back(request.schema.dimensions.front().name);
    };
    if (journal)
      host.begin_journal = [this]() -> Result<> {
        ++journals_;
        if (journal_fails_) return fail(ErrorCode::io, "the disk is gone");
        return {};
      };
    host.make_buffer = [this](std::uint64_t bytes) { buffers_.push_back(bytes); };
    host.has_files = [this] { return has_files_; };
    host.session_failed = [this] { return session_failed_; };
    host.fail = [this](Error error) {
      errors_.push_back(error.message);
      session_failed_ = true;
    };
    host.answer = [this](const wire::Defined& answer) { answers_.push_back(answer.serial); };
    preparations_.emplace(std::move(host));
  }
  static ServedCollection collection(const std::string& name) {
    ServedCollection it;
    it.schema.dimension(name, 8);
    it.sink = make_direct_sink(std::make_shared<model::FileLayout>());
    return it;
  }
  void complete(std::uint64_t serial) {
    wire::Defined answer;
    answer.serial = serial;
    preparations_->complete(catalog_, answer);
  }
  void run_one() {
    auto [task, then] = std::move(tasks_.front());
    tasks_.pop_front();
    then(task());
  }
  void run_all() {
    while (!tasks_.empty()) run_one();
  }

  config::Config config_;
  Catalog catalog_{{10}, config_};
  std::deque<std::pair<Preparations::Task, Preparations::Then>> tasks_;
  std::vector<std::string> structures_, errors_;
  std::vector<std::uint64_t> buffers_, answers_;
  int journals_ = 0;
  bool journal_fails_ = false, has_files_ = false, session_failed_ = false;
  std::optional<Preparations> preparations_;
};

TEST_F(ServerPreparations, AnswersAtOnceIfThereIsNothingToPrepare) {
  make();
  complete(5);
  EXPECT_THAT(answers_, ElementsAre(5));
  EXPECT_FALSE(preparations_->holds_answer());
}

TEST_F(ServerPreparations, TheAnswerWaitsForStructuresAndTheJournal) {
  make();
  const ServedCollection first = collection("x"), second = collection("y");
  preparations_->begin(first);
  preparations_->begin(second);
  complete(5);
  EXPECT_TRUE(preparations_->holds_answer());
  EXPECT_THAT(tasks_, SizeIs(2));  // one structure after the other, and the journal
  run_one();
  EXPECT_THAT(structures_, ElementsAre("x"));
  EXPECT_THAT(answers_, IsEmpty());
  run_all();
  EXPECT_THAT(structures_, ElementsAre("x", "y"));
  EXPECT_EQ(journals_, 1);
  EXPECT_THAT(answers_, ElementsAre(5));
}

TEST_F(ServerPreparations, LaterDefinitionsAreAnsweredAtOnce) {
  make();
  const ServedCollection late = collection("x");
  preparations_->begin(late);
  has_files_ = true;
  complete(6);
  EXPECT_THAT(answers_, ElementsAre(6));
}

TEST_F(ServerPreparations, PreparesNothingWithoutWorkersAndForFilesOfOtherServers) {
  make(0);
  const ServedCollection own = collection("x");
  preparations_->begin(own);
  EXPECT_THAT(tasks_, IsEmpty());
  make();
  ServedCollection shared = collection("x");
  shared.sharing = model::FileSharing::slab;
  shared.first = 0;
  preparations_->begin(shared);
  EXPECT_THAT(tasks_, IsEmpty());
  shared.first = 1;
  preparations_->begin(shared);
  EXPECT_THAT(tasks_, SizeIs(2));
}

TEST_F(ServerPreparations, PreparesNoStructureOfFilesThatAreAppendedTo) {
  make(2, false);
  ServedCollection appended = collection("x");
  appended.existing = Existing::append;
  preparations_->begin(appended);
  EXPECT_THAT(tasks_, IsEmpty());
}

TEST_F(ServerPreparations, ATaskThatFailsEndsTheSessionWithoutAnAnswer) {
  make();
  journal_fails_ = true;
  const ServedCollection it = collection("x");
  preparations_->begin(it);
  complete(5);
  run_all();
  EXPECT_THAT(errors_, ElementsAre("the disk is gone"));
  EXPECT_THAT(answers_, IsEmpty());
  EXPECT_TRUE(preparations_->holds_answer());
}

TEST_F(ServerPreparations, AnErrorAfterTheFailureOfTheSessionIsNotReported) {
  make();
  journal_fails_ = true;
  const ServedCollection it = collection("x");
  preparations_->begin(it);
  session_failed_ = true;
  run_all();
  EXPECT_THAT(errors_, IsEmpty());
}

TEST_F(ServerPreparations, MakesOneBufferPerWorkerForTheFirstBatchThatNeedsThem) {
  make(2, false);
  Schema schema;
  schema.dimension("x", 8).variable("t", Type::float64, {"x"}).on("grid");
  wire::DefineDecomposition grid;
  grid.name = "grid";
  grid.held = grid.check = grid.used = grid.here = 1;
  grid.block.global = {8};
  grid.block.start = {0};
  grid.block.count = {8};
  ASSERT_TRUE(catalog_.add(0, grid));
  wire::DefineCollection message;
  message.id = 3;
  message.name = "history";
  wire::CollectionDefinition& definition = message.definition.emplace();
  definition.format = Format::cdf5;
  definition.servers = {1};
  definition.decompositions = {0};
  definition.stages = {{0, "multiply", "2"}};
  definition.schema = schema;
  ASSERT_TRUE(catalog_.add(0, message));
  ASSERT_TRUE(catalog_.end(0, {.serial = 1}).value());
  test::FakeFrames frames;
  const wire::Defined defined = catalog_.complete(frames).value();
  preparations_->complete(catalog_, defined);
  preparations_->complete(catalog_, defined);
  EXPECT_THAT(tasks_, SizeIs(2));
  run_all();
  EXPECT_THAT(buffers_, ElementsAre(Gt(4096u), Gt(4096u)));
}

}  // namespace
}  // namespace afterbay::server
