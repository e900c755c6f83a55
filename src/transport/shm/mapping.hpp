// SPDX-License-Identifier: Apache-2.0
// Mapping: a piece of memory, private to the process or shared with others, unmapped when it goes out of
// scope. Shared memory is reserved when it is made, so that too little of it is an error at start and not a
// signal in the middle of a run. It has no name in any file system: nothing is left behind by processes
// that die, and the size of /dev/shm, small in many containers, does not matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.hpp"

namespace afterbay::transport::shm {

struct SharedMemory;

class Mapping {
 public:
  Mapping() = default;
  ~Mapping();
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  /// Zeroed memory of this process.
  static Result<Mapping> anonymous(std::uint64_t bytes);
  /// New shared memory; fails with `no_space` when the node (or this process's control group) has less.
  static Result<SharedMemory> create(std::uint64_t bytes);
  /// Shared memory that another process of this user has made, by its door's address; fails when its size
  /// is not `bytes`.
  static Result<Mapping> open(const std::string& address, std::uint64_t bytes);

  /// Faults all pages into this process for writing, contents unchanged.
  void populate() noexcept;

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return bytes_; }

 private:
  Mapping(std::byte* data, std::uint64_t bytes) noexcept : data_(data), bytes_(bytes) {}
  static Result<Mapping> map(int fd, std::uint64_t bytes, const std::string& what);

  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
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
