// SPDX-License-Identifier: Apache-2.0
// Bit shuffle without compression, as HDF5's registered filter 32008 writes and reads it: in blocks
// of elements, all lowest bits of the elements, then all second bits, and so on. Elements after the
// last multiple of 8 are copied. Its values are two numbers of a version, the size of an element,
// optionally that of a block (0: the usual one) and a compressor (0: none). Source of the format:
// K. Masui et al., 2015, Astronomy and Computing 12; the HDF Group's list of registered filters.
#include <algorithm>
#include <cstring>

#include "codec/codec.hpp"

namespace afterbay::codec {
namespace {

constexpr std::size_t usual_block_bytes = 8192;
constexpr std::size_t least_block_elements = 128;
constexpr std::size_t group = 8;  ///< elements whose bits fill one byte

/// The number of elements per block.
constexpr std::size_t block_elements(std::size_t element_bytes) {
  return std::max(usual_block_bytes / element_bytes / group * group, least_block_elements);
}

/// Swaps bit i of byte k with bit k of byte i, for all of them; byte 0 is the lowest. Source: H. S.
/// Warren, Hacker's Delight, 2nd edition, section 7-3.
constexpr std::uint64_t transposed(std::uint64_t bits) {
  std::uint64_t other = (bits ^ (bits >> 7)) & 0x00aa00aa00aa00aaULL;
  bits ^= other ^ (other << 7);
  other = (bits ^ (bits >> 14)) & 0x0000cccc0000ccccULL;
  bits ^= other ^ (other << 14);
  other = (bits ^ (bits >> 28)) & 0x00000000f0f0f0f0ULL;
  return bits ^ other ^ (other << 28);
}

/// `stride` bytes apart.
std::uint64_t load_group(const std::byte* from, std::size_t stride) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < group; ++i) bits |= std::to_integer<std::uint64_t>(from[i * stride]) << (8 * i);
  return bits;
}

void store_group(std::uint64_t bits, std::byte* to, std::size_t stride) {
  for (std::size_t i = 0; i < group; ++i) to[i * stride] = static_cast<std::byte>(bits >> (8 * i) & 0xffu);
}

void shuffle_block(const std::byte* input, std::size_t count, std::size_t element_bytes, std::byte* output) {
  const std::size_t row = count / group;  // bytes that hold one bit of all elements
  for (std::size_t b = 0; b < element_bytes; ++b)
    for (std::size_t j = 0; j < row; ++j)
      store_group(transposed(load_group(input + j * group * element_bytes + b, element_bytes)),
                  output + b * group * row + j, row);
}

void unshuffle_block(const std::byte* input, std::size_t count, std::size_t element_bytes,
                     std::byte* output) {
  const std::size_t row = count / group;
  for (std::size_t b = 0; b < element_bytes; ++b)
    for (std::size_t j = 0; j < row; ++j)
      store_group(transposed(load_group(input + b * group * row + j, row)),
                  output + j * group * element_bytes + b, element_bytes);
}

Result<> for_each_block(std::span<const std::byte> input, std::size_t element_bytes,
                        std::span<std::byte> output,
                        void (*work)(const std::byte*, std::size_t, std::size_t, std::byte*)) {
  if (element_bytes == 0) return fail(ErrorCode::invalid_argument, "bitshuffle: elements of 0 bytes");
  if (input.size() != output.size())
    return fail(ErrorCode::format, "bitshuffle: {} bytes in but {} bytes expected: the data are damaged",
                input.size(), output.size());
  const std::size_t whole = input.size() / element_bytes / group * group;
  const std::size_t block = block_elements(element_bytes);
  for (std::size_t at = 0; at < whole; at += block)
    work(input.data() + at * element_bytes, std::min(block, whole - at), element_bytes,
         output.data() + at * element_bytes);
  const std::size_t done = whole * element_bytes;
  if (done < input.size()) std::memcpy(output.data() + done, input.data() + done, input.size() - done);
  return {};
}

std::optional<std::vector<std::uint32_t>> bitshuffle_from_hdf5(std::span<const unsigned> values,
                                                               std::size_t element_bytes) {
  if (values.size() < 3 || values[2] != element_bytes) return std::nullopt;
  if (values.size() > 3 && values[3] != 0 && values[3] != block_elements(element_bytes)) return std::nullopt;
  if (values.size() > 4 && values[4] != 0) return std::nullopt;  // it also compresses
  return std::vector<std::uint32_t>{};
}

std::vector<unsigned> bitshuffle_to_hdf5(std::span<const std::uint32_t>, std::size_t element_bytes) {
  return {0, 4, static_cast<unsigned>(element_bytes)};  // version 0.4 of the format
}

Result<std::size_t> encode_bitshuffle(const Filtering& filtering, std::span<const std::byte> input,
                                      std::span<std::byte> output) {
  AFTERBAY_TRY(for_each_block(input, filtering.element_bytes, output, shuffle_block));
  return output.size();
}

Result<std::span<const std::byte>> decode_bitshuffle(const Filtering& filtering,
                                                     std::span<const std::byte> input,
                                                     std::span<std::byte> output) {
  AFTERBAY_TRY(for_each_block(input, filtering.element_bytes, output, unshuffle_block));
  return output;
}

std::optional<std::uint64_t> bitshuffle_decoded_bytes(std::span<const std::byte> input) {
  return input.size();
}

}  // namespace

constinit const Codec bitshuffle_codec{
    .name = "bitshuffle",
    .id = 32008,
    .kind = FilterKind::rearrange,
    .documentation =
        "Whether bits are reordered before compression, which often improves it more than `shuffle`, above "
        "all for values that were rounded. Readers need HDF5's filter 32008, which `hdf5plugin` brings to "
        "h5py. NetCDF-4 only.",
    .whole_elements = true,
    .from_hdf5 = bitshuffle_from_hdf5,
    .to_hdf5 = bitshuffle_to_hdf5,
    .element_value = 2,
    .encode = encode_bitshuffle,
    .decode = decode_bitshuffle,
    .decoded_bytes = bitshuffle_decoded_bytes,
};

}  // namespace afterbay::codec
