// SPDX-License-Identifier: Apache-2.0
#include "storage/epoch/recovery_mark.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <limits>

#include "base/regular_file.hpp"
#include "storage/block_writer/disk.hpp"
#include "storage/block_writer/part_file.hpp"
#include "storage/block_writer/system_error.hpp"
#include "storage/epoch/epoch_log.hpp"

namespace afterbay::storage {
namespace {

constexpr std::uint64_t nothing = std::numeric_limits<std::uint64_t>::max();
/// 20 digits and the end of the line: a constant length, so that it is never partly written.
constexpr std::size_t text_bytes = 21;

std::uint64_t bytes_in(int descriptor) {
  std::array<char, text_bytes> text{};
  if (::pread(descriptor, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) return nothing;
  std::uint64_t bytes = 0;
  const char* const end = text.data() + text.size() - 1;
  const auto parsed = std::from_chars(text.data(), end, bytes);
  return parsed.ec == std::errc() && parsed.ptr == end && *end == '\n' ? bytes : nothing;
}

}  // namespace

RecoveryMark::RecoveryMark(const std::string& part_path) : path_(recovery_mark_of(part_path)) {}

std::uint64_t RecoveryMark::least_bytes() const noexcept {
  const Descriptor mark(::open(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  return mark.open() && is_regular_file(mark.get()) ? bytes_in(mark.get()) : nothing;
}

Result<> RecoveryMark::lower(std::uint64_t bytes) const {
  const Descriptor mark(::open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666));
  if (!mark.open()) return fail(system_error(errno, "create", path_));
  if (!is_regular_file(mark.get()))
    return fail(make_error(ErrorCode::io, "{} is not a regular file: remove it", path_).in_file(path_));
  if (bytes_in(mark.get()) <= bytes) return {};
  const std::string text = fmt::format("{:020}\n", bytes);
  const ssize_t written = ::pwrite(mark.get(), text.data(), text.size(), 0);
  if (written != static_cast<ssize_t>(text.size()))
    return fail(system_error(written < 0 ? errno : ENOSPC, "write to", path_));
  if (::fsync(mark.get()) != 0) return fail(system_error(errno, "make durable (fsync)", path_));
  return sync_directory_of(*Disk::real(), path_);
}

}  // namespace afterbay::storage
