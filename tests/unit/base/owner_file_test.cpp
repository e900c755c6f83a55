// SPDX-License-Identifier: Apache-2.0
// Ownership of files without locks: one owner at a time, whatever happened to earlier ones.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <regex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/owner_chain.hpp"
#include "base/owner_file.hpp"
#include "scratch_directory.hpp"
#include "unit/base/virtual_clock.hpp"

namespace afterbay {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr std::chrono::milliseconds short_patience{400};
constexpr const char* some_token = "00000000000000aa";
constexpr const char* other_boot = "11111111-2222-3333-4444-555555555555";

class BaseOwnerFile : public testing::Test {
 protected:
  [[nodiscard]] std::string name() const { return (directory_.path / "x.nc.part.owner").string(); }
  [[nodiscard]] bool empty() const { return fs::is_empty(directory_.path); }

  /// The text that this process writes, with one line changed.
  std::string text_with(const std::string& word, const std::string& value) {
    const auto owner = OwnerFile::claim(name());
    EXPECT_TRUE(owner) << owner.error().text();
    std::ifstream file(name());
    std::string text{std::istreambuf_iterator<char>(file), {}};
    text = std::regex_replace(text, std::regex("token .*"), std::string("token ") + some_token);
    return std::regex_replace(text, std::regex(word + " .*"), word + " " + value);
  }
  void leave(const std::string& text) { std::ofstream(name()) << text; }
  void leave(const std::string& path, const OwnerIdentity& owner, const std::string& token = some_token) {
    std::ofstream(path) << owner_text(owner, token);
  }
  [[nodiscard]] std::string file(const std::string& its_name) const {
    return (directory_.path / its_name).string();
  }
  static OwnerIdentity dead_owner() {
    OwnerIdentity owner = own_identity();
    owner.pid = static_cast<std::uint64_t>(dead_process());
    return owner;
  }
  /// Only its file shows whether it is alive.
  static OwnerIdentity owner_elsewhere(std::uint64_t pid = 1) {
    OwnerIdentity owner = own_identity();
    owner.boot = other_boot;
    owner.pid = pid;
    return owner;
  }
  /// By the virtual clock.
  [[nodiscard]] std::chrono::milliseconds time_of(const std::function<void()>& call) const {
    const auto begun = clock_.elapsed();
    call();
    return clock_.elapsed() - begun;
  }
  static void touch(const std::string& path) { fs::last_write_time(path, fs::last_write_time(path) + 1s); }
  /// Runs it in a separate process, which ends by _exit because the copy has no threads.
  static pid_t in_child(const std::function<void()>& what) {
    const pid_t child = ::fork();
    if (child == 0) what();
    return child;
  }
  static int status_of(pid_t child) {
    int status = -1;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  static pid_t dead_process() {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    ::waitpid(child, nullptr, 0);
    return child;
  }

  test::Directory directory_;
  test::VirtualClock clock_;
};

TEST_F(BaseOwnerFile, is_had_by_one_at_a_time_and_leaves_nothing) {
  {
    const auto first = OwnerFile::claim(name());
    ASSERT_TRUE(first) << first.error().text();
    EXPECT_TRUE(OwnerFile::is_owned(name()));
    const auto second = OwnerFile::claim(name());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::conflict);
    EXPECT_THAT(second.error().text(), HasSubstr("process " + std::to_string(::getpid()) + " on "));
    EXPECT_THAT(second.error().text(), HasSubstr(name()));
    EXPECT_TRUE(first->still_ours());
  }
  EXPECT_TRUE(empty());
  EXPECT_FALSE(OwnerFile::is_owned(name()));
  EXPECT_TRUE(OwnerFile::claim(name()));
}

TEST_F(BaseOwnerFile, goes_from_a_dead_process_to_the_next) {
  leave(text_with("pid", std::to_string(dead_process())));
  EXPECT_FALSE(OwnerFile::is_owned(name()));
  {
    const auto owner = OwnerFile::claim(name());
    ASSERT_TRUE(owner) << owner.error().text();
    EXPECT_TRUE(owner->still_ours());
    EXPECT_TRUE(OwnerFile::is_owned(name()));
    EXPECT_FALSE(OwnerFile::claim(name()));
  }
  EXPECT_TRUE(empty()) << "what the dead one left as well";
}

TEST_F(BaseOwnerFile, is_not_kept_by_another_process_that_got_the_number_of_a_dead_one) {
  leave(text_with("started", "1"));
  EXPECT_TRUE(OwnerFile::claim(name()));
}

TEST_F(BaseOwnerFile, goes_on_when_an_owner_elsewhere_gives_no_sign_of_life) {
  leave(text_with("boot", other_boot));
  clock_.meanwhile = [this](std::chrono::milliseconds) { touch(name()); };
  const auto refused = OwnerFile::claim(name(), {short_patience, clock_});
  clock_.meanwhile = nullptr;
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_TRUE(OwnerFile::claim(name(), {short_patience, clock_}));
  EXPECT_TRUE(empty());
}

TEST_F(BaseOwnerFile, touches_its_file_as_long_as_it_lives) {
  const auto owner = OwnerFile::claim(name());
  ASSERT_TRUE(owner);
  for (int change = 0; change < 2; ++change) {  // the first may be that of its start
    const auto before = fs::last_write_time(name());
    for (int wait = 0; wait < 1000 && fs::last_write_time(name()) == before; ++wait)
      std::this_thread::sleep_for(20ms);
    EXPECT_NE(fs::last_write_time(name()), before) << "change " << change;
  }
}

/// With hidepid, or without free descriptors, /proc does not show a living process.
TEST_F(BaseOwnerFile, is_not_taken_from_a_process_that_proc_does_not_show) {
  const std::string hidden = "/proc/" + std::to_string(::getpid());
  std::array<int, 2> claimed_here{};
  ASSERT_EQ(::pipe2(claimed_here.data(), O_CLOEXEC), 0);
  // Forked before the owner has a thread: it might hold a lock of the sanitizer's allocator.
  const pid_t child = in_child([&] {
    char byte = 0;
    ::close(claimed_here[1]);
    if (::read(claimed_here[0], &byte, 1) != 1) ::_exit(3);
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", hidden.c_str(), "tmpfs", 0, nullptr) != 0)
      ::_exit(77);
    const auto claimed = OwnerFile::claim(name(), 60s);
    ::_exit(claimed ? 1 : claimed.error().code == ErrorCode::conflict ? 0 : 2);
  });
  const auto owner = OwnerFile::claim(name());
  ASSERT_TRUE(owner);
  ASSERT_EQ(::write(claimed_here[1], "", 1), 1);
  const int outcome = status_of(child);
  for (const int end : claimed_here) ::close(end);
  if (outcome == 77) GTEST_SKIP() << "this process may not mount anything";
  EXPECT_EQ(outcome, 0) << "1: it was taken over";
  EXPECT_TRUE(owner->still_ours());
}

/// A file server that pauses blocks the owner and the claimant alike.
TEST_F(BaseOwnerFile, counts_no_time_in_which_the_claimant_itself_stood_still) {
  leave(name(), owner_elsewhere());
  bool stood_still = false;
  clock_.meanwhile = [&](std::chrono::milliseconds elapsed) {
    if (elapsed >= 300ms && !std::exchange(stood_still, true)) clock_.jump(1500ms);
    if (elapsed >= 2100ms) touch(name());
  };
  const auto claimed = OwnerFile::claim(name(), {1s, clock_});
  ASSERT_FALSE(claimed) << "it was taken over";
  EXPECT_EQ(claimed.error().code, ErrorCode::conflict);
  EXPECT_TRUE(stood_still);
}

TEST_F(BaseOwnerFile, waits_once_for_a_dead_process_whatever_files_it_left) {
  for (const char* its : {"a.owner", "b.owner", "c.owner"}) leave(file(its), owner_elsewhere(7));
  EXPECT_GE(time_of([&] { EXPECT_TRUE(OwnerFile::claim(file("a.owner"), {1s, clock_})); }), 1s);
  EXPECT_EQ(time_of([&] { EXPECT_TRUE(OwnerFile::claim(file("b.owner"), {1s, clock_})); }), 0ms);
  fs::last_write_time(file("c.owner"), fs::last_write_time(file("c.owner")) + 1h);
  EXPECT_GE(time_of([&] { EXPECT_TRUE(OwnerFile::claim(file("c.owner"), {1s, clock_})); }), 1s)
      << "it lived after it had been found dead";
}

TEST_F(BaseOwnerFile, waits_for_many_owners_at_once) {
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < 8; ++i) {
    names.push_back(file(std::to_string(i) + ".owner"));
    if (i != 3) leave(names.back(), owner_elsewhere(100 + i));
  }
  clock_.meanwhile = [&](std::chrono::milliseconds) { touch(names[5]); };
  std::vector<bool> owned;
  EXPECT_LT(time_of([&] { owned = OwnerFile::are_owned(names, {1s, clock_}); }), 2s);
  EXPECT_EQ(owned, (std::vector<bool>{false, false, false, false, false, true, false, false}));
  EXPECT_TRUE(OwnerFile::claim(names[0], OwnerFile::no_patience));
}

TEST_F(BaseOwnerFile, elsewhere_is_alive_for_who_must_not_wait) {
  leave(name(), owner_elsewhere(55));
  const OwnerPatience none{OwnerFile::no_patience, clock_};
  EXPECT_FALSE(OwnerFile::claim(name(), none));
  EXPECT_TRUE(OwnerFile::is_owned(name(), none));
  EXPECT_EQ(clock_.elapsed(), 0ms);
}

/// Nodes cache that a name did not exist, so looking for a successor is not enough.
TEST_F(BaseOwnerFile, takes_the_name_of_a_successor_before_it_calls_a_file_its_own) {
  auto owner = OwnerFile::claim(name());
  ASSERT_TRUE(owner);
  const auto first = owner_chain(name()).value().back();
  EXPECT_TRUE(owner->still_ours());
  EXPECT_EQ(make_owner_link(owner_successor(name(), first), owner_text(owner_elsewhere(), some_token),
                            file("temporary")),
            EEXIST);
  const auto newest = owner_chain(name()).value().back();
  EXPECT_EQ(newest.token, first.token);
  leave(owner_successor(name(), newest), owner_elsewhere());  // found it dead after that
  EXPECT_FALSE(owner->still_ours());
  { const OwnerFile ended = *std::move(owner); }
  EXPECT_EQ(owner_chain(name()).value().back().token, some_token) << "the successor keeps what is its own";
}

TEST_F(BaseOwnerFile, goes_on_from_a_process_that_died_while_it_published) {
  leave(name(), dead_owner());
  fs::create_hard_link(name(), name() + "." + some_token);
  fs::create_hard_link(name(), name() + "." + some_token + ".1");
  {
    const auto owner = OwnerFile::claim(name());
    ASSERT_TRUE(owner) << owner.error().text();
    EXPECT_TRUE(fs::exists(name() + "." + some_token + ".2"));
    EXPECT_TRUE(owner->still_ours());
    EXPECT_FALSE(OwnerFile::claim(name()));
  }
  EXPECT_TRUE(empty());
}

/// Only file systems without links show a file before it is complete.
TEST_F(BaseOwnerFile, is_taken_from_who_died_while_making_it) {
  const std::string whole = owner_text(dead_owner(), some_token);
  for (const std::size_t length : {std::size_t{0}, std::size_t{5}, whole.size() / 2}) {
    leave(whole.substr(0, length));
    {
      const auto owner = OwnerFile::claim(name(), {short_patience, clock_});
      ASSERT_TRUE(owner) << length << ": " << owner.error().text();
      EXPECT_TRUE(owner->still_ours());
    }
    EXPECT_TRUE(empty()) << length;
  }
}

TEST_F(BaseOwnerFile, waits_for_who_is_just_making_it) {
  const std::string whole = owner_text(own_identity(), some_token);
  leave(whole.substr(0, 30));
  std::thread maker([&] {
    std::this_thread::sleep_for(200ms);
    leave(whole);
  });
  const auto refused = OwnerFile::claim(name(), 60s);
  maker.join();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("process " + std::to_string(::getpid()) + " on "));
}

TEST_F(BaseOwnerFile, the_first_claim_removes_what_killed_processes_have_left) {
  const std::string hex = "0123456789abcdef";
  leave(file("x.nc.part.owner." + hex + ".new"), dead_owner(), hex);  // killed while it claimed
  leave(file("y.nc.part.owner." + hex), dead_owner(), hex);           // while it ended its chain
  leave(file("y.nc.part.owner." + hex + ".12"), dead_owner(), hex);
  leave(file("z.nc.part.owner"), dead_owner());  // another owner may take it over
  leave(file("z.nc.part.owner." + std::string(some_token)), dead_owner(), hex);
  leave(file("u.nc.part.owner." + hex), owner_elsewhere(), hex);  // who knows
  leave(file("v.nc.part.owner." + hex + ".new"), own_identity(), hex);
  std::ofstream(file("w.nc.part.owner." + hex)) << "mine";
  { ASSERT_TRUE(OwnerFile::claim(name())); }
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(directory_.path))
    left.push_back(entry.path().filename().string());
  EXPECT_THAT(left,
              testing::UnorderedElementsAre("z.nc.part.owner", "z.nc.part.owner." + std::string(some_token),
                                            "u.nc.part.owner." + hex, "v.nc.part.owner." + hex + ".new",
                                            "w.nc.part.owner." + hex));
}

TEST_F(BaseOwnerFile, knows_that_it_was_taken_over_and_removes_nothing_then) {
  auto owner = OwnerFile::claim(name());
  ASSERT_TRUE(owner);
  std::ifstream file(name());
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string token = text.substr(text.find("token ") + 6, 16);
  std::ofstream(name() + "." + token)
      << std::regex_replace(text, std::regex("token .*"), std::string("token ") + some_token);
  EXPECT_FALSE(owner->still_ours());
  { const OwnerFile ended = *std::move(owner); }
  EXPECT_TRUE(fs::exists(name()));
  EXPECT_TRUE(fs::exists(name() + "." + token));
}

TEST_F(BaseOwnerFile, refuses_what_is_no_such_file) {
  const std::vector<std::string> wrong{
      "hello\n", std::string(5000, 'x'),
      std::regex_replace(text_with("pid", "1"), std::regex(some_token), "../../../../etc/"),
      text_with("pid", "-1")};
  for (const std::string& text : wrong) {
    leave(text);
    const auto owner = OwnerFile::claim(name());
    ASSERT_FALSE(owner) << text;
    EXPECT_EQ(owner.error().code, ErrorCode::format) << owner.error().text();
    EXPECT_THAT(owner.error().text(), HasSubstr("remove it"));
    fs::remove(name());
  }
  fs::create_symlink((directory_.path / "elsewhere"), name());
  EXPECT_FALSE(OwnerFile::claim(name()));
  EXPECT_FALSE(fs::exists((directory_.path / "elsewhere")));
}

class ThreadOwnerFile : public BaseOwnerFile {};

/// All find a dead owner, or one that is just releasing the file.
TEST_F(ThreadOwnerFile, of_many_that_claim_at_once_one_gets_it) {
  constexpr int threads = 8, rounds = 40;
  const std::string dead = text_with("pid", std::to_string(dead_process()));
  std::atomic<int> owners = 0, most = 0, claimed = 0;
  std::vector<std::thread> all;
  leave(dead);
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) {
        auto owner = OwnerFile::claim(name());
        if (!owner) {
          EXPECT_EQ(owner.error().code, ErrorCode::conflict) << owner.error().text();
          continue;
        }
        ++claimed;
        most = std::max(most.load(), ++owners);
        std::this_thread::yield();
        EXPECT_TRUE(owner->still_ours());
        --owners;
        if (round % 2 == 0) continue;
        { const OwnerFile ended = *std::move(owner); }
      }
    });
  for (std::thread& thread : all) thread.join();
  EXPECT_EQ(most, 1);
  EXPECT_GE(claimed, 1);
  EXPECT_TRUE(empty());
}

}  // namespace
}  // namespace afterbay
