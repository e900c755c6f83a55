// SPDX-License-Identifier: Apache-2.0
// ReceivedDefinitions and DataPath without a server and without workers: from what ranks define and
// put to a published file and the answers to the ranks.
#include "server/data_path.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <sstream>

#include "storage/memory/memory_store.hpp"
#include "unit/server/fake_transport.hpp"

namespace afterbay::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Two ranks and server 0 of 1. Tasks run when they are submitted; their results wait for `settle`.
class ServerDataPath : public ::testing::Test {
 protected:
  ServerDataPath() {
    config_.statistics.directory.clear();
    identity_.session_ranks = {10, 11};
    auto port = std::make_unique<test::FakePort>();
    port_ = port.get();
    peers_.emplace(std::move(port), FellowServers::Links(), 2);
    space_.emplace(config_, SpacePolicy::Host{});
    const auto submit = [](const WorkerTask& task, int) { task(); };
    ReceivedDefinitions::Host definitions;
    definitions.preparations.submit = [](const Preparations::Task& task, const Preparations::Then& then) {
      then(task());
    };
    definitions.preparations.has_files = [] { return false; };
    definitions.preparations.session_failed = [] { return false; };
    definitions.preparations.fail = [this](const Error& error) { failures_.push_back(error.message); };
    definitions.contradiction = [this](const Error& error) { failures_.push_back(error.message); };
    definitions.balances_load = [this] { balances_load_ = true; };
    definitions.writes_files = [this] { writes_files_ = true; };
    definitions.completed = [this](const wire::Defined&) -> Result<> {
      ++batches_;
      return {};
    };
    definitions_.emplace(config_, identity_, *peers_, std::move(definitions));
    Observation::Host observation;
    observation.fill_collection = [](std::uint32_t, observe::CollectionState&) {};
    observation_.emplace(config_, identity_, port_->pool, Logger({"test"}, LogLevel::warning, log_), nullptr,
                         profile_, 0, std::move(observation));
    FileTasks::Host tasks;
    tasks.submit = submit;
    tasks.check_time = [](const std::string&) -> Result<> { return {}; };
    tasks.done = [this](FileTaskResult result) { results_.push_back(std::move(result)); };
    tasks.moved = [] {};
    tasks.dropped = [](const Overflow::RecordKey&) {};
    tasks_.emplace(
        config_, identity_, [this](Format) -> storage::Store& { return *store_; }, port_->pool, *observation_,
        *space_, 0, std::move(tasks));
    DataPath::Host host{.peers = *peers_,
                        .definitions = *definitions_,
                        .space = *space_,
                        .tasks = *tasks_,
                        .observation = *observation_,
                        .submit = submit,
                        .post = [](const IngestFunction<void()>& then) { then(); },
                        .work = {},
                        .fail = [this](const Error& error) { failures_.push_back(error.message); },
                        .ranks_ended = [this] { return ranks_ended_; },
                        .assigned_file_ended = [] {}};
    data_.emplace(config_, identity_, std::move(host));
  }
  /// A collection with one variable of strings.
  Result<> define(std::size_t peer, const std::string& name = "log") {
    wire::DefineCollection message;
    message.id = 3;
    message.name = name;
    if (peer == 0) {
      wire::CollectionDefinition& it = message.definition.emplace();
      it.format = Format::memory;
      it.existing = Existing::replace;
      it.servers = {0};
      it.decompositions = {-1};
      it.schema.dimension("time", unlimited).variable("label", Type::string, {"time"});
    }
    return definitions_->add(peer, message);
  }
  void define_all() {
    for (const std::size_t peer : {0, 1}) ASSERT_TRUE(define(peer));
    for (const std::size_t peer : {0, 1})
      ASSERT_TRUE(definitions_->end(peer, {.serial = 1, .writes_files = 1}));
  }
  void open(std::uint64_t file = 1) {
    for (const std::size_t peer : {0, 1}) {
      wire::OpenFile message;
      message.file = file;
      message.collection = 3;
      message.path = "a.nc";
      if (peer == 0) {
        message.changes.emplace();
        message.name.emplace();
      }
      ASSERT_TRUE(data_->open(peer, std::move(message)));
    }
  }
  /// Continues after all tasks that have run.
  void settle() {
    for (; !results_.empty(); results_.pop_front()) ASSERT_TRUE(data_->complete(std::move(results_.front())));
    data_->advance();
  }
  /// The tickets that were answered, by rank, since the last call.
  std::vector<std::pair<std::size_t, std::uint64_t>> answers() {
    std::vector<std::pair<std::size_t, std::uint64_t>> all;
    for (const auto& [peer, message] : port_->sent)
      if (const auto done = wire::decode<wire::TicketDone>(message); done)
        all.emplace_back(peer, done->ticket);
    port_->sent.clear();
    return all;
  }

  config::Config config_;
  ServerIdentity identity_;
  std::unique_ptr<storage::Store> store_ = storage::make_store(Format::memory);
  observe::Profile profile_;
  std::ostringstream log_;
  std::vector<std::string> failures_;
  bool balances_load_ = false, writes_files_ = false, ranks_ended_ = false;
  int batches_ = 0;
  std::deque<FileTaskResult> results_;
  test::FakePort* port_ = nullptr;
  std::optional<Peers> peers_;
  std::optional<SpacePolicy> space_;
  std::optional<ReceivedDefinitions> definitions_;
  std::optional<Observation> observation_;
  std::optional<FileTasks> tasks_;
  std::optional<DataPath> data_;
};

TEST_F(ServerDataPath, RanksGetTheAnswerOnceAllHaveDefined) {
  ASSERT_TRUE(define(0));
  ASSERT_TRUE(definitions_->end(0, {.serial = 1}));
  EXPECT_TRUE(definitions_->awaited());
  EXPECT_THAT(port_->sent, IsEmpty());
  ASSERT_TRUE(define(1));
  ASSERT_TRUE(definitions_->end(1, {.serial = 1, .writes_files = 1}));
  EXPECT_FALSE(definitions_->awaited());
  ASSERT_EQ(port_->sent.size(), 2u);
  for (std::size_t peer : {0, 1}) {
    EXPECT_EQ(port_->sent[peer].first, peer);
    EXPECT_EQ(wire::kind_of(port_->sent[peer].second), wire::Defined::kind);
  }
  EXPECT_TRUE(writes_files_);
  EXPECT_FALSE(balances_load_);
  EXPECT_EQ(batches_, 1);
}

TEST_F(ServerDataPath, RanksThatDefineDifferentThingsAreNamed) {
  ASSERT_TRUE(define(0));
  const auto other = define(1, "restart");
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("defines collection 'restart' differently"));
}

TEST_F(ServerDataPath, AFileIsPublishedWhenAllRanksHaveClosedItAndItsStringsAreWritten) {
  define_all();
  open();
  EXPECT_THAT(answers(), IsEmpty());
  ASSERT_TRUE(data_->put_strings(0, {.file = 1, .record = 0, .variable = 0, .values = {"calm"}}));
  data_->puts().flush(0, {.ticket = 5, .strings = 1});
  data_->advance();
  EXPECT_THAT(answers(), IsEmpty());
  settle();
  EXPECT_THAT(answers(), ElementsAre(std::pair(0, 5)));
  ASSERT_TRUE(data_->close(0, {.file = 1, .ticket = 6}));
  settle();
  EXPECT_THAT(answers(), IsEmpty());
  ASSERT_TRUE(data_->close(1, {.file = 1, .ticket = 7}));
  settle();
  EXPECT_THAT(answers(), ElementsAre(std::pair(0, 6), std::pair(1, 7)));
  const auto file = storage::memory_store_of(*store_)->find("a.nc");
  ASSERT_NE(file, nullptr);
  EXPECT_THAT(file->variables.at(0).strings.at(0), ElementsAre("calm"));
  EXPECT_TRUE(data_->finish());
  EXPECT_THAT(failures_, IsEmpty());
}

TEST_F(ServerDataPath, AFileOfThatNameBeginsWhenTheOlderOneHasEnded) {
  define_all();
  open(1);
  settle();
  open(2);
  EXPECT_THAT(results_, IsEmpty());
  for (const std::size_t peer : {0, 1}) ASSERT_TRUE(data_->close(peer, {.file = 1, .ticket = 1}));
  EXPECT_FALSE(data_->finish());
  settle();
  EXPECT_EQ(data_->files().find(1), nullptr);
  ASSERT_NE(data_->files().find(2), nullptr);
  EXPECT_EQ(data_->files().find(2)->state, OutputFile::State::open);
}

TEST_F(ServerDataPath, AfterAFailureFilesThatAreNotClosedEndAndTicketsStayUnanswered) {
  define_all();
  open();
  settle();
  data_->puts().flush(1, {.ticket = 5, .strings = 1});
  data_->session_failed("a rank is lost");
  settle();
  EXPECT_THAT(answers(), IsEmpty());
  EXPECT_FALSE(data_->finish());  // a message that closes it may be in transit
  ranks_ended_ = true;
  EXPECT_TRUE(data_->finish());
  EXPECT_EQ(storage::memory_store_of(*store_)->find("a.nc"), nullptr);
}

TEST_F(ServerDataPath, MessagesAboutUnknownThingsAreRefused) {
  define_all();
  wire::OpenFile message;
  message.collection = 9;
  EXPECT_FALSE(data_->open(0, message));
  EXPECT_FALSE(data_->frame_ready({.frame = 70, .seq = 1}));
  EXPECT_FALSE(data_->put_strings(0, {.file = 4, .record = 0, .variable = 0, .values = {"calm"}}));
  open();
  EXPECT_FALSE(data_->put_strings(0, {.file = 1, .record = 0, .variable = 8, .values = {"calm"}}));
}

}  // namespace
}  // namespace afterbay::server
