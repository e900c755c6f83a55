// SPDX-License-Identifier: Apache-2.0
#include "journal/sequence.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <thread>

#include "base/file_lock.hpp"

namespace afterbay::journal {
namespace {

constexpr const char* counter_name = "sequence";
constexpr auto most_wait = std::chrono::seconds(1);
constexpr auto pause = std::chrono::milliseconds(2);

/// Waits while others count; goes on without the lock where there is none, or its owner is stuck.
void lock_for_a_moment(int descriptor) {
  const auto until = std::chrono::steady_clock::now() + most_wait;
  while (take_file_lock(descriptor) == FileLock::others && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(pause);
}

std::uint64_t counted(int descriptor) {
  std::array<char, 32> text{};
  const ssize_t got = ::pread(descriptor, text.data(), text.size(), 0);
  std::uint64_t number = 0;
  if (got > 0) std::from_chars(text.data(), text.data() + got, number);
  return number;
}

}  // namespace

std::uint64_t next_sequence(const std::string& directory, std::uint64_t known) {
  const std::string path = (std::filesystem::path(directory) / counter_name).string();
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
  if (descriptor < 0) return known + 1;
  lock_for_a_moment(descriptor);
  const std::uint64_t next = std::max(known, counted(descriptor)) + 1;
  const std::string text = fmt::format("{:020}\n", next);  // always as long: never torn
  static_cast<void>(!::pwrite(descriptor, text.data(), text.size(), 0));
  ::fdatasync(descriptor);
  ::close(descriptor);
  return next;
}

}  // namespace afterbay::journal
