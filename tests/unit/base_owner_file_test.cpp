// SPDX-License-Identifier: Apache-2.0
// Who owns a file where there are no locks: one at a time, whatever became of those before.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "base/owner_file.hpp"
#include "scratch_directory.hpp"

namespace afterbay {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr std::chrono::milliseconds short_patience{400};
constexpr const char* some_token = "00000000000000aa";

class BaseOwnerFile : public testing::Test {
 protected:
  [[nodiscard]] std::string name() const { return (directory_.path / "x.nc.part.owner").string(); }
  [[nodiscard]] bool empty() const { return fs::is_empty(directory_.path); }

  /// What this process writes, with one line of it changed.
  std::string text_with(const std::string& word, const std::string& value) {
    const auto owner = OwnerFile::claim(name());
    EXPECT_TRUE(owner) << owner.error().text();
    std::ifstream file(name());
    std::string text{std::istreambuf_iterator<char>(file), {}};
    text = std::regex_replace(text, std::regex("token .*"), std::string("token ") + some_token);
    return std::regex_replace(text, std::regex(word + " .*"), word + " " + value);
  }
  void leave(const std::string& text) { std::ofstream(name()) << text; }

  static pid_t dead_process() {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    ::waitpid(child, nullptr, 0);
    return child;
  }

  test::Directory directory_;
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
  const std::string text = text_with("boot", "11111111-2222-3333-4444-555555555555");
  leave(text);
  std::atomic<bool> stop = false;
  std::thread beats([&] {
    while (!stop) {
      ::utimensat(AT_FDCWD, name().c_str(), nullptr, 0);
      std::this_thread::sleep_for(20ms);
    }
  });
  const auto refused = OwnerFile::claim(name(), short_patience);
  stop = true;
  beats.join();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_TRUE(OwnerFile::claim(name(), short_patience));
  EXPECT_TRUE(empty());
}

TEST_F(BaseOwnerFile, touches_its_file_as_long_as_it_lives) {
  const auto owner = OwnerFile::claim(name());
  ASSERT_TRUE(owner);
  const auto first = fs::last_write_time(name());
  for (int wait = 0; wait < 1000 && fs::last_write_time(name()) == first; ++wait)
    std::this_thread::sleep_for(20ms);
  EXPECT_NE(fs::last_write_time(name()), first);
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
      "", "hello\n", std::string(5000, 'x'),
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

/// All find a dead owner, or one that is just giving up.
TEST_F(BaseOwnerFile, of_many_that_claim_at_once_one_gets_it) {
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
