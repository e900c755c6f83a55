// SPDX-License-Identifier: Apache-2.0
#include "storage/input/input_bytes.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "model/layout.hpp"
#include "storage/block_writer/system_error.hpp"
#include "storage/stopwatch.hpp"

namespace afterbay::storage {
namespace {

using model::page_bytes;

/// For smaller reads the page cache, which reads ahead, is at least as fast as a direct read.
constexpr std::uint64_t least_direct_read_bytes = 256u << 10;

std::uint64_t page_up(std::uint64_t value) { return (value + page_bytes - 1) / page_bytes * page_bytes; }
std::uint64_t page_down(std::uint64_t value) { return value / page_bytes * page_bytes; }

}  // namespace

InputBytes::InputBytes(std::string path, DirectIo policy, std::shared_ptr<Disk> disk)
    : path_(std::move(path)),
      policy_(policy),
      disk_(disk ? std::move(disk) : Disk::real()),
      pool_(input_chunk_memory_bytes) {}

Result<std::unique_ptr<InputBytes>> InputBytes::open(std::string path, DirectIo direct_io,
                                                     std::shared_ptr<Disk> disk) {
  std::unique_ptr<InputBytes> bytes(new InputBytes(std::move(path), direct_io, std::move(disk)));
  bytes->descriptor_ =
      Descriptor(bytes->disk_->open(bytes->path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0));
  if (!bytes->descriptor_.open()) return fail(system_error(errno, "open for reading", bytes->path_));
  if (direct_io != DirectIo::off) AFTERBAY_TRY(bytes->open_direct());
  return bytes;
}

Result<> InputBytes::open_direct() {
  // By descriptor, not by name: another file may have got the name meanwhile.
  const std::string same = "/proc/self/fd/" + std::to_string(descriptor_.get());
  direct_descriptor_ = Descriptor(disk_->open(same.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC, 0));
  if (!direct_descriptor_.open()) return refused(errno);
  direct_ = true;
  return {};
}

/// The file system refuses direct I/O: continues without it, unless the user requires it.
Result<> InputBytes::refused(int number) {
  direct_ = false;
  if (policy_ == DirectIo::automatic) return {};
  return fail(system_error(number, "read with direct I/O (O_DIRECT)", path_)
                  .add("direct I/O was requested with 'on'; 'automatic' falls back to the page cache"));
}

bool InputBytes::named(const std::string& path) const {
  struct stat opened {};
  struct stat found {};
  return ::fstat(descriptor_.get(), &opened) == 0 && ::stat(path.c_str(), &found) == 0 &&
         opened.st_dev == found.st_dev && opened.st_ino == found.st_ino;
}

bool InputBytes::pays(std::uint64_t size_bytes) const noexcept {
  return direct() && size_bytes >= least_direct_read_bytes;
}

Result<> InputBytes::check_end(std::uint64_t offset, std::uint64_t size_bytes) const {
  struct stat status {};
  if (::fstat(descriptor_.get(), &status) != 0) return fail(system_error(errno, "find the size of", path_));
  const auto end = static_cast<std::uint64_t>(status.st_size);
  if (offset <= end && size_bytes <= end - offset) return {};
  return fail(ErrorCode::format,
              "{} has {} bytes, but {} bytes from offset {} on are needed: the file is truncated or damaged",
              path_, end, size_bytes, offset);
}

/// Reads whole pages and returns the number of bytes, which is less than `wanted` only if direct
/// I/O turns out to be impossible, or at the end of the file.
Result<std::uint64_t> InputBytes::read_direct(std::uint64_t offset, std::span<std::byte> pages,
                                              std::uint64_t wanted, ReadCost& cost) {
  const Stopwatch watch(cost.read_ns);
  std::uint64_t done = 0;
  while (done < wanted) {
    const ssize_t got = disk_->read(direct_descriptor_.get(), pages.data() + done, pages.size() - done,
                                    static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EINVAL || errno == EOPNOTSUPP)) {
      AFTERBAY_TRY(refused(errno));
      break;
    }
    if (got < 0) return fail(system_error(errno, "read from", path_));
    done += static_cast<std::uint64_t>(got);
    // The end of the file, or close to it.
    if (got == 0 || got % static_cast<ssize_t>(page_bytes) != 0) break;
  }
  done = std::min<std::uint64_t>(done, pages.size());
  cost.direct_bytes += done;
  cost.bytes_in += done;
  return done;
}

Result<> InputBytes::read_buffered(std::uint64_t offset, std::span<std::byte> to, ReadCost& cost) {
  const Stopwatch watch(cost.read_ns);
  std::uint64_t done = 0;
  while (done < to.size()) {
    const ssize_t got =
        disk_->read(descriptor_.get(), to.data() + done, to.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(system_error(errno, "read from", path_));
    if (got == 0) {
      AFTERBAY_TRY(check_end(offset, to.size()));
      return fail(ErrorCode::format, "{} ended while it was read, after {} of {} bytes from offset {} on",
                  path_, done, to.size(), offset);
    }
    done += static_cast<std::uint64_t>(got);
  }
  cost.bytes_in += to.size();
  return {};
}

Result<> InputBytes::read(std::uint64_t offset, std::span<std::byte> to, ReadCost& cost) {
  const std::uint64_t first = page_up(offset);
  const std::uint64_t last = page_down(offset + to.size());
  const bool congruent = reinterpret_cast<std::uintptr_t>(to.data()) % page_bytes == offset % page_bytes;
  if (!congruent || last < first || !pays(last - first)) return read_buffered(offset, to, cost);
  const std::span<std::byte> pages = to.subspan(first - offset, last - first);
  AFTERBAY_TRY(read_buffered(offset, to.first(first - offset), cost));
  AFTERBAY_TRY_ASSIGN(const std::uint64_t done, read_direct(first, pages, pages.size(), cost));
  return read_buffered(first + done, to.subspan(first - offset + done), cost);
}

Result<std::span<std::byte>> InputBytes::load(std::uint64_t offset, std::uint64_t size_bytes,
                                              BufferPool::Loan& buffer, ReadCost& cost) {
  if (offset > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max()) - size_bytes)
    return fail(ErrorCode::format, "{} bytes at offset {}: no file is that large, the file is damaged",
                size_bytes, offset);
  const std::uint64_t first = page_down(offset);
  const std::uint64_t pages_bytes = page_up(offset + size_bytes) - first;
  if (buffer.bytes().size() < pages_bytes) {
    AFTERBAY_TRY(check_end(offset, size_bytes));  // no large allocation for a damaged size
    buffer = pool_.borrow(pages_bytes);
  }
  const std::span<std::byte> wanted = buffer.bytes().subspan(offset - first, size_bytes);
  std::uint64_t done = 0;
  if (pays(size_bytes)) {
    const std::uint64_t end = offset + size_bytes - first;
    AFTERBAY_TRY_ASSIGN(done, read_direct(first, buffer.bytes().first(pages_bytes), end, cost));
    if (done >= end) return wanted;
    done -= std::min(done, offset - first);
  }
  AFTERBAY_TRY(read_buffered(offset + done, wanted.subspan(done), cost));
  return wanted;
}

}  // namespace afterbay::storage
