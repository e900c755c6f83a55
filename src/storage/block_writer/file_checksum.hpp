// SPDX-License-Identifier: Apache-2.0
// FileChecksum: the checksum of a file's bytes, kept while they are written in any order.
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

/// CRC-64/XZ (base/crc64.hpp): the checksums of parts are joined to that of the whole, so that what was
/// seen when it was written is never read again. What was not seen, or is not known any more since it was
/// overwritten in part, is read at the end. Neighbours are joined, so that it takes some 100 bytes of
/// memory for every few MiB. Any thread may call it.
///
/// Several processes that write one file keep one each; the accounts of all are taken by one, which finishes.
/// Parts of which two of them say something are read at the end: nobody knows whose bytes are there.
class FileChecksum {
 public:
  /// These bytes are written there now.
  void written(std::uint64_t offset, std::span<const std::byte> bytes);
  /// The same for bytes whose checksum is known.
  void written(std::uint64_t offset, std::uint64_t size_bytes, std::uint64_t checksum);
  /// Other bytes are written there now.
  void changed(std::uint64_t offset, std::uint64_t size_bytes);
  /// The file ends there now.
  void cut(std::uint64_t size_bytes);

  /// Reads exactly so many bytes.
  using Read = std::function<Result<>(std::uint64_t offset, std::span<std::byte> bytes)>;
  /// Of the file's first `size_bytes` bytes. No write may run.
  Result<std::uint64_t> finish(std::uint64_t size_bytes, const Read& read) const;

  /// All that it knows, for `take` in another process (see sealed.hpp).
  [[nodiscard]] std::vector<std::byte> account() const;
  /// Adds what another process knows. Fails with format, and adds nothing, when it is no account.
  Result<> take(std::span<const std::byte> account);

 private:
  struct Part {
    std::uint64_t end = 0;
    std::optional<std::uint64_t> checksum;  ///< unset: to be read
  };
  using Parts = std::map<std::uint64_t, Part>;  ///< by their first byte; no two overlap

  void add(std::uint64_t begin, const Part& part) AFTERBAY_REQUIRES(mutex_);
  bool clear(std::uint64_t begin, std::uint64_t end) AFTERBAY_REQUIRES(mutex_);
  void join_next(Parts::iterator part) AFTERBAY_REQUIRES(mutex_);

  mutable Mutex mutex_;
  Parts parts_ AFTERBAY_GUARDED_BY(mutex_);
};

}  // namespace afterbay::storage
