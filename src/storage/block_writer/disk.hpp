// SPDX-License-Identifier: Apache-2.0
// Disk: the system calls that create and write files. Fault tests replace it.
#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace afterbay::storage {

/// Flags for opening directories: links are not followed.
inline constexpr int directory_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

/// The operating system's calls, each with its own return convention (-1 and errno). A test derives
/// from it to make the n-th call fail, to write short, or to be slow. Any thread may call it.
class Disk {
 public:
  virtual ~Disk() = default;
  virtual int open(const char* path, int flags, mode_t mode);
  virtual ssize_t write(int descriptor, const std::byte* bytes, std::size_t count, off_t offset);
  virtual ssize_t read(int descriptor, std::byte* bytes, std::size_t count, off_t offset);
  virtual int sync(int descriptor);
  virtual int truncate(int descriptor, off_t length);
  /// rename; with `replace` false it fails with EEXIST if `to` exists.
  virtual int rename(const char* from, const char* to, bool replace);
  /// Swaps the names of two files or directories, atomically. EINVAL, ENOSYS: the file system does
  /// not support this.
  virtual int exchange(const char* a, const char* b);
  /// mkdir: EEXIST if the name is taken.
  virtual int make_directory(const char* path);
  /// openat and mkdirat: of a name in an open directory, whatever that directory is called by now.
  virtual int open_at(int directory, const char* name, int flags, mode_t mode);
  virtual int make_directory_at(int directory, const char* name);
  /// Gives an open file another name. EEXIST: the name is taken; ENOSYS: the system does not
  /// support this.
  virtual int link(int descriptor, const char* to);
  /// Creates the missing directories of a path, durably.
  virtual int make_directories(const char* path);
  /// Copies all bytes from the current positions of both files (with shared blocks if the file
  /// system supports it). After a failure, another call continues from there.
  virtual int copy(int from, int to);
  /// Starts writing a range of dirty pages to the device, without waiting.
  virtual int start_write_back(int descriptor, off_t offset, off_t count);

  /// Allocates space: blocks that read as 0; extends the file if it was shorter.
  virtual int allocate(int descriptor, off_t offset, off_t length);
  /// Whether direct writes into allocated space run concurrently, while those that extend the file
  /// are serialized: on ext4 since Linux 6.3.
  virtual bool writes_side_by_side(const char* path);

  /// Whether bytes that one node writes to a part of a page are kept if another node writes to the
  /// rest of it: false for network file systems whose nodes cache pages independently (NFS).
  virtual bool shares_pages(const char* path);

  /// Bytes that this process may still write to the file system of a file, considering quotas.
  virtual std::int64_t free_bytes(int descriptor);

  static std::shared_ptr<Disk> real();
};

/// An open file descriptor with one owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { reset(); }

  [[nodiscard]] int get() const noexcept { return number_; }
  [[nodiscard]] bool open() const noexcept { return number_ >= 0; }
  int release() noexcept;
  void reset() noexcept;

 private:
  int number_ = -1;
};

}  // namespace afterbay::storage
