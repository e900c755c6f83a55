// SPDX-License-Identifier: Apache-2.0
// Mapping: a piece of memory, private to the process or shared under a name, unmapped when it
// goes out of scope. Shared memory is reserved when it is made, so that a full /dev/shm is an
// error at start and not a signal in the middle of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.hpp"

namespace afterbay::transport::shm {

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
  /// New shared memory; fails when the name exists, or with `no_space` when it does not fit.
  static Result<Mapping> create(const std::string& name, std::uint64_t bytes);
  /// Shared memory that another process made; fails when its size is not `bytes`.
  static Result<Mapping> open(const std::string& name, std::uint64_t bytes);
  /// Takes the name away; those who mapped the memory keep it.
  static void unlink(const std::string& name) noexcept;

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

}  // namespace afterbay::transport::shm
