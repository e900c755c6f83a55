// SPDX-License-Identifier: Apache-2.0
// LZ4 blocks, as HDF5's registered filter 32004 writes and reads them. Big-endian numbers: the
// decoded size in 8 bytes, the decoded size of a block in 4; then per block its encoded size in 4
// bytes and its bytes, which are not encoded if both sizes are equal. The last block may be
// smaller.
// Source of the format: "HDF5 LZ4 Filter", The HDF Group's list of registered filters.
#include "codec/codec.hpp"

#ifdef AFTERBAY_HAS_LZ4
#include <lz4.h>

#include <algorithm>
#include <cstring>
#endif

namespace afterbay::codec {

#ifdef AFTERBAY_HAS_LZ4
namespace {

constexpr std::size_t lz4_header_bytes = 12;
constexpr std::size_t lz4_block_header_bytes = 4;
constexpr std::size_t lz4_block_bytes = std::size_t{1} << 30;  ///< the filter's default

std::uint64_t big_endian(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (const std::byte byte : bytes) value = value << 8 | std::to_integer<std::uint64_t>(byte);
  return value;
}

void put_big_endian(std::span<std::byte> bytes, std::uint64_t value) {
  for (std::size_t i = bytes.size(); i-- > 0; value >>= 8) bytes[i] = static_cast<std::byte>(value & 0xffu);
}

std::optional<std::vector<std::uint32_t>> lz4_from_hdf5(std::span<const unsigned>, std::size_t) {
  return std::vector<std::uint32_t>{};  // a listed size of blocks is also in each chunk
}

/// Encodes one block with its size; gives 0 if the result does not fit.
std::size_t encode_lz4_block(std::span<const std::byte> input, std::span<std::byte> output) {
  if (output.size() <= lz4_block_header_bytes) return 0;
  const std::span<std::byte> data = output.subspan(lz4_block_header_bytes);
  const int room = static_cast<int>(std::min(data.size(), input.size() - 1));
  auto size_bytes = static_cast<std::size_t>(LZ4_compress_default(reinterpret_cast<const char*>(input.data()),
                                                                  reinterpret_cast<char*>(data.data()),
                                                                  static_cast<int>(input.size()), room));
  if (size_bytes == 0) {
    if (data.size() < input.size()) return 0;
    std::memcpy(data.data(), input.data(), input.size());
    size_bytes = input.size();
  }
  put_big_endian(output.first(lz4_block_header_bytes), size_bytes);
  return lz4_block_header_bytes + size_bytes;
}

Result<std::size_t> encode_lz4(const Filtering&, std::span<const std::byte> input,
                               std::span<std::byte> output) {
  if (input.empty() || output.size() <= lz4_header_bytes) return std::size_t{0};
  const std::size_t block = std::min(input.size(), lz4_block_bytes);
  put_big_endian(output.first(8), input.size());
  put_big_endian(output.subspan(8, 4), block);
  std::size_t used = lz4_header_bytes;
  for (std::size_t at = 0; at < input.size(); at += block) {
    const std::size_t added =
        encode_lz4_block(input.subspan(at, std::min(block, input.size() - at)), output.subspan(used));
    if (added == 0) return std::size_t{0};
    used += added;
  }
  return used;
}

/// Decodes the block at the beginning of `input` into exactly `output`; gives the number of bytes
/// that it takes, 0 if it is damaged.
std::size_t decode_lz4_block(std::span<const std::byte> input, std::span<std::byte> output) {
  if (input.size() < lz4_block_header_bytes) return 0;
  const std::size_t size_bytes = big_endian(input.first(lz4_block_header_bytes));
  input = input.subspan(lz4_block_header_bytes);
  if (size_bytes > input.size() || size_bytes > static_cast<std::size_t>(LZ4_MAX_INPUT_SIZE)) return 0;
  if (size_bytes == output.size()) {
    std::memcpy(output.data(), input.data(), size_bytes);
  } else if (LZ4_decompress_safe(reinterpret_cast<const char*>(input.data()),
                                 reinterpret_cast<char*>(output.data()), static_cast<int>(size_bytes),
                                 static_cast<int>(output.size())) != static_cast<int>(output.size())) {
    return 0;
  }
  return lz4_block_header_bytes + size_bytes;
}

Result<std::span<const std::byte>> decode_lz4(const Filtering&, std::span<const std::byte> input,
                                              std::span<std::byte> output) {
  const std::size_t given = input.size();
  const auto damaged = [&] {
    return fail(ErrorCode::format,
                "{} bytes of compressed data do not expand to the {} bytes expected: the data are damaged or "
                "not blocks of LZ4",
                given, output.size());
  };
  if (input.size() < lz4_header_bytes || big_endian(input.first(8)) != output.size()) return damaged();
  const std::size_t block = std::min<std::size_t>(big_endian(input.subspan(8, 4)), output.size());
  if (block > static_cast<std::size_t>(LZ4_MAX_INPUT_SIZE) || (block == 0 && !output.empty()))
    return damaged();
  input = input.subspan(lz4_header_bytes);
  for (std::size_t at = 0; at < output.size(); at += block) {
    const std::size_t taken =
        decode_lz4_block(input, output.subspan(at, std::min(block, output.size() - at)));
    if (taken == 0) return damaged();
    input = input.subspan(taken);
  }
  return output;
}

std::optional<std::uint64_t> lz4_decoded_bytes(std::span<const std::byte> input) {
  return input.size() < lz4_header_bytes ? std::nullopt : std::optional(big_endian(input.first(8)));
}

}  // namespace
#endif

// Source of the expansion: LZ4's block format: a byte of a length stands for 255 bytes.
constinit const Codec lz4_codec{
    .name = "lz4",
    .id = 32004,
    .kind = FilterKind::compress,
    .documentation =
        "Whether variables are compressed with LZ4, the fastest codec and the one that compresses least. "
        "Readers need HDF5's filter 32004, which `hdf5plugin` brings to h5py. NetCDF-4 only; see [which "
        "codec](../how-to/which-codec.md).",
    .most_expansion = 256,
#ifdef AFTERBAY_HAS_LZ4
    .from_hdf5 = lz4_from_hdf5,
    .encode = encode_lz4,
    .decode = decode_lz4,
    .decoded_bytes = lz4_decoded_bytes,
#else
    .lacks = "liblz4 (Debian's package liblz4-dev)",
#endif
};

}  // namespace afterbay::codec
