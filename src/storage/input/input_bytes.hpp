// SPDX-License-Identifier: Apache-2.0
// InputBytes: reads bytes of a file at given offsets, from any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.hpp"
#include "storage/block_writer/disk.hpp"
#include "storage/input/buffer_pool.hpp"
#include "storage/input/stored_file.hpp"

namespace afterbay::storage {

/// Reads large pieces with O_DIRECT, past the page cache, and small ones through it. Any thread,
/// several at the same time. Fails with io and errno, and with format if the file ends before the
/// last byte.
class InputBytes {
 public:
  static Result<std::unique_ptr<InputBytes>> open(std::string path, DirectIo direct_io,
                                                  std::shared_ptr<Disk> disk);

  /// Fills `to`: directly if `to` and the file are congruent modulo a page, otherwise through the
  /// page cache.
  Result<> read(std::uint64_t offset, std::span<std::byte> to, ReadCost& cost);
  /// Reads bytes into a buffer of the pool; returns their position in it.
  Result<std::span<std::byte>> load(std::uint64_t offset, std::uint64_t size_bytes, BufferPool::Loan& buffer,
                                    ReadCost& cost);

  /// Whether `path` is still a name of this file.
  [[nodiscard]] bool named(const std::string& path) const;

  [[nodiscard]] BufferPool& pool() noexcept { return pool_; }
  [[nodiscard]] bool direct() const noexcept { return direct_.load(std::memory_order_relaxed); }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  InputBytes(std::string path, DirectIo policy, std::shared_ptr<Disk> disk);
  Result<> open_direct();
  Result<> refused(int number);
  [[nodiscard]] bool pays(std::uint64_t size_bytes) const noexcept;
  Result<> check_end(std::uint64_t offset, std::uint64_t size_bytes) const;
  Result<std::uint64_t> read_direct(std::uint64_t offset, std::span<std::byte> pages, std::uint64_t wanted,
                                    ReadCost& cost);
  Result<> read_buffered(std::uint64_t offset, std::span<std::byte> to, ReadCost& cost);

  std::string path_;
  DirectIo policy_;
  std::shared_ptr<Disk> disk_;
  Descriptor descriptor_;
  Descriptor direct_descriptor_;
  std::atomic<bool> direct_{false};
  BufferPool pool_;
};

}  // namespace afterbay::storage
