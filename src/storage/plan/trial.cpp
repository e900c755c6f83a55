// SPDX-License-Identifier: Apache-2.0
#include "storage/plan/trial.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include "codec/aligned_buffer.hpp"
#include "storage/block_writer/disk.hpp"
#include "storage/block_writer/system_error.hpp"
#include "storage/striping/lfs.hpp"

namespace afterbay::storage {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds lfs_deadline{10'000};

/// A faulted-in block whose contents do not compress.
codec::AlignedBuffer make_block(std::uint64_t bytes) {
  codec::AlignedBuffer block(bytes);
  std::uint64_t state = 0x9E3779B97F4A7C15;
  for (std::uint64_t at = 0; at + sizeof state <= bytes; at += sizeof state) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    std::memcpy(block.data() + at, &state, sizeof state);
  }
  return block;
}

/// A new directory with an unpredictable name, which only this user can enter.
class PrivateDirectory {
 public:
  explicit PrivateDirectory(const std::string& inside) : path_(inside + "/.afterbay-plan-XXXXXX") {
    made_ = ::mkdtemp(path_.data()) != nullptr;
  }
  PrivateDirectory(const PrivateDirectory&) = delete;
  PrivateDirectory& operator=(const PrivateDirectory&) = delete;
  ~PrivateDirectory() {
    if (made_) ::rmdir(path_.c_str());
  }
  [[nodiscard]] bool made() const noexcept { return made_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  bool made_;
};

/// Creates a file and removes its name. It is created in its own directory: `lfs` creates striped
/// files by name, and in a directory that others can write to the name could be their link.
/// `stripes`: receives the stripes of the file, if it should have any; may be null.
Result<Descriptor> open_nameless(const std::string& directory, const TrialSetup& setup,
                                 std::string* stripes) {
  const PrivateDirectory own(directory);
  if (!own.made()) return fail(system_error(errno, "create a directory in", directory));
  const std::string path = own.path() + "/trial";
  if (setup.stripes) AFTERBAY_TRY(set_stripes(path, *setup.stripes, lfs_deadline));
  const int exclusive = setup.stripes ? 0 : O_EXCL;
  const int flags = O_WRONLY | O_CREAT | exclusive | O_NOFOLLOW | O_CLOEXEC | (setup.direct ? O_DIRECT : 0);
  Descriptor file(::open(path.c_str(), flags, 0600));
  const int number_of_error = errno;
  if (setup.stripes && stripes != nullptr && file.open()) *stripes = found_stripes(path, lfs_deadline);
  ::unlink(path.c_str());  // also if open has created the file and then refused O_DIRECT
  if (!file.open())
    return fail(system_error(number_of_error, setup.direct ? "open with O_DIRECT" : "create", path));
  return file;
}

class Trial {
 public:
  Trial(const TrialSetup& setup, const TrialSize& size)
      : setup_(setup), size_(size), blocks_(std::max<std::uint64_t>(1, size.bytes / setup.block_bytes)) {}

  Result<> open(const std::string& directory, std::string* stripes) {
    for (int file = 0; file < (setup_.separate ? setup_.writers : 1); ++file) {
      AFTERBAY_TRY_ASSIGN(Descriptor opened, open_nameless(directory, setup_, file == 0 ? stripes : nullptr));
      files_.push_back(std::move(opened));
    }
    for (int writer = 0; writer < setup_.writers; ++writer)
      buffers_.push_back(make_block(setup_.block_bytes));
    return {};
  }

  Result<double> run() {
    std::latch ready(setup_.writers + 1);
    Clock::time_point start;
    {
      std::vector<std::jthread> writers;
      for (int writer = 0; writer < setup_.writers; ++writer)
        writers.emplace_back([this, &ready, writer] {
          ready.arrive_and_wait();
          write(static_cast<std::uint64_t>(writer));
        });
      start = Clock::now();
      ready.arrive_and_wait();
    }
    for (const Descriptor& file : files_)
      if (::fsync(file.get()) != 0) note(errno);
    const std::chrono::duration<double> seconds = Clock::now() - start;
    if (error_ != 0) return fail(system_error(error_, "write", "a trial file"));
    if (written_ == 0) return fail(ErrorCode::timed_out, "the time was up before a block was written");
    return static_cast<double>(written_) / seconds.count();
  }

 private:
  /// Writes blocks writer, writer + n, ... of all blocks; in separate files without gaps.
  void write(std::uint64_t writer) {
    const auto step = static_cast<std::uint64_t>(setup_.writers);
    const int file = files_[setup_.separate ? writer : 0].get();
    for (std::uint64_t block = writer; block < blocks_ && error_ == 0; block += step) {
      if (Clock::now() >= size_.until) return;
      const std::uint64_t place = setup_.separate ? block / step : block;
      if (!write_block(file, place * setup_.block_bytes, buffers_[writer].bytes())) return;
    }
  }

  bool write_block(int file, std::uint64_t offset, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) {
        note(count < 0 ? errno : ENOSPC);
        return false;
      }
      bytes = bytes.subspan(static_cast<std::size_t>(count));
      offset += static_cast<std::uint64_t>(count);
      written_ += static_cast<std::uint64_t>(count);
    }
    return true;
  }

  void note(int number) {
    int none = 0;
    error_.compare_exchange_strong(none, number);
  }

  const TrialSetup& setup_;
  const TrialSize& size_;
  std::uint64_t blocks_;
  std::vector<Descriptor> files_;
  std::vector<codec::AlignedBuffer> buffers_;
  std::atomic<std::uint64_t> written_{0};
  std::atomic<int> error_{0};
};

}  // namespace

Result<double> run_trial(const std::string& directory, const TrialSetup& setup, const TrialSize& size,
                         std::string* found_stripes) {
  Trial trial(setup, size);
  AFTERBAY_TRY(trial.open(directory, found_stripes));
  return trial.run();
}

}  // namespace afterbay::storage
