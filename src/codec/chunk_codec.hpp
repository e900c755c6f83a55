// SPDX-License-Identifier: Apache-2.0
// ChunkCodec: the filter pipeline of one variable's chunks, shuffle then deflate, in HDF5's encoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.hpp"
#include "codec/aligned_buffer.hpp"

namespace afterbay::codec {

/// Which filters a variable has, in the order in which they are applied.
struct ChunkCodec {
  bool shuffle = false;
  int deflate = 0;  ///< zlib level, 0: none
  std::size_t element_bytes = 1;

  [[nodiscard]] bool active() const noexcept { return shuffle || deflate > 0; }
  friend bool operator==(const ChunkCodec&, const ChunkCodec&) = default;
};

/// An encoded chunk. Bit i of `skipped` is set when the i-th filter of the pipeline was not applied
/// (HDF5's filter mask): deflate is left out where it would not make the chunk smaller.
struct EncodedChunk {
  AlignedBuffer bytes;
  std::uint32_t skipped = 0;
};

/// Encodes one chunk. Pure: any thread, no lock. It has its own size when deflate was left out, and less
/// when not: so the size alone tells what was skipped.
Result<EncodedChunk> encode(const ChunkCodec& codec, std::span<const std::byte> chunk);

/// `skipped` of a chunk of `chunk_bytes` that `encode` made `encoded_bytes` of.
std::uint32_t skipped_filters(const ChunkCodec& codec, std::uint64_t encoded_bytes,
                              std::uint64_t chunk_bytes) noexcept;

/// Decodes what `encode` made into exactly `chunk.size()` bytes.
Result<> decode(const ChunkCodec& codec, std::span<const std::byte> encoded, std::uint32_t skipped,
                std::span<std::byte> chunk);

}  // namespace afterbay::codec
