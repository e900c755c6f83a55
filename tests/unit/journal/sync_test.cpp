// SPDX-License-Identifier: Apache-2.0
// The consequences of a failed fdatasync for the lines that waited for it: the kernel reports a
// lost page once, and may consider it written afterwards.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "journal/journal_file.hpp"
#include "scratch_directory.hpp"

namespace {
std::atomic<int> trip{0};       // calls since the test began to count
std::atomic<int> held_trip{0};  // this one waits until it is released
std::atomic<int> lost_trip{0};  // and this one fails
std::atomic<bool> let_go{false};
}  // namespace

// Replaces the system's functions: all calls of this program come here.
extern "C" int fdatasync(int descriptor) {
  const int number = ++trip;
  while (number == held_trip && !let_go) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (number == lost_trip) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fdatasync, descriptor));
}

namespace afterbay::journal {
namespace {

std::size_t lines_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::size_t count = 0;
  for (std::string line; std::getline(file, line);) ++count;
  return count;
}

TEST(JournalSync, no_line_that_waited_for_a_lost_sync_is_taken_for_durable) {
  const test::Directory directory;
  auto opened = JournalFile::open(directory.path.string(), 0);
  ASSERT_TRUE(opened) << opened.error().text();
  JournalFile& file = **opened;
  trip = 0;
  held_trip = 1;
  lost_trip = 2;
  let_go = false;
  Result<> first, second, third;
  {
    std::jthread a([&] { first = file.append_durably("1"); });
    while (trip < 1) std::this_thread::yield();
    std::jthread b([&] { second = file.append_durably("2"); });
    std::jthread c([&] { third = file.append_durably("3"); });
    while (lines_in(directory.path / "server-0.jsonl") < 3) std::this_thread::yield();
    let_go = true;
  }
  held_trip = lost_trip = 0;
  EXPECT_TRUE(first);
  ASSERT_FALSE(second);
  ASSERT_FALSE(third);
  for (const auto* lost : {&second, &third}) EXPECT_EQ(lost->error().native, EIO) << lost->error().text();
  EXPECT_EQ(trip, 2) << "another sync would have said that all is well";
  EXPECT_TRUE(file.append_durably("4"));
}

TEST(JournalSync, lines_that_are_written_together_take_one_sync_and_share_its_failure) {
  const test::Directory directory;
  auto opened = JournalFile::open(directory.path.string(), 0);
  ASSERT_TRUE(opened) << opened.error().text();
  const std::vector<std::string> lines = {"1", "2", "3"};
  trip = 0;
  EXPECT_TRUE((*opened)->append_durably(lines));
  EXPECT_EQ(trip, 1);
  EXPECT_EQ(lines_in(directory.path / "server-0.jsonl"), 3U);
  lost_trip = 2;
  EXPECT_FALSE((*opened)->append_durably(lines));
  lost_trip = 0;
  EXPECT_EQ(trip, 2);
}

}  // namespace
}  // namespace afterbay::journal
