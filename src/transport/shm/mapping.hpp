// SPDX-License-Identifier: Apache-2.0
// Mapping: memory that is private to the process or shared with others, unmapped at the end of its
// scope. A new mapping is address space only. Its parts are allocated when needed, by a call that
// fails if there is no memory, so that a lack of memory is an error and not a signal. Shared memory
// has no name in any file system: processes that die leave nothing behind, and the size of
// /dev/shm, which is small in many containers, does not matter. Huge pages are used where the
// system permits them for shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>

#include "base/result.hpp"

namespace afterbay::transport::shm {

struct SharedMemory;

/// A part of a mapping.
struct Extent {
  std::uint64_t at = 0;
  std::uint64_t bytes = 0;
};

class Mapping {
 public:
  Mapping() = default;
  ~Mapping();
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  /// Address space for zeroed memory of this process, not allocated yet.
  static Result<Mapping> anonymous(std::uint64_t bytes);
  /// Address space for zeroed shared memory, not allocated yet. Fails with `no_space` if the node
  /// (or this process's control groups) currently has less memory than that.
  static Result<SharedMemory> create(std::uint64_t bytes);
  /// Shared memory that another process of this user has created, by its door's address; fails if
  /// its size is not `bytes`.
  static Result<Mapping> open(const std::string& address, std::uint64_t bytes);

  /// Allocates the pages of these parts and faults them into this process for writing; contents are
  /// unchanged. Fails with `no_space` if there is not enough memory; parts that were already
  /// allocated stay allocated. Any thread.
  Result<void> allocate(std::initializer_list<Extent> parts);
  /// Faults a part that any process has allocated into this process for writing. Any thread.
  void populate(Extent part) noexcept;

  /// Drops the page tables of a part of shared memory, rounded inwards to pages; contents stay.
  /// Pages are mapped again when they are used, which they may be meanwhile. Any thread.
  void forget_pages(Extent part) noexcept;

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return bytes_; }

 private:
  Mapping(std::byte* data, std::uint64_t bytes, int fd) noexcept : data_(data), bytes_(bytes), fd_(fd) {}
  static Result<Mapping> map(int fd, std::uint64_t bytes, const std::string& what);
  /// Returns 0 or errno.
  int allocate(Extent part) noexcept;
  /// Returns 0 or errno; EINVAL if the kernel cannot do it in one call.
  int fault_in(Extent part) noexcept;
  void touch(Extent part) noexcept;
  /// Offsets of its first page and of its end.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> pages_of(Extent part) const noexcept;

  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
  int fd_ = -1;  ///< for shared memory
};

/// While a door is open, others can map the memory behind it; processes that have mapped it keep
/// the memory.
class Door {
 public:
  Door() = default;
  explicit Door(int fd) noexcept : fd_(fd) {}
  ~Door();
  Door(Door&& other) noexcept;
  Door& operator=(Door&& other) noexcept;
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  [[nodiscard]] int fd() const noexcept { return fd_; }
  /// Address for Mapping::open in any process of this node in the same process namespace.
  [[nodiscard]] std::string address() const;

 private:
  int fd_ = -1;
};

struct SharedMemory {
  Mapping mapping;
  Door door;
};

}  // namespace afterbay::transport::shm
