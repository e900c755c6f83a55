// SPDX-License-Identifier: Apache-2.0
// The filters against HDF5's own.
#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "codec/chunk_codec.hpp"
#include "codec/deflate.hpp"
#include "codec/shuffle.hpp"

namespace afterbay::codec {
namespace {

std::vector<std::byte> smooth(std::size_t size_bytes) {
  std::vector<std::byte> bytes(size_bytes);
  for (std::size_t i = 0; i < size_bytes; ++i) bytes[i] = static_cast<std::byte>((i / 37) & 0xff);
  return bytes;
}

std::vector<std::byte> noise(std::size_t size_bytes) {
  std::vector<std::byte> bytes(size_bytes);
  std::mt19937 generator(7);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(generator() & 0xff);
  return bytes;
}

/// Puts an encoded chunk into an HDF5 file that declares the same filters, and lets HDF5 read it.
std::vector<std::byte> decoded_by_hdf5(const ChunkCodec& codec, const EncodedChunk& chunk,
                                       std::size_t size_bytes) {
  const hid_t type = H5Tcreate(H5T_OPAQUE, codec.element_bytes);
  const hsize_t count = size_bytes / codec.element_bytes;
  const hid_t space = H5Screate_simple(1, &count, nullptr);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(creation, 1, &count);
  if (codec.shuffle) H5Pset_shuffle(creation);
  if (codec.deflate > 0) H5Pset_deflate(creation, static_cast<unsigned>(codec.deflate));
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_core(access, 1 << 20, 0);
  const hid_t file = H5Fcreate("codec_test.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  hid_t dataset = H5Dcreate2(file, "d", type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  const hsize_t start = 0;
  EXPECT_GE(
      H5Dwrite_chunk(dataset, H5P_DEFAULT, chunk.skipped, &start, chunk.bytes.size(), chunk.bytes.data()), 0);
  // Reopened, because HDF5 1.10 forgets the filter mask of a chunk that it has just written
  // directly.
  H5Dclose(dataset);
  dataset = H5Dopen2(file, "d", H5P_DEFAULT);
  std::vector<std::byte> bytes(size_bytes);
  EXPECT_GE(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()), 0);
  H5Dclose(dataset);
  H5Fclose(file);
  H5Pclose(access);
  H5Pclose(creation);
  H5Sclose(space);
  H5Tclose(type);
  return bytes;
}

TEST(ChunkCodec, hdf5_decodes_what_is_encoded) {
  for (const std::size_t element_bytes : {1u, 2u, 3u, 4u, 8u})
    for (const bool shuffle : {false, true})
      for (const int level : {0, 1, 6, 9})
        for (const bool compressible : {true, false}) {
          const ChunkCodec codec{shuffle, level, element_bytes};
          const std::vector<std::byte> plain = compressible ? smooth(24 * 777) : noise(24 * 777);
          const auto encoded = encode(codec, plain);
          ASSERT_TRUE(encoded) << encoded.error().text();
          if (level > 0) {
            EXPECT_EQ(encoded->skipped == 0, compressible);
            EXPECT_EQ(encoded->bytes.size() < plain.size() / 2, compressible);
          }
          EXPECT_TRUE(decoded_by_hdf5(codec, *encoded, plain.size()) == plain)
              << element_bytes << " " << shuffle << " " << level << " " << compressible;
          std::vector<std::byte> back(plain.size());
          ASSERT_TRUE(decode(codec, encoded->bytes.bytes(), encoded->skipped, back));
          EXPECT_TRUE(back == plain);
        }
}

TEST(ChunkCodec, the_size_tells_whether_deflate_was_left_out) {
  const ChunkCodec codec{false, 1, 1};
  for (std::size_t size = 16; size <= 128; ++size)
    for (std::size_t random = 0; random <= size; ++random) {  // for some of these deflate saves
                                                              // exactly nothing
      std::vector<std::byte> plain(size);
      std::copy_n(noise(size).begin(), random, plain.begin());
      const auto encoded = encode(codec, plain);
      ASSERT_TRUE(encoded);
      EXPECT_EQ(encoded->bytes.size() == size, encoded->skipped != 0) << random << " of " << size;
      EXPECT_EQ(skipped_filters(codec, encoded->bytes.size(), size), encoded->skipped);
    }
}

TEST(ChunkCodec, damaged_data_are_refused) {
  const ChunkCodec codec{true, 4, 4};
  const std::vector<std::byte> plain = smooth(4000);
  auto encoded = encode(codec, plain);
  ASSERT_TRUE(encoded);
  std::vector<std::byte> back(plain.size());
  const auto cut = decode(codec, encoded->bytes.bytes().first(encoded->bytes.size() / 2), 0, back);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, ErrorCode::format);
  back.resize(plain.size() + 4);
  EXPECT_FALSE(decode(codec, encoded->bytes.bytes(), 0, back));
  EXPECT_FALSE(decode({false, 0, 4}, plain, 0, back));
}

TEST(Shuffle, keeps_the_bytes_after_the_last_element) {
  const std::vector<std::byte> plain = smooth(11);
  std::vector<std::byte> mixed(11);
  std::vector<std::byte> back(11);
  ASSERT_TRUE(shuffle(plain, 4, mixed));
  EXPECT_EQ(mixed[1], plain[4]);
  EXPECT_EQ(mixed[10], plain[10]);
  ASSERT_TRUE(unshuffle(mixed, 4, back));
  EXPECT_TRUE(back == plain);
}

TEST(Shuffle, refuses_sizes_that_do_not_fit) {
  const std::vector<std::byte> plain(8);
  std::vector<std::byte> small(7);
  EXPECT_FALSE(shuffle(plain, 4, small));
  EXPECT_FALSE(unshuffle(plain, 4, small));
  small.resize(8);
  EXPECT_FALSE(shuffle(plain, 0, small));
}

TEST(Deflate, refuses_wrong_levels_and_gives_0_when_the_room_is_short) {
  const std::vector<std::byte> plain = noise(1000);
  std::vector<std::byte> room(1000);
  for (const int level : {-1, 0, 10}) {
    const auto refused = deflate(plain, level, room);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  }
  const auto short_of_room = deflate(plain, 1, room);
  ASSERT_TRUE(short_of_room);
  EXPECT_EQ(*short_of_room, 0u);
}

}  // namespace
}  // namespace afterbay::codec
