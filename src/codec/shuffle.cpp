// SPDX-License-Identifier: Apache-2.0
#include "codec/shuffle.hpp"

#include <cstring>

#include "codec/codec.hpp"

namespace afterbay::codec {
namespace {

// Compilers turn operations on these vectors into instructions of the processor (x86: SSE2, Arm:
// Neon), which every processor of the architecture has. Wider ones gain nothing: memory limits.
constexpr std::size_t row_bytes = 16;
using Row = unsigned char __attribute__((vector_size(row_bytes)));

/// The bytes of the first half of the rows, each followed by the one at its place in the second
/// half. The index of a byte, in binary digits, is rotated left by one.
template <std::size_t count>
[[gnu::always_inline]] inline void interleave(Row (&rows)[count]) {
  Row result[count];
#pragma GCC unroll 8
  for (std::size_t i = 0; i < count / 2; ++i) {
    const Row a = rows[i];
    const Row b = rows[i + count / 2];
    result[2 * i] = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    result[2 * i + 1] =
        __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  }
#pragma GCC unroll 8
  for (std::size_t i = 0; i < count; ++i) rows[i] = result[i];
}

template <std::size_t count>
[[gnu::always_inline]] inline void load(Row (&rows)[count], const std::byte* from, std::size_t stride) {
#pragma GCC unroll 8
  for (std::size_t i = 0; i < count; ++i) std::memcpy(&rows[i], from + i * stride, row_bytes);
}

template <std::size_t count>
[[gnu::always_inline]] inline void store(const Row (&rows)[count], std::byte* to, std::size_t stride) {
#pragma GCC unroll 8
  for (std::size_t i = 0; i < count; ++i) std::memcpy(to + i * stride, &rows[i], row_bytes);
}

void gather_rest(const std::byte* input, std::size_t first, std::size_t count, std::size_t element_bytes,
                 std::byte* output) {
  for (std::size_t b = 0; b < element_bytes; ++b)
    for (std::size_t i = first; i < count; ++i) output[b * count + i] = input[i * element_bytes + b];
}

void scatter_rest(const std::byte* input, std::size_t first, std::size_t count, std::size_t element_bytes,
                  std::byte* output) {
  for (std::size_t b = 0; b < element_bytes; ++b)
    for (std::size_t i = first; i < count; ++i) output[i * element_bytes + b] = input[b * count + i];
}

/// 16 elements at a time. The index of one of their bytes is (element, byte of it); rotated left by
/// the 4 digits of the element it is (byte, element).
template <std::size_t element_bytes>
void gather(const std::byte* input, std::size_t count, std::byte* output) {
  std::size_t i = 0;
  for (; i + row_bytes <= count; i += row_bytes) {
    Row rows[element_bytes];
    load(rows, input + i * element_bytes, row_bytes);
#pragma GCC unroll 4
    for (int digit = 0; digit < 4; ++digit) interleave(rows);
    store(rows, output + i, count);
  }
  gather_rest(input, i, count, element_bytes, output);
}

/// The inverse: rotated left by the digits of the byte.
template <std::size_t element_bytes>
void scatter(const std::byte* input, std::size_t count, std::byte* output) {
  std::size_t i = 0;
  for (; i + row_bytes <= count; i += row_bytes) {
    Row rows[element_bytes];
    load(rows, input + i, count);
#pragma GCC unroll 3
    for (std::size_t bytes = 1; bytes < element_bytes; bytes *= 2) interleave(rows);
    store(rows, output + i * element_bytes, row_bytes);
  }
  scatter_rest(input, i, count, element_bytes, output);
}

Result<> check(std::size_t input, std::size_t element_bytes, std::size_t output) {
  if (element_bytes == 0) return fail(ErrorCode::invalid_argument, "shuffle: elements of 0 bytes");
  if (input != output)
    return fail(ErrorCode::invalid_argument,
                "shuffle: {} bytes in but room for {} bytes out; they must be equal", input, output);
  return {};
}

void copy_rest(std::span<const std::byte> input, std::size_t whole, std::span<std::byte> output) {
  if (input.size() != whole) std::memcpy(output.data() + whole, input.data() + whole, input.size() - whole);
}

/// HDF5 lists the size of the elements, which we know: the filter has no parameter.
std::optional<std::vector<std::uint32_t>> shuffle_from_hdf5(std::span<const unsigned> values,
                                                            std::size_t element_bytes) {
  if (values.empty() || values.front() != element_bytes) return std::nullopt;
  return std::vector<std::uint32_t>{};
}

Result<std::size_t> encode_shuffle(const Filtering& filtering, std::span<const std::byte> input,
                                   std::span<std::byte> output) {
  AFTERBAY_TRY(shuffle(input, filtering.element_bytes, output));
  return output.size();
}

Result<std::span<const std::byte>> decode_shuffle(const Filtering& filtering,
                                                  std::span<const std::byte> input,
                                                  std::span<std::byte> output) {
  AFTERBAY_TRY(unshuffle(input, filtering.element_bytes, output));
  return output;
}

}  // namespace

constinit const Codec shuffle_codec{
    .name = "shuffle",
    .id = 2,
    .kind = FilterKind::rearrange,
    .documentation =
        "Whether bytes are reordered before compression, which usually improves it; netCDF-4 only.",
    .from_hdf5 = shuffle_from_hdf5,
    .encode = encode_shuffle,
    .decode = decode_shuffle,
};

Result<> shuffle(std::span<const std::byte> input, std::size_t element_bytes, std::span<std::byte> output) {
  AFTERBAY_TRY(check(input.size(), element_bytes, output.size()));
  const std::size_t count = input.size() / element_bytes;
  switch (element_bytes) {
    case 2: gather<2>(input.data(), count, output.data()); break;
    case 4: gather<4>(input.data(), count, output.data()); break;
    case 8: gather<8>(input.data(), count, output.data()); break;
    default: gather_rest(input.data(), 0, count, element_bytes, output.data());
  }
  copy_rest(input, count * element_bytes, output);
  return {};
}

Result<> unshuffle(std::span<const std::byte> input, std::size_t element_bytes, std::span<std::byte> output) {
  AFTERBAY_TRY(check(input.size(), element_bytes, output.size()));
  const std::size_t count = input.size() / element_bytes;
  switch (element_bytes) {
    case 2: scatter<2>(input.data(), count, output.data()); break;
    case 4: scatter<4>(input.data(), count, output.data()); break;
    case 8: scatter<8>(input.data(), count, output.data()); break;
    default: scatter_rest(input.data(), 0, count, element_bytes, output.data());
  }
  copy_rest(input, count * element_bytes, output);
  return {};
}

}  // namespace afterbay::codec
