// SPDX-License-Identifier: Apache-2.0
#include "codec/chunk_codec.hpp"

#include <cstring>
#include <utility>

#include "codec/deflate.hpp"
#include "codec/shuffle.hpp"

namespace afterbay::codec {
namespace {

std::uint32_t deflate_bit(const ChunkCodec& codec) { return codec.shuffle ? 2u : 1u; }

}  // namespace

Result<EncodedChunk> encode(const ChunkCodec& codec, std::span<const std::byte> chunk) {
  AlignedBuffer plain;
  std::span<const std::byte> input = chunk;
  if (codec.shuffle) {
    plain = AlignedBuffer(chunk.size());
    AFTERBAY_TRY(shuffle(chunk, codec.element_bytes, plain.bytes()));
    input = plain.bytes();
  }
  if (codec.deflate > 0) {
    AlignedBuffer packed(chunk.size());
    // Strictly smaller: HDF5 keeps the old filter mask of a chunk that is rewritten with the same size.
    const std::span<std::byte> room = packed.bytes().first(chunk.empty() ? 0 : chunk.size() - 1);
    AFTERBAY_TRY_ASSIGN(const std::size_t size_bytes, deflate(input, codec.deflate, room));
    if (size_bytes != 0) {
      packed.shrink(size_bytes);
      return EncodedChunk{std::move(packed), 0};
    }
  }
  if (!codec.shuffle) {
    plain = AlignedBuffer(chunk.size());
    std::memcpy(plain.data(), chunk.data(), chunk.size());
  }
  return EncodedChunk{std::move(plain), skipped_filters(codec, chunk.size(), chunk.size())};
}

std::uint32_t skipped_filters(const ChunkCodec& codec, std::uint64_t encoded_bytes,
                              std::uint64_t chunk_bytes) noexcept {
  return codec.deflate > 0 && encoded_bytes == chunk_bytes ? deflate_bit(codec) : 0;
}

Result<> decode(const ChunkCodec& codec, std::span<const std::byte> encoded, std::uint32_t skipped,
                std::span<std::byte> chunk) {
  AlignedBuffer expanded;
  std::span<const std::byte> input = encoded;
  if (codec.deflate > 0 && (skipped & deflate_bit(codec)) == 0) {
    expanded = AlignedBuffer(chunk.size());
    AFTERBAY_TRY(inflate(encoded, expanded.bytes()));
    input = expanded.bytes();
  }
  if (codec.shuffle && (skipped & 1u) == 0) return unshuffle(input, codec.element_bytes, chunk);
  if (input.size() != chunk.size())
    return fail(ErrorCode::format, "a chunk of {} bytes where {} bytes are expected: the data are damaged",
                input.size(), chunk.size());
  std::memcpy(chunk.data(), input.data(), chunk.size());
  return {};
}

}  // namespace afterbay::codec
