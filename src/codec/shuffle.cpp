// SPDX-License-Identifier: Apache-2.0
#include "codec/shuffle.hpp"

#include <cstring>

#include "codec/codec.hpp"

namespace afterbay::codec {
namespace {

/// A compile-time element size lets the compiler turn the strided loops into vector code.
template <std::size_t element_bytes>
void gather(const std::byte* input, std::size_t count, std::byte* output) {
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t b = 0; b < element_bytes; ++b) output[b * count + i] = input[i * element_bytes + b];
}

void gather_any(const std::byte* input, std::size_t count, std::size_t element_bytes, std::byte* output) {
  for (std::size_t b = 0; b < element_bytes; ++b)
    for (std::size_t i = 0; i < count; ++i) output[b * count + i] = input[i * element_bytes + b];
}

void scatter(const std::byte* input, std::size_t count, std::size_t element_bytes, std::byte* output) {
  for (std::size_t b = 0; b < element_bytes; ++b)
    for (std::size_t i = 0; i < count; ++i) output[i * element_bytes + b] = input[b * count + i];
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
    default: gather_any(input.data(), count, element_bytes, output.data());
  }
  copy_rest(input, count * element_bytes, output);
  return {};
}

Result<> unshuffle(std::span<const std::byte> input, std::size_t element_bytes, std::span<std::byte> output) {
  AFTERBAY_TRY(check(input.size(), element_bytes, output.size()));
  const std::size_t count = input.size() / element_bytes;
  scatter(input.data(), count, element_bytes, output.data());
  copy_rest(input, count * element_bytes, output);
  return {};
}

}  // namespace afterbay::codec
