// SPDX-License-Identifier: Apache-2.0
// TriggerRunner with real triggers: what is fired when, what the journal hears, and how long the
// end waits.
#include "server/triggers/trigger_runner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <sstream>
#include <thread>

#include "scratch_directory.hpp"

namespace afterbay::server {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint64_t trigger_runner_second_ns = 1'000'000'000;

class ServerTriggerRunner : public ::testing::Test {
 protected:
  ServerTriggerRunner() {
    identity_.run = "run-1";
    identity_.servers = 3;
  }

  void configure(triggers::Occasion on, const std::string& command) {
    triggers::Trigger trigger;
    trigger.name = "archive";
    trigger.on = on;
    trigger.command = command;
    config_.triggers.all.push_back(std::move(trigger));
  }

  std::unique_ptr<TriggerRunner> make() {
    return std::make_unique<TriggerRunner>(
        config_, identity_, Logger({"test"}, LogLevel::warning, log_),
        TriggerRunner::Host{[this](journal::TriggerRan line) {
                              const MutexLock lock(mutex_);
                              lines_.push_back(std::move(line));
                            },
                            [this](std::uint64_t number, const std::string&) { reported_.push_back(number); },
                            [this] {
                              const MutexLock lock(mutex_);
                              ++woken_;
                              ended_.notify_all();
                            }});
  }

  /// The lines of the first `count` triggers that have ended.
  std::vector<journal::TriggerRan> lines_after(int count) {
    MutexLock lock(mutex_);
    ended_.wait_for(lock, 60s, [&] {
      assert_held(mutex_);
      return woken_ >= count;
    });
    return lines_;
  }

  config::Config config_;
  Identity identity_;
  std::ostringstream log_;
  std::vector<std::uint64_t> reported_;
  Mutex mutex_;
  std::condition_variable_any ended_;
  std::vector<journal::TriggerRan> lines_ AFTERBAY_GUARDED_BY(mutex_);
  int woken_ AFTERBAY_GUARDED_BY(mutex_) = 0;
};

TEST_F(ServerTriggerRunner, WithoutTriggersNothingIsDueAndTheEndWaitsForNothing) {
  const auto runner = make();
  EXPECT_THAT(runner->due_for_file("history"), IsEmpty());
  EXPECT_THAT(runner->due_for_epoch(), IsEmpty());
  runner->file_published({.path = "a.nc"});
  runner->epoch_complete_here(1, "year 1");
  EXPECT_THAT(reported_, IsEmpty());
  EXPECT_TRUE(runner->ended(trigger_runner_second_ns, trigger_runner_second_ns));
}

TEST_F(ServerTriggerRunner, APublishedFileFiresAndTheJournalHearsOfIt) {
  const test::Directory directory;
  configure(triggers::Occasion::published,
            "test \"$AFTERBAY_TRIGGER_FILE\" = " + (directory.path / "a.nc").string());
  const auto runner = make();
  EXPECT_THAT(runner->due_for_file("history"), ElementsAre("archive"));
  EXPECT_THAT(runner->due_for_epoch(), IsEmpty());
  runner->file_published({.path = (directory.path / "." / "a.nc").string(), .collection = "history"});
  const auto lines = lines_after(1);
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(lines[0].on, "published");
  EXPECT_TRUE(lines[0].ok) << lines[0].text.value_or("");
  EXPECT_EQ(lines[0].path, (directory.path / "a.nc").string());
}

TEST_F(ServerTriggerRunner, AnEpochFiresOnceItIsCompleteOnAllServers) {
  configure(triggers::Occasion::epoch, "test \"$AFTERBAY_TRIGGER_EPOCH\" = 'year 1'");
  const auto runner = make();
  EXPECT_THAT(runner->due_for_epoch(), ElementsAre("archive"));
  runner->epoch_complete_elsewhere(1);  // faster than this server
  runner->epoch_complete_here(1, "year 1");
  EXPECT_FALSE(runner->ended(trigger_runner_second_ns, 10 * trigger_runner_second_ns));
  {
    const MutexLock lock(mutex_);
    EXPECT_THAT(lines_, IsEmpty());
  }
  runner->epoch_complete_elsewhere(1);
  const auto lines = lines_after(1);
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_TRUE(lines[0].ok) << lines[0].text.value_or("");
  EXPECT_EQ(lines[0].epoch, "year 1");
}

TEST_F(ServerTriggerRunner, OtherServersReportToTheFirst) {
  configure(triggers::Occasion::epoch, "true");
  identity_.number = 2;
  const auto runner = make();
  EXPECT_THAT(runner->due_for_epoch(), IsEmpty());
  runner->epoch_complete_here(4, "year 4");
  EXPECT_THAT(reported_, ElementsAre(4u));
  EXPECT_TRUE(runner->ended(trigger_runner_second_ns, trigger_runner_second_ns));
}

TEST_F(ServerTriggerRunner, TheEndWaitsForEpochsOfOthersUpToTheDeadline) {
  configure(triggers::Occasion::epoch, "true");
  const auto runner = make();
  runner->epoch_complete_here(1, "year 1");
  EXPECT_FALSE(runner->ended(100 * trigger_runner_second_ns, 10 * trigger_runner_second_ns));
  EXPECT_FALSE(runner->ended(110 * trigger_runner_second_ns, 10 * trigger_runner_second_ns));
  EXPECT_TRUE(runner->ended(110 * trigger_runner_second_ns + 1, 10 * trigger_runner_second_ns));
}

TEST_F(ServerTriggerRunner, TheEndOfAFailedSessionWaitsForNoEpoch) {
  configure(triggers::Occasion::epoch, "true");
  const auto runner = make();
  runner->epoch_complete_here(1, "year 1");
  runner->forget_epochs();
  EXPECT_TRUE(runner->ended(trigger_runner_second_ns, 10 * trigger_runner_second_ns));
}

TEST_F(ServerTriggerRunner, TheEndKillsWhatRunsForTooLong) {
  configure(triggers::Occasion::published, "sleep 600");
  config_.triggers.at_end = 5s;
  const auto runner = make();
  runner->file_published({.path = "a.nc", .collection = "history"});
  EXPECT_FALSE(runner->ended(100 * trigger_runner_second_ns, trigger_runner_second_ns));
  EXPECT_FALSE(
      runner->ended(105 * trigger_runner_second_ns + 1, trigger_runner_second_ns));  // is told to end
  const auto lines = lines_after(1);
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_FALSE(lines[0].ok);
  while (!runner->ended(106 * trigger_runner_second_ns, trigger_runner_second_ns))
    std::this_thread::sleep_for(1ms);
}

TEST_F(ServerTriggerRunner, AFailureIsAWarningOnce) {
  configure(triggers::Occasion::published, "exit 3");
  const auto runner = make();
  runner->file_published({.path = "a.nc", .collection = "history"});
  runner->file_published({.path = "b.nc", .collection = "history"});
  EXPECT_THAT(lines_after(2), SizeIs(2));
  const std::string log = log_.str();
  EXPECT_THAT(log, HasSubstr("trigger \"archive\" for"));
  EXPECT_THAT(log, HasSubstr("a.nc failed"));
  EXPECT_EQ(log.find("b.nc failed"), std::string::npos);
}

}  // namespace
}  // namespace afterbay::server
