// SPDX-License-Identifier: Apache-2.0
// Disk: the system calls by which files are made. The one place where fault tests step in.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace afterbay::storage {

/// The operating system's calls, each with its own return convention (-1 and errno). A test derives
/// from it to fail the n-th call, to write short, or to be slow. Any thread may call it.
class Disk {
 public:
  virtual ~Disk() = default;
  virtual int open(const char* path, int flags, mode_t mode);
  virtual ssize_t write(int descriptor, const std::byte* bytes, std::size_t count, off_t offset);
  virtual ssize_t read(int descriptor, std::byte* bytes, std::size_t count, off_t offset);
  virtual int sync(int descriptor);
  virtual int truncate(int descriptor, off_t length);
  /// rename; with `replace` false it fails with EEXIST when `to` exists.
  virtual int rename(const char* from, const char* to, bool replace);
  /// Gives an open file a further name; EEXIST: it is taken, ENOSYS: the system does not let one do that.
  virtual int link(int descriptor, const char* to);
  /// Makes what is missing of a path of directories, durably.
  virtual int make_directories(const char* path);
  /// Copies all bytes from where the two files stand (shared, where the file system can do so). After a
  /// failure another call goes on from there.
  virtual int copy(int from, int to);
  /// Starts writing a range of dirty pages to the device, without waiting.
  virtual int start_write_back(int descriptor, off_t offset, off_t count);

  /// Gives a file room: blocks that read as 0, and the length, if it was less.
  virtual int allocate(int descriptor, off_t offset, off_t length);
  /// Whether direct writes into room that a file has been given go side by side, where those that make it
  /// longer take turns: on ext4 from Linux 6.3 on.
  virtual bool writes_side_by_side(const char* path);

  /// Whether what one node wrote to a part of a page is kept when another node writes to the rest of it:
  /// false on network file systems whose nodes cache pages and know nothing of each other (NFS).
  virtual bool shares_pages(const char* path);

  /// Bytes that this process may still write to the file system of a file, quotas counted.
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
