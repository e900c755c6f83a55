// SPDX-License-Identifier: Apache-2.0
// ChunkCodec: encodes and decodes the chunks of one variable with its filters, in HDF5's encoding.
// The codecs are looked up once. Writing and reading use the same class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "codec/aligned_buffer.hpp"
#include "codec/codec.hpp"

namespace afterbay::codec {

/// An encoded chunk. Bit i of `skipped` is set if the i-th filter was not applied (HDF5's filter
/// mask): a compressor is skipped if it would not make the chunk smaller.
struct EncodedChunk {
  AlignedBuffer bytes;
  std::uint32_t skipped = 0;
};

/// Memory for intermediate results between two filters.
class Workspace {
 public:
  Workspace() = default;
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  virtual ~Workspace() = default;
  /// Returns `size_bytes` bytes, valid until the slot (0 or 1) is taken again.
  virtual std::span<std::byte> take(std::size_t slot, std::size_t size_bytes) = 0;
};

/// Takes new memory for each use, or memory that the thread has kept.
class OwnWorkspace : public Workspace {
 public:
  std::span<std::byte> take(std::size_t slot, std::size_t size_bytes) override {
    return (slots_[slot] = AlignedBuffer::reused(size_bytes)).bytes();
  }

 private:
  AlignedBuffer slots_[2];
};

/// Immutable; any thread may call its functions.
class ChunkCodec {
 public:
  /// No filters.
  ChunkCodec() = default;
  /// Fails with invalid_argument if `mistake_in(chain)` finds a mistake or `element_bytes` is 0.
  static Result<ChunkCodec> make(FilterChain chain, std::size_t element_bytes);

  [[nodiscard]] bool active() const noexcept { return !chain_.empty(); }
  /// The filters in the order in which they are applied.
  [[nodiscard]] const FilterChain& filters() const noexcept { return chain_; }
  [[nodiscard]] std::size_t element_bytes() const noexcept { return element_bytes_; }

  /// Encodes one chunk. The size of the result alone tells which filters were skipped: see
  /// `skipped_filters`.
  [[nodiscard]] Result<EncodedChunk> encode(std::span<const std::byte> chunk) const;

  /// The largest encoded size of a chunk of `chunk_bytes`.
  [[nodiscard]] std::uint64_t most_encoded_bytes(std::uint64_t chunk_bytes) const noexcept;
  /// The value of `skipped` if `encode` turned a chunk of `chunk_bytes` into `encoded_bytes`.
  [[nodiscard]] std::uint32_t skipped_filters(std::uint64_t encoded_bytes,
                                              std::uint64_t chunk_bytes) const noexcept;

  /// Decodes a stored chunk, also one written by other software, into exactly `chunk.size()` bytes;
  /// any filters may have been skipped. Fails with format if the data are damaged.
  Result<> decode(std::span<const std::byte> stored, std::uint32_t skipped, std::span<std::byte> chunk,
                  Workspace& workspace) const;

  friend bool operator==(const ChunkCodec& a, const ChunkCodec& b) {
    return a.chain_ == b.chain_ && a.element_bytes_ == b.element_bytes_;
  }

 private:
  [[nodiscard]] Filtering filtering(std::size_t filter) const noexcept {
    return {chain_[filter].parameters, element_bytes_};
  }
  /// The number of bytes appended by the filters before `end` that were applied.
  [[nodiscard]] std::size_t added_before(std::size_t end, std::uint32_t skipped) const noexcept;

  FilterChain chain_;
  std::vector<const Codec*> codecs_;  ///< one per filter of `chain_`
  std::size_t element_bytes_ = 1;
};

}  // namespace afterbay::codec
