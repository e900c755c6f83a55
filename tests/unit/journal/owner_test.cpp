// SPDX-License-Identifier: Apache-2.0
// Journals left by killed servers of other nodes, without locks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/owner_chain.hpp"
#include "journal/journal_file.hpp"
#include "journal/line.hpp"
#include "journal/read.hpp"
#include "journal/recorder.hpp"
#include "scratch_directory.hpp"
#include "unit/base/virtual_clock.hpp"

namespace afterbay::journal {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr std::chrono::milliseconds patience{1000};

class JournalOwner : public testing::Test {
 protected:
  [[nodiscard]] std::string path(std::int64_t server, int turn = 0) const {
    return (directory_.path / file_name(server, turn)).string();
  }
  /// The files of a server on another node that runs, or was killed.
  void leave(std::int64_t server, const std::string& run, bool over, int turn = 0) const {
    const auto line = [&](Event event) {
      return text_of({utc_now(), run, server, 1, std::move(event)}) + "\n";
    };
    std::ofstream file(path(server, turn), std::ios::app);
    file << line(RunStarted{});
    if (over) file << line(RunEnded{true, 0});
    static std::uint64_t pid = 1000;
    OwnerIdentity owner = own_identity();
    owner.boot = "11111111-2222-3333-4444-555555555555";
    owner.pid = ++pid;
    std::ofstream(path(server, turn) + ".owner") << owner_text(owner, "00000000000000aa");
  }
  [[nodiscard]] std::vector<std::string> owners() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(directory_.path))
      if (entry.path().string().find(".owner") != std::string::npos)
        found.push_back(entry.path().filename().string());
    return found;
  }
  /// Returns the time by the virtual clock that it took.
  std::chrono::milliseconds open(std::int64_t server, const std::string& run = "run") {
    const auto begun = clock_.elapsed();
    auto opened = JournalFile::open(directory_.path.string(), server, run, {patience, clock_});
    const auto took = clock_.elapsed() - begun;
    EXPECT_TRUE(opened) << opened.error().text();
    if (opened) file_ = *std::move(opened);
    return took;
  }

  test::Directory directory_;
  test::VirtualClock clock_;
  std::unique_ptr<JournalFile> file_;
};

TEST_F(JournalOwner, all_are_waited_for_at_once_and_the_dead_removed) {
  leave(0, "first", false);
  leave(0, "second", false, 1);
  for (std::int64_t server = 1; server < 5; ++server) leave(server, "first", false);
  EXPECT_LT(open(0), 2 * patience);
  EXPECT_THAT(file_->runs_without_end(), testing::Contains("second"));
  EXPECT_THAT(file_->runs_without_end(), testing::Contains("first"));
  file_.reset();
  EXPECT_THAT(owners(), testing::IsEmpty());
}

TEST_F(JournalOwner, of_runs_that_have_ended_and_of_this_run_nobody_waits) {
  for (std::int64_t server = 1; server < 5; ++server) leave(server, "earlier", true);
  leave(5, "run", false);
  EXPECT_EQ(open(0), 0ms);
  EXPECT_THAT(file_->runs_without_end(), testing::IsEmpty());
}

TEST_F(JournalOwner, of_a_killed_process_of_this_machine_is_removed_though_its_run_has_ended) {
  leave(1, "earlier", true, 1);
  OwnerIdentity dead = own_identity();
  dead.started = 1;
  std::ofstream(path(1, 1) + ".owner") << owner_text(dead, "00000000000000aa");
  open(0);
  EXPECT_THAT(owners(), testing::IsEmpty());
}

TEST_F(JournalOwner, that_live_are_waited_for_at_once) {
  for (int turn = 0; turn < 6; ++turn) leave(0, "run" + std::to_string(turn), false, turn);
  clock_.meanwhile = [this](std::chrono::milliseconds elapsed) {
    if (elapsed % 500ms != 0ms) return;
    for (int turn = 0; turn < 6; ++turn) {
      const fs::path owner = path(0, turn) + ".owner";
      fs::last_write_time(owner, fs::last_write_time(owner) + 1s);
    }
  };
  EXPECT_LT(open(0), 2 * patience) << "not for each a beat";
  EXPECT_THAT(file_->runs_without_end(), testing::IsEmpty());
  EXPECT_TRUE(fs::exists(path(0, 6)));
}

TEST_F(JournalOwner, counts_beside_a_lock) {
  const auto owner = OwnerFile::claim(path(0) + ".owner");  // owner on a node without locks
  ASSERT_TRUE(owner);
  open(0);
  EXPECT_TRUE(fs::exists(path(0, 1)));
}

TEST_F(JournalOwner, who_must_not_wait_takes_a_file_of_its_own) {
  leave(2, "earlier", false);
  const auto opened = JournalFile::open(directory_.path.string(), 2, "run", {OwnerFile::no_patience, clock_});
  ASSERT_TRUE(opened);
  EXPECT_EQ(clock_.elapsed(), 0ms);
  EXPECT_TRUE(fs::exists(path(2, 1)));
}

TEST_F(JournalOwner, are_waited_for_at_once_by_who_reads) {
  for (std::int64_t server = 0; server < 4; ++server) leave(server, "killed", false);
  leave(4, "ended", true);
  const auto journal = read_journal(directory_.path.string(), {patience, clock_});
  EXPECT_LT(clock_.elapsed(), 2 * patience);
  ASSERT_TRUE(journal);
  ASSERT_EQ(journal->runs.size(), 2U);
  for (const auto& run : journal->runs)
    for (const auto& [number, server] : run.servers) EXPECT_EQ(server.holder, Holder::nobody);
}

// A warning of the server's own thread waited for the worker that opened the journal on a slow
// disk.
TEST_F(JournalOwner, warnings_do_not_wait_for_the_thread_that_opens_the_journal) {
  leave(0, "earlier", false);
  Recorder recorder(Where{directory_.path.string(), true},
                    RunIdentity{.run = "run", .server = 0, .started = {}},
                    Logger({"atmosphere", "server", 0}, LogLevel::error), {patience, clock_});
  std::promise<void> watches, has_warned;
  std::future<void> released = has_warned.get_future();
  bool held = false;
  clock_.meanwhile = [&](std::chrono::milliseconds) {
    if (std::exchange(held, true)) return;
    watches.set_value();
    released.wait_for(60s);
  };
  std::atomic<bool> opened = false;
  std::thread worker([&] {
    EXPECT_TRUE(recorder.begin());
    opened = true;
  });
  EXPECT_EQ(watches.get_future().wait_for(60s), std::future_status::ready);
  recorder.warned("the disk is slow");
  EXPECT_FALSE(opened) << "the owner of another node is waited for";
  has_warned.set_value();
  worker.join();
  EXPECT_TRUE(recorder.ended(true));
  std::string texts;
  for (const int turn : {0, 1}) {
    std::ifstream file(path(0, turn));
    texts.append(std::istreambuf_iterator<char>(file), {});
  }
  EXPECT_THAT(texts, testing::HasSubstr("the disk is slow"));
}

}  // namespace
}  // namespace afterbay::journal
