// SPDX-License-Identifier: Apache-2.0
#include "codec/chunk_codec.hpp"

#include <bit>
#include <cstring>
#include <utility>

#include "codec/filter_chain.hpp"

namespace afterbay::codec {
namespace {

/// The size of the output buffer for `input_bytes`. A compressor must save at least one byte: HDF5
/// keeps the old filter mask of a chunk that is rewritten with the same size.
std::size_t room_for(const Codec& codec, std::size_t input_bytes) {
  if (codec.kind == FilterKind::compress) return input_bytes == 0 ? 0 : input_bytes - 1;
  return input_bytes + codec.added_bytes;
}

bool is_skipped(std::uint32_t skipped, std::size_t filter) { return (skipped >> filter & 1u) != 0; }

}  // namespace

Result<ChunkCodec> ChunkCodec::make(FilterChain chain, std::size_t element_bytes) {
  if (auto mistake = mistake_in(chain))
    return fail(ErrorCode::invalid_argument, "a variable {}", *std::move(mistake));
  if (element_bytes == 0) return fail(ErrorCode::invalid_argument, "filters of elements of 0 bytes");
  ChunkCodec codec;
  for (const Filter& filter : chain) codec.codecs_.push_back(find_codec(filter.id));
  codec.chain_ = std::move(chain);
  codec.element_bytes_ = element_bytes;
  return codec;
}

std::size_t ChunkCodec::added_before(std::size_t end, std::uint32_t skipped) const noexcept {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < end; ++i)
    if (!is_skipped(skipped, i)) bytes += codecs_[i]->added_bytes;
  return bytes;
}

std::uint64_t ChunkCodec::most_encoded_bytes(std::uint64_t chunk_bytes) const noexcept {
  return chunk_bytes + added_before(codecs_.size(), 0);
}

std::uint32_t ChunkCodec::skipped_filters(std::uint64_t encoded_bytes,
                                          std::uint64_t chunk_bytes) const noexcept {
  if (encoded_bytes != most_encoded_bytes(chunk_bytes)) return 0;
  for (std::size_t i = 0; i < codecs_.size(); ++i)
    if (codecs_[i]->kind == FilterKind::compress) return 1u << i;
  return 0;
}

Result<EncodedChunk> ChunkCodec::encode(std::span<const std::byte> chunk) const {
  EncodedChunk encoded;
  std::span<const std::byte> input = chunk;
  for (std::size_t i = 0; i < codecs_.size(); ++i) {
    const Codec& codec = *codecs_[i];
    AlignedBuffer output = AlignedBuffer::reused(room_for(codec, input.size()));
    AFTERBAY_TRY_ASSIGN(const std::size_t size_bytes, codec.encode(filtering(i), input, output.bytes()));
    if (size_bytes == 0 && codec.kind == FilterKind::compress) {
      encoded.skipped |= 1u << i;
      continue;
    }
    output.shrink(size_bytes);
    encoded.bytes = std::move(output);
    input = std::as_const(encoded.bytes).bytes();
  }
  if (input.data() == chunk.data()) {
    encoded.bytes = AlignedBuffer::reused(chunk.size());
    if (!chunk.empty()) std::memcpy(encoded.bytes.data(), chunk.data(), chunk.size());
  }
  return encoded;
}

Result<> ChunkCodec::decode(std::span<const std::byte> stored, std::uint32_t skipped,
                            std::span<std::byte> chunk, Workspace& workspace) const {
  const auto all = static_cast<std::uint32_t>((std::uint64_t{1} << codecs_.size()) - 1);
  std::uint32_t left = all & ~skipped;  // filters still to be undone
  std::span<const std::byte> now = stored;
  std::size_t slot = 0;
  while (left != 0) {
    const auto i = static_cast<std::size_t>(std::bit_width(left) - 1);
    left &= ~(1u << i);
    std::span<std::byte> to;
    if (codecs_[i]->kind != FilterKind::checksum && left == 0) {
      to = chunk;
    } else if (codecs_[i]->kind != FilterKind::checksum) {  // appended checksums do not fit into the chunk
      to = workspace.take(slot, chunk.size() + added_before(i, skipped));
      slot ^= 1u;
    }
    AFTERBAY_TRY_ASSIGN(now, codecs_[i]->decode(filtering(i), now, to));
  }
  if (now.data() == chunk.data()) return {};
  if (now.size() != chunk.size())
    return fail(ErrorCode::format, "a chunk has {} bytes, but {} are expected: the data are damaged",
                now.size(), chunk.size());
  if (!chunk.empty()) std::memcpy(chunk.data(), now.data(), chunk.size());
  return {};
}

}  // namespace afterbay::codec
