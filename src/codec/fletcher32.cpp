// SPDX-License-Identifier: Apache-2.0
#include "codec/fletcher32.hpp"

#include <algorithm>
#include <cstring>

#include "codec/codec.hpp"

namespace afterbay::codec {
namespace {

constexpr std::size_t checksum_bytes = 4;
/// Largest number of words whose sums fit into 32 bits.
constexpr std::size_t most_words = 360;

std::uint32_t fold(std::uint32_t sum) { return (sum & 0xffff) + (sum >> 16); }

std::optional<std::vector<std::uint32_t>> fletcher32_from_hdf5(std::span<const unsigned>, std::size_t) {
  return std::vector<std::uint32_t>{};
}

Result<std::size_t> encode_fletcher32(const Filtering&, std::span<const std::byte> input,
                                      std::span<std::byte> output) {
  if (!input.empty()) std::memcpy(output.data(), input.data(), input.size());
  const std::uint32_t sum = fletcher32(input);
  for (std::size_t i = 0; i < checksum_bytes; ++i)
    output[input.size() + i] = static_cast<std::byte>(sum >> (8 * i) & 0xffu);
  return input.size() + checksum_bytes;
}

Result<std::span<const std::byte>> decode_fletcher32(const Filtering&, std::span<const std::byte> input,
                                                     std::span<std::byte>) {
  return check_fletcher32(input);
}

}  // namespace

constinit const Codec fletcher32_codec{
    .name = "fletcher32",
    .id = 3,
    .kind = FilterKind::checksum,
    .documentation =
        "Whether each chunk gets a checksum, by which every reader of the file detects damage; it takes 4 "
        "bytes per chunk, and time for writing and reading. NetCDF-4 only.",
    .added_bytes = checksum_bytes,
    .from_hdf5 = fletcher32_from_hdf5,
    .encode = encode_fletcher32,
    .decode = decode_fletcher32,
};

std::uint32_t fletcher32(std::span<const std::byte> input) noexcept {
  const auto* bytes = reinterpret_cast<const unsigned char*>(input.data());
  std::size_t words = input.size() / 2;
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  while (words > 0) {
    const std::size_t block = std::min(words, most_words);
    for (std::size_t i = 0; i < block; ++i, bytes += 2) {
      first += static_cast<std::uint32_t>(bytes[0]) << 8 | bytes[1];
      second += first;
    }
    words -= block;
    first = fold(first);
    second = fold(second);
  }
  if (input.size() % 2 != 0) {
    first += static_cast<std::uint32_t>(*bytes) << 8;
    second += first;
    first = fold(first);
    second = fold(second);
  }
  return fold(second) << 16 | fold(first);
}

Result<std::span<const std::byte>> check_fletcher32(std::span<const std::byte> input) {
  if (input.size() < checksum_bytes)
    return fail(ErrorCode::format, "{} bytes are too few for a checksum: the data are damaged", input.size());
  const std::span<const std::byte> data = input.first(input.size() - checksum_bytes);
  std::uint32_t stored = 0;
  for (std::size_t i = 0; i < checksum_bytes; ++i)
    stored |= std::to_integer<std::uint32_t>(input[data.size() + i]) << (8 * i);
  const std::uint32_t found = fletcher32(data);
  // HDF5 before 1.6.3 swapped the bytes of each half on little-endian machines.
  const std::uint32_t old = (found & 0x00ff00ffu) << 8 | (found >> 8 & 0x00ff00ffu);
  if (found == stored || old == stored) return data;
  return fail(ErrorCode::format,
              "the checksum (fletcher32) is {:#010x}, but {:#010x} is expected: the data are damaged", found,
              stored);
}

}  // namespace afterbay::codec
