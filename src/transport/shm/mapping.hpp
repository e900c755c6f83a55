// SPDX-License-Identifier: Apache-2.0
// Mapping: a piece of memory, private to the process or shared with others, unmapped when it goes out of
// scope. A new mapping is address space only; its parts are allocated as they are needed, by a call that
// fails when there is no memory, so that too little of it is an error and not a signal. Shared memory has no
// name in any file system: nothing is left behind by processes that die, and the size of /dev/shm, small in
// many containers, does not matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

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
  /// Address space for zeroed shared memory, not allocated yet. Fails with `no_space` when the node (or this
  /// process's control groups) has less memory than that now.
  static Result<SharedMemory> create(std::uint64_t bytes);
  /// Shared memory that another process of this user has made, by its door's address; fails when its size
  /// is not `bytes`.
  static Result<Mapping> open(const std::string& address, std::uint64_t bytes);

  /// Allocates the pages of these parts and faults them into this process for writing, contents unchanged.
  /// Fails with `no_space` when there is not enough memory; what was allocated by then stays. Any thread.
  Result<void> allocate(std::initializer_list<Extent> parts);
  /// Faults a part that is allocated, by whatever process, into this one for writing. Any thread.
  void populate(Extent part) noexcept;

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return bytes_; }

 private:
  Mapping(std::byte* data, std::uint64_t bytes, int fd) noexcept : data_(data), bytes_(bytes), fd_(fd) {}
  static Result<Mapping> map(int fd, std::uint64_t bytes, const std::string& what);
  /// 0, or the error number.
  int allocate(Extent part) noexcept;
  /// 0, or the error number.
  int fault_in(Extent part) noexcept;

  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
  int fd_ = -1;  ///< of shared memory
};

/// Others can map the memory behind a door while it is open; those who have done so keep the memory.
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
  /// For Mapping::open in any process of this node with the same numbering of processes.
  [[nodiscard]] std::string address() const;

 private:
  int fd_ = -1;
};

struct SharedMemory {
  Mapping mapping;
  Door door;
};

}  // namespace afterbay::transport::shm
