// SPDX-License-Identifier: Apache-2.0
#include "journal/sequence.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "base/file_lock.hpp"

namespace afterbay::journal {
namespace {

constexpr const char* counter_name = "sequence";
constexpr std::string_view claim_start = "sequence.";
constexpr auto most_wait = std::chrono::seconds(1);
constexpr auto pause = std::chrono::milliseconds(2);
constexpr int most_claims = 1000;

std::string path_in(const std::string& directory, const std::string& name) {
  return (std::filesystem::path(directory) / name).string();
}

std::string claim_path(const std::string& directory, std::uint64_t number) {
  return path_in(directory, fmt::format("{}{}", claim_start, number));
}

/// Whether the lock was acquired; not if there are no locks, or its owner is stuck.
bool lock_for_a_moment(int descriptor) {
  const auto until = std::chrono::steady_clock::now() + most_wait;
  for (;;) {
    const FileLock got = take_file_lock(descriptor);
    if (got != FileLock::others) return got == FileLock::ours;
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(pause);
  }
}

std::uint64_t counted(int descriptor) {
  std::array<char, 32> text{};
  const ssize_t got = ::pread(descriptor, text.data(), text.size(), 0);
  std::uint64_t number = 0;
  if (got > 0) std::from_chars(text.data(), text.data() + got, number);
  return number;
}

std::uint64_t counted_in(const std::string& directory) {
  const int descriptor =
      ::open(path_in(directory, counter_name).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return 0;
  const std::uint64_t number = counted(descriptor);
  ::close(descriptor);
  return number;
}

/// Numbers that were assigned without locks and are still visible.
std::vector<std::uint64_t> claims_in(const std::string& directory) {
  std::vector<std::uint64_t> numbers;
  std::error_code wrong;
  for (const auto& entry : std::filesystem::directory_iterator(directory, wrong)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(claim_start)) continue;
    const char* const end = name.data() + name.size();
    std::uint64_t number = 0;
    const auto [read_to, bad] = std::from_chars(name.data() + claim_start.size(), end, number);
    if (bad == std::errc() && read_to == end) numbers.push_back(number);
  }
  return numbers;
}

std::uint64_t largest(const std::vector<std::uint64_t>& numbers) {
  return numbers.empty() ? 0 : *std::ranges::max_element(numbers);
}

}  // namespace

std::uint64_t next_sequence(const std::string& directory, std::uint64_t known) {
  const std::string path = path_in(directory, counter_name);
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
  if (descriptor < 0) return next_sequence_without_locks(directory, known);
  if (!lock_for_a_moment(descriptor)) {
    ::close(descriptor);
    return next_sequence_without_locks(directory, known);
  }
  const std::uint64_t next = std::max({known, counted(descriptor), largest(claims_in(directory))}) + 1;
  const std::string text = fmt::format("{:020}\n", next);  // constant length: never incomplete
  static_cast<void>(!::pwrite(descriptor, text.data(), text.size(), 0));
  ::fdatasync(descriptor);
  ::close(descriptor);
  return next;
}

// The largest claim is never removed. A process whose own claim is the largest after creating it
// has a number that is larger than all assigned before; a claim that a slow process creates again
// after its removal is found to be too small.
std::uint64_t next_sequence_without_locks(const std::string& directory, std::uint64_t known) {
  for (int attempt = 0; attempt < most_claims; ++attempt) {
    const std::uint64_t next = std::max({known, counted_in(directory), largest(claims_in(directory))}) + 1;
    const std::string claim = claim_path(directory, next);
    const int descriptor = ::open(claim.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno != EEXIST) return next;
    known = next;
    if (descriptor < 0) continue;
    ::close(descriptor);
    const auto claims = claims_in(directory);
    if (largest(claims) > next) {
      ::unlink(claim.c_str());
      continue;
    }
    for (const std::uint64_t older : claims)
      if (older < next) ::unlink(claim_path(directory, older).c_str());
    return next;
  }
  return known + 1;
}

}  // namespace afterbay::journal
