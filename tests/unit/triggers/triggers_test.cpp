// SPDX-License-Identifier: Apache-2.0
// Triggers with real commands: their environment, their order, and that no wait for them is too
// long.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "scratch_directory.hpp"
#include "triggers/triggers.hpp"

namespace afterbay::triggers {
namespace {

using namespace std::chrono_literals;
using test::Directory;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// Outcomes in order of arrival; waits for the number that a test needs.
class Outcomes {
 public:
  TriggerQueue::Tell teller() {
    return [this](Outcome outcome) {
      const MutexLock lock(mutex_);
      list_.push_back(std::move(outcome));
      came_.notify_all();
    };
  }
  std::vector<Outcome> first(std::size_t count) {
    MutexLock lock(mutex_);
    came_.wait_for(lock, 60s, [&] {
      assert_held(mutex_);
      return list_.size() >= count;
    });
    return list_;
  }

 private:
  Mutex mutex_;
  std::condition_variable_any came_;
  std::vector<Outcome> list_ AFTERBAY_GUARDED_BY(mutex_);
};

Event published(const std::string& file, const std::string& collection = "history") {
  Event event;
  event.session = "ocean";
  event.run = "run-1";
  event.file = file;
  event.collection = collection;
  event.bytes = 1234;
  event.records = 5;
  event.checksum = "crc64-xz:995dc9bbdf1939fa";
  event.step = "7";
  return event;
}

Trigger with_command(const std::string& command) {
  Trigger trigger;
  trigger.name = "archive";
  trigger.command = command;
  return trigger;
}

std::string text_in(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(Triggers, a_command_knows_the_file) {
  const Directory directory;
  Outcomes outcomes;
  Triggers triggers(
      {with_command(
          "cd '" + directory.path.string() +
          "' && echo \"$AFTERBAY_TRIGGER_FILE|$AFTERBAY_TRIGGER_SIZE|$AFTERBAY_TRIGGER_"
          "CHECKSUM|$AFTERBAY_TRIGGER_COLLECTION|$AFTERBAY_TRIGGER_STEP|$AFTERBAY_TRIGGER_NAME\" > out")},
      outcomes.teller());
  triggers.fire(published("/out/a b; rm -rf $HOME'\".nc"));
  const auto ran = outcomes.first(1);
  ASSERT_THAT(ran, SizeIs(1));
  EXPECT_FALSE(ran[0].error) << ran[0].error->text();
  EXPECT_EQ(text_in(directory.path / "out"),
            "/out/a b; rm -rf $HOME'\".nc|1234|crc64-xz:995dc9bbdf1939fa|history|7|archive\n");
}

TEST(Triggers, a_command_does_not_take_itself_for_a_rank) {
  ::setenv("OMPI_COMM_WORLD_RANK", "3", 1);
  ::setenv("PMIX_RANK", "3", 1);
  const auto environment = environment_for(with_command("x"), published("/f"));
  ::unsetenv("OMPI_COMM_WORLD_RANK");
  ::unsetenv("PMIX_RANK");
  EXPECT_THAT(environment, Not(Contains(testing::ContainsRegex("^(OMPI|PMIX)_"))));
  EXPECT_THAT(environment, Contains(testing::StartsWith("PATH=")));
}

TEST(Triggers, run_one_after_the_other_in_order) {
  const Directory directory;
  Outcomes outcomes;
  const std::string log = (directory.path / "log").string();
  const std::string go = (directory.path / "go").string();
  Triggers triggers(
      {with_command("until test -e '" + go +
                    "'; do sleep 0.02; done; sleep 0.02; echo $AFTERBAY_TRIGGER_FILE >> '" + log + "'")},
      outcomes.teller());
  for (int i = 0; i < 5; ++i) triggers.fire(published("/f" + std::to_string(i)));
  EXPECT_FALSE(triggers.idle());
  std::ofstream(go).close();
  EXPECT_THAT(outcomes.first(5), SizeIs(5));
  EXPECT_EQ(text_in(log), "/f0\n/f1\n/f2\n/f3\n/f4\n");
}

TEST(Triggers, heed_collections_and_occasion) {
  Outcomes outcomes;
  Trigger some = with_command("true");
  some.collections = {"restart_*", "history"};
  Trigger epochs = with_command("true");
  epochs.name = "epochs";
  epochs.on = Occasion::epoch;
  Triggers triggers({some, epochs}, outcomes.teller());
  triggers.fire(published("/1", "restart_a"));
  triggers.fire(published("/2", "other"));
  Event epoch;
  epoch.on = Occasion::epoch;
  epoch.epoch = "day 12";
  triggers.fire(epoch);
  std::vector<std::string> seen;
  for (const Outcome& one : outcomes.first(2)) seen.push_back(one.trigger + one.event.file + one.event.epoch);
  std::ranges::sort(seen);
  EXPECT_THAT(seen, ElementsAre("archive/1", "epochsday 12"));
}

TEST(Triggers, a_failure_says_what_the_command_said) {
  Outcomes outcomes;
  Triggers triggers({with_command("echo no room on tape; exit 3")}, outcomes.teller());
  triggers.fire(published("/f"));
  const auto ran = outcomes.first(1);
  ASSERT_TRUE(ran[0].error);
  EXPECT_THAT(ran[0].error->text(), AllOf(HasSubstr("status 3"), HasSubstr("no room on tape")));
}

/// In a model that ignores SIGCHLD the system does not report how commands end.
TEST(Triggers, a_failure_is_known_though_the_program_ignores_its_children) {
  const Directory directory;
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  for (const bool good : {false, true}) {
    Outcomes outcomes;
    Triggers triggers({with_command(good ? "true" : "echo no room on tape; exit 3")}, outcomes.teller());
    triggers.fire(published("/f"));
    const auto ran = outcomes.first(1);
    ASSERT_THAT(ran, SizeIs(1));
    EXPECT_EQ(ran[0].error.has_value(), !good);
    if (!ran[0].error) continue;
    EXPECT_THAT(ran[0].error->text(), AllOf(HasSubstr("status 3"), HasSubstr("no room on tape")));
  }
  (void)std::signal(SIGCHLD, before);
}

TEST(Triggers, a_command_may_write_more_than_a_pipe_holds) {
  Outcomes outcomes;
  Triggers triggers({with_command("head -c 1000000 /dev/zero | tr '\\0' x && echo done")}, outcomes.teller());
  triggers.fire(published("/f"));
  const auto ran = outcomes.first(1);
  ASSERT_THAT(ran, SizeIs(1));
  EXPECT_FALSE(ran[0].error) << ran[0].error->text();
}

/// A trigger may run a model that has triggers.
TEST(Triggers, a_nested_one_does_not_inherit_the_outer_ones_variables) {
  ::setenv("AFTERBAY_TRIGGER_DATE", "2026-11-22", 1);
  const auto environment = environment_for(with_command("x"), published("/f"));
  ::unsetenv("AFTERBAY_TRIGGER_DATE");
  EXPECT_THAT(environment, Not(Contains(testing::StartsWith("AFTERBAY_TRIGGER_DATE="))));
  EXPECT_THAT(environment, Contains("AFTERBAY_TRIGGER_FILE=/f"));
}

TEST(Triggers, one_that_takes_longer_than_its_timeout_is_killed) {
  Outcomes outcomes;
  Trigger trigger = with_command("sleep 1000");
  trigger.timeout = 300ms;
  Triggers triggers({trigger}, outcomes.teller());
  triggers.fire(published("/f"));
  const auto ran = outcomes.first(1);
  ASSERT_THAT(ran, SizeIs(1));
  ASSERT_TRUE(ran[0].error);
  EXPECT_EQ(ran[0].error->code, ErrorCode::timed_out);
  EXPECT_THAT(ran[0].error->text(), HasSubstr("did not end within 300 ms and was killed"));
}

/// A command that ignores SIGTERM, and the processes that it has started.
TEST(Triggers, one_that_hangs_is_killed_with_all_its_processes) {
  const Directory directory;
  Outcomes outcomes;
  const std::string pids = (directory.path / "pids").string();
  const Trigger trigger = with_command("trap '' TERM; sleep 1000 & echo $! > '" + pids + "'; echo $$ >> '" +
                                       pids + "'; while true; do sleep 1000; done");
  Triggers triggers({trigger}, outcomes.teller());
  triggers.fire(published("/f"));
  for (int look = 0; look < 6000 && std::ranges::count(text_in(pids), '\n') < 2; ++look)
    std::this_thread::sleep_for(10ms);
  triggers.give_up();  // as after the timeout
  const auto ran = outcomes.first(1);
  ASSERT_THAT(ran, SizeIs(1));
  ASSERT_TRUE(ran[0].error);
  EXPECT_EQ(ran[0].error->code, ErrorCode::timed_out);
  std::istringstream list(text_in(pids));
  int count = 0;
  for (pid_t pid = 0; list >> pid; ++count) {
    bool gone = false;
    for (int look = 0; look < 6000 && !gone; ++look) {
      // A zombie process counts as dead.
      const std::string status = text_in("/proc/" + std::to_string(pid) + "/stat");
      gone = status.empty() || status.find(") Z") != std::string::npos;
      if (!gone) std::this_thread::sleep_for(10ms);
    }
    EXPECT_TRUE(gone) << pid;
  }
  EXPECT_EQ(count, 2);
}

TEST(Triggers, what_is_given_up_is_told) {
  Outcomes outcomes;
  Triggers triggers({with_command("sleep 1000")}, outcomes.teller());
  for (int i = 0; i < 3; ++i) triggers.fire(published("/f"));
  triggers.give_up();
  const auto ran = outcomes.first(3);
  ASSERT_THAT(ran, SizeIs(3));
  for (const Outcome& one : ran) {
    ASSERT_TRUE(one.error);
    EXPECT_THAT(one.error->text(), HasSubstr("because the run ends"));
  }
}

TEST(Triggers, a_slow_one_holds_up_no_other) {
  const Directory directory;
  Outcomes outcomes;
  Trigger touch;
  touch.name = "touch";
  touch.touch = (directory.path / "{collection}" / "{name}.done").string();
  Triggers triggers({with_command("sleep 1000"), touch}, outcomes.teller());
  triggers.fire(published("/out/f.nc"));
  const auto ran = outcomes.first(1);
  EXPECT_EQ(ran[0].trigger, "touch");
  EXPECT_FALSE(ran[0].error);
  const auto line = nlohmann::json::parse(text_in(directory.path / "history" / "f.nc.done"));
  EXPECT_EQ(line["path"], "/out/f.nc");
  EXPECT_EQ(line["bytes"], 1234);
}

TEST(Triggers, a_touch_file_comes_only_after_a_command_that_succeeded) {
  const Directory directory;
  Outcomes outcomes;
  Trigger trigger = with_command("exit 1");
  trigger.touch = (directory.path / "done").string();
  Triggers triggers({trigger}, outcomes.teller());
  triggers.fire(published("/f"));
  EXPECT_TRUE(outcomes.first(1)[0].error);
  EXPECT_TRUE(std::filesystem::is_empty(directory.path));
}

// `touch: "{file}"` replaced the file that had just been published.
TEST(Triggers, a_touch_file_replaces_only_touch_files) {
  const Directory directory;
  const std::string path = (directory.path / "history.nc").string();
  std::ofstream(path) << "CDF and all the data";
  Outcomes outcomes;
  Trigger trigger = with_command("");
  trigger.touch = "{file}";
  Triggers triggers({trigger}, outcomes.teller());
  triggers.fire(published(path));
  const auto refused = outcomes.first(1)[0].error;
  ASSERT_TRUE(refused);
  EXPECT_THAT(refused->text(), HasSubstr("is not a touch-file"));
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "CDF and all the data");
  std::filesystem::remove(path);
  for (const std::size_t times : {2, 3}) {
    triggers.fire(published(path));
    EXPECT_FALSE(outcomes.first(times)[times - 1].error) << "a touch-file is replaced by the next one";
  }
}

TEST(Triggers, placeholders_are_checked) {
  EXPECT_TRUE(check_touch("{file}.done"));
  const auto wrong = check_touch("{fil}.done");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().text(), HasSubstr("did you mean \"file\""));
}

}  // namespace
}  // namespace afterbay::triggers
