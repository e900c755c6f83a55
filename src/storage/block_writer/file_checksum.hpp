// SPDX-License-Identifier: Apache-2.0
// FileChecksum: the checksum of a file's bytes, updated while they are written in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "base/thread_safety.hpp"

namespace afterbay::storage {

/// CRC-64/XZ (base/crc64.hpp): the checksums of parts are joined to the checksum of the whole, so
/// that bytes whose checksum was computed while they were written are never read again. Bytes whose
/// checksum is unknown, for example after a partial overwrite, are read at the end. Neighbours are
/// joined, so that it takes about 100 bytes of memory per several MiB. Any thread may call it.
///
/// Several processes that write one file keep one each; one of them takes what all
/// others know and finishes. Parts that two of them know are read at the end, because it is unknown
/// whose bytes were written last.
class FileChecksum {
 public:
  /// These bytes have been written at this offset.
  void written(std::uint64_t offset, std::span<const std::byte> bytes);
  /// The same for bytes whose checksum is known.
  void written(std::uint64_t offset, std::uint64_t size_bytes, std::uint64_t checksum);
  /// Unknown bytes have been written at this offset.
  void changed(std::uint64_t offset, std::uint64_t size_bytes);
  /// The file now ends at this size.
  void cut(std::uint64_t size_bytes);

  /// Reads exactly `bytes.size()` bytes.
  using Read = std::function<Result<>(std::uint64_t offset, std::span<std::byte> bytes)>;
  /// The checksum of the file's first `size_bytes` bytes. No write may run.
  Result<std::uint64_t> finish(std::uint64_t size_bytes, const Read& read) const;

  /// Everything that it knows, for `take` in another process (see sealed.hpp).
  [[nodiscard]] std::vector<std::byte> sealed() const;
  /// Adds what another process knows. Fails with format, and adds nothing, if it is invalid.
  Result<> take(std::span<const std::byte> sealed);

 private:
  struct Part {
    std::uint64_t end = 0;
    std::optional<std::uint64_t> checksum;  ///< unset: must be read
  };
  using Parts = std::map<std::uint64_t, Part>;  ///< by their first byte; disjoint

  void add(std::uint64_t begin, const Part& part) AFTERBAY_REQUIRES(mutex_);
  bool clear(std::uint64_t begin, std::uint64_t end) AFTERBAY_REQUIRES(mutex_);
  void join_next(Parts::iterator part) AFTERBAY_REQUIRES(mutex_);

  mutable Mutex mutex_;
  Parts parts_ AFTERBAY_GUARDED_BY(mutex_);
};

}  // namespace afterbay::storage
