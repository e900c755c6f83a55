// SPDX-License-Identifier: Apache-2.0
// Sealed: checksummed encoding of numbers, exchanged between processes that write the same file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "model/layout.hpp"

namespace afterbay::storage {

enum class SealedKind : std::uint8_t { netcdf4_share = 1, cdf_share = 2, pieces = 3, checksum = 4 };

/// Equal for two layouts with the same pieces and the same storage of the pieces.
std::uint64_t digest_of(const model::FileLayout& layout);

/// Encodes numbers, followed by a checksum of all of them.
class SealedWriter {
 public:
  SealedWriter(SealedKind kind, std::uint64_t layout_digest);
  void number(std::uint64_t value);
  [[nodiscard]] std::vector<std::byte> finish() &&;

 private:
  std::vector<std::byte> bytes_;
};

/// Reads the encoding of a SealedWriter of the same kind and for the same layout. The bytes must
/// outlive it.
class SealedReader {
 public:
  /// Fails with format if the bytes are incomplete, changed, of another kind or of another version
  /// of the library; with conflict if they are for another layout.
  static Result<SealedReader> open(std::span<const std::byte> bytes, SealedKind kind,
                                   std::uint64_t layout_digest);
  /// Fails with format at the end, or if the number is larger than `most`.
  Result<std::uint64_t> number(std::uint64_t most = ~std::uint64_t{0});
  /// Fails with format if there are more numbers.
  [[nodiscard]] Result<> end() const;

 private:
  SealedReader(std::span<const std::byte> bytes, SealedKind kind) : rest_(bytes), kind_(kind) {}
  [[nodiscard]] tl::unexpected<Error> broken(const char* why) const;

  std::span<const std::byte> rest_;
  SealedKind kind_;
};

}  // namespace afterbay::storage
