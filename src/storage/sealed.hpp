// SPDX-License-Identifier: Apache-2.0
// Sealed: numbers that one process gives to another one that works on the same file, as bytes that travel
// through the hands of others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "model/layout.hpp"

namespace afterbay::storage {

enum class SealedKind : std::uint8_t { netcdf4_share = 1, cdf_share = 2, account = 3, checksum = 4 };

/// The same for two layouts when their pieces and how they are stored are the same.
std::uint64_t digest_of(const model::FileLayout& layout);

/// Numbers, then a checksum of all before it.
class SealedWriter {
 public:
  SealedWriter(SealedKind kind, std::uint64_t layout_digest);
  void number(std::uint64_t value);
  [[nodiscard]] std::vector<std::byte> finish() &&;

 private:
  std::vector<std::byte> bytes_;
};

/// Reads what a SealedWriter made of the same kind and for the same layout. The bytes must outlive it.
class SealedReader {
 public:
  /// Fails with format when they are not whole, changed, of another kind or of another version of the
  /// library; with conflict when they are for another layout.
  static Result<SealedReader> open(std::span<const std::byte> bytes, SealedKind kind,
                                   std::uint64_t layout_digest);
  /// Fails with format at the end, or when the number is larger than `most`.
  Result<std::uint64_t> number(std::uint64_t most = ~std::uint64_t{0});
  /// Fails with format when there are more numbers.
  [[nodiscard]] Result<> end() const;

 private:
  SealedReader(std::span<const std::byte> bytes, SealedKind kind) : rest_(bytes), kind_(kind) {}
  [[nodiscard]] tl::unexpected<Error> broken(const char* why) const;

  std::span<const std::byte> rest_;
  SealedKind kind_;
};

}  // namespace afterbay::storage
