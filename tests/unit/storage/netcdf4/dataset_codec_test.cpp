// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/dataset_codec.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "codec/codec.hpp"

namespace afterbay::storage {
namespace {

constexpr std::size_t large_chunk_bytes = 4 << 20;  // memory of its own for each

/// Bytes that the process has allocated; sanitizers' allocators report leaks themselves.
std::size_t allocated_bytes() {
  const auto info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

/// A compressor whose result never fits.
const codec::Codec& never_fits() {
  static const codec::Codec codec{
      .name = "never_fits",
      .kind = codec::FilterKind::compress,
      .most_expansion = 1000,
      .from_hdf5 = [](std::span<const unsigned>,
                      std::size_t) { return std::optional(std::vector<std::uint32_t>()); },
      .encode = [](const codec::Filtering&, std::span<const std::byte>,
                   std::span<std::byte>) -> Result<std::size_t> { return std::size_t{0}; },
      .decode = [](const codec::Filtering&, std::span<const std::byte>, std::span<std::byte>)
          -> Result<std::span<const std::byte>> { return fail(ErrorCode::format, "nothing was encoded"); },
      .decoded_bytes =
          [](std::span<const std::byte> input) { return std::optional<std::uint64_t>(input.size()); }};
  return codec;
}

/// Bytes in the buffer after filtering; the buffer must be as it was if there are none.
std::size_t filtered_bytes(const codec::Codec& codec, bool decodes, void*& buffer, std::size_t input_bytes) {
  void* const before = buffer;
  std::size_t buffer_bytes = input_bytes;
  const std::size_t made = filter_buffer(codec, decodes, {}, input_bytes, buffer_bytes, buffer);
  if (made == 0) {
    EXPECT_EQ(buffer, before);
    EXPECT_EQ(buffer_bytes, input_bytes);
  }
  return made;
}

TEST(DatasetCodec, AResultThatDoesNotFitLeavesNoMemoryBehind) {
  void* buffer = H5allocate_memory(large_chunk_bytes, true);
  ASSERT_NE(buffer, nullptr);
  const std::size_t before = allocated_bytes();
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(filtered_bytes(never_fits(), false, buffer, large_chunk_bytes), 0U);
    EXPECT_EQ(filtered_bytes(never_fits(), true, buffer, large_chunk_bytes), 0U);
  }
  EXPECT_LT(allocated_bytes(), before + large_chunk_bytes);
  H5free_memory(buffer);
}

TEST(DatasetCodec, BytesAreReplacedByTheResult) {
  const codec::Codec& shuffles = codec::bitshuffle_codec;
  const std::array<unsigned, 5> values{0, 4, 4, 0, 0};  // major and minor version, size of an element
  constexpr std::size_t size_bytes = 4096;
  void* buffer = H5allocate_memory(size_bytes, false);
  for (std::size_t i = 0; i < size_bytes; ++i)
    static_cast<std::byte*>(buffer)[i] = static_cast<std::byte>(i % 251);
  const std::vector<std::byte> plain(static_cast<std::byte*>(buffer),
                                     static_cast<std::byte*>(buffer) + size_bytes);
  std::size_t buffer_bytes = size_bytes;
  ASSERT_EQ(filter_buffer(shuffles, false, values, size_bytes, buffer_bytes, buffer), size_bytes);
  EXPECT_NE(std::memcmp(buffer, plain.data(), size_bytes), 0);
  ASSERT_EQ(filter_buffer(shuffles, true, values, size_bytes, buffer_bytes, buffer), size_bytes);
  EXPECT_EQ(std::memcmp(buffer, plain.data(), size_bytes), 0);
  H5free_memory(buffer);
}

}  // namespace
}  // namespace afterbay::storage
