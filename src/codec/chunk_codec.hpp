// SPDX-License-Identifier: Apache-2.0
// ChunkCodec: the filters of one variable's chunks, with their codecs found once, in HDF5's encoding. Writing
// and reading use the same one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "codec/aligned_buffer.hpp"
#include "codec/codec.hpp"

namespace afterbay::codec {

/// An encoded chunk. Bit i of `skipped` is set when the i-th filter was not applied (HDF5's filter mask): a
/// compressor is left out where it would not make the chunk smaller.
struct EncodedChunk {
  AlignedBuffer bytes;
  std::uint32_t skipped = 0;
};

/// Memory for what lies between two filters.
class Workspace {
 public:
  Workspace() = default;
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  virtual ~Workspace() = default;
  /// `size_bytes` bytes, valid until the slot (0 or 1) is taken again.
  virtual std::span<std::byte> take(std::size_t slot, std::size_t size_bytes) = 0;
};

/// New memory for each use.
class OwnWorkspace : public Workspace {
 public:
  std::span<std::byte> take(std::size_t slot, std::size_t size_bytes) override {
    return (slots_[slot] = AlignedBuffer(size_bytes)).bytes();
  }

 private:
  AlignedBuffer slots_[2];
};

/// Immutable; all its functions may be called by any thread.
class ChunkCodec {
 public:
  /// No filters.
  ChunkCodec() = default;
  /// Fails with invalid_argument when `mistake_in(chain)` finds something or elements have no bytes.
  static Result<ChunkCodec> make(FilterChain chain, std::size_t element_bytes);

  [[nodiscard]] bool active() const noexcept { return !chain_.empty(); }
  /// In the order in which they are applied.
  [[nodiscard]] const FilterChain& filters() const noexcept { return chain_; }
  [[nodiscard]] std::size_t element_bytes() const noexcept { return element_bytes_; }

  /// Encodes one chunk. The size of the result alone tells what was left out, see `skipped_filters`.
  [[nodiscard]] Result<EncodedChunk> encode(std::span<const std::byte> chunk) const;

  /// Most bytes that a chunk of `chunk_bytes` may have when it is encoded.
  [[nodiscard]] std::uint64_t most_encoded_bytes(std::uint64_t chunk_bytes) const noexcept;
  /// `skipped` of a chunk of `chunk_bytes` that `encode` made `encoded_bytes` of.
  [[nodiscard]] std::uint32_t skipped_filters(std::uint64_t encoded_bytes,
                                              std::uint64_t chunk_bytes) const noexcept;

  /// Decodes a stored chunk into exactly `chunk.size()` bytes, whoever encoded it; any filters may have been
  /// skipped. Fails with format when the data are damaged.
  Result<> decode(std::span<const std::byte> stored, std::uint32_t skipped, std::span<std::byte> chunk,
                  Workspace& workspace) const;

  friend bool operator==(const ChunkCodec& a, const ChunkCodec& b) {
    return a.chain_ == b.chain_ && a.element_bytes_ == b.element_bytes_;
  }

 private:
  [[nodiscard]] Filtering filtering(std::size_t filter) const noexcept {
    return {chain_[filter].parameters, element_bytes_};
  }
  /// Bytes that the filters before `end`, of those that were applied, have added.
  [[nodiscard]] std::size_t added_before(std::size_t end, std::uint32_t skipped) const noexcept;

  FilterChain chain_;
  std::vector<const Codec*> codecs_;  ///< of `chain_`
  std::size_t element_bytes_ = 1;
};

}  // namespace afterbay::codec
