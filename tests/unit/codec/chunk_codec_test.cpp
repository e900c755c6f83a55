// SPDX-License-Identifier: Apache-2.0
// The filters of a chunk against HDF5's own.
#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "codec/chunk_codec.hpp"
#include "codec/codec.hpp"
#include "codec/deflate.hpp"
#include "codec/filter_chain.hpp"
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
  const hid_t type = H5Tcreate(H5T_OPAQUE, codec.element_bytes());
  const hsize_t count = size_bytes / codec.element_bytes();
  const hid_t space = H5Screate_simple(1, &count, nullptr);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(creation, 1, &count);
  for (const Filter& filter : codec.filters())
    EXPECT_GE(H5Pset_filter(creation, static_cast<H5Z_filter_t>(filter.id), H5Z_FLAG_OPTIONAL,
                            filter.parameters.size(), filter.parameters.data()),
              0);
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

/// Every choice of registered filters that has at most one compressor, at its lowest and highest
/// level, in the order in which new variables have them and, if that is possible, the other way
/// round.
std::vector<FilterChain> all_chains() {
  std::vector<FilterChain> chains{{}};
  for (const Codec* codec : all_codecs()) {
    if (!codec->lacks.empty()) continue;
    const std::vector<FilterChain> before = chains;
    for (const int level : std::set<int>{1, std::max(1, codec->most_level)})
      for (FilterChain chain : before) {
        chain.push_back(*filter_of_level(*codec, level));
        chains.push_back(in_order(chain));
        if (!mistake_in(chain)) chains.push_back(chain);
      }
  }
  for (const FilterChain& chain : std::vector(chains))
    if (FilterChain reversed(chain.rbegin(), chain.rend()); !mistake_in(reversed))
      chains.push_back(std::move(reversed));
  std::erase_if(chains, [](const FilterChain& chain) { return mistake_in(chain).has_value(); });
  return chains;
}

/// Whether HDF5 itself can decode the chain's chunks.
bool hdf5_has(const FilterChain& chain) {
  return std::ranges::all_of(chain, [](const Filter& one) {
    unsigned flags = 0;
    return H5Zfilter_avail(static_cast<H5Z_filter_t>(one.id)) > 0 &&
           H5Zget_filter_info(static_cast<H5Z_filter_t>(one.id), &flags) >= 0 &&
           (flags & H5Z_FILTER_CONFIG_DECODE_ENABLED) != 0;
  });
}

bool has_compressor(const FilterChain& chain) {
  return std::ranges::any_of(
      chain, [](const Filter& one) { return find_codec(one.id)->kind == FilterKind::compress; });
}

std::vector<std::byte> decoded(const ChunkCodec& codec, std::span<const std::byte> stored,
                               std::uint32_t skipped, std::size_t size_bytes) {
  std::vector<std::byte> back(size_bytes);
  OwnWorkspace workspace;
  const auto done = codec.decode(stored, skipped, back, workspace);
  EXPECT_TRUE(done) << done.error().text();
  return back;
}

TEST(ChunkCodec, hdf5_decodes_what_every_chain_encodes) {
  for (const std::size_t element_bytes : {1u, 2u, 3u, 4u, 8u})
    for (const FilterChain& chain : all_chains())
      for (const bool compressible : {true, false}) {
        const std::string what = names_of(chain) + " of " + std::to_string(element_bytes);
        const ChunkCodec codec = ChunkCodec::make(chain, element_bytes).value();
        const std::vector<std::byte> plain = compressible ? smooth(24 * 777) : noise(24 * 777);
        const auto encoded = codec.encode(plain);
        ASSERT_TRUE(encoded) << encoded.error().text();
        EXPECT_LE(encoded->bytes.size(), codec.most_encoded_bytes(plain.size())) << what;
        EXPECT_EQ(encoded->skipped != 0, has_compressor(chain) && !compressible) << what;
        EXPECT_EQ(encoded->bytes.size() < plain.size() / 2, has_compressor(chain) && compressible) << what;
        if (hdf5_has(chain)) {
          EXPECT_TRUE(decoded_by_hdf5(codec, *encoded, plain.size()) == plain) << what;
        }
        EXPECT_TRUE(decoded(codec, encoded->bytes.bytes(), encoded->skipped, plain.size()) == plain) << what;
      }
}

TEST(ChunkCodec, the_size_tells_whether_the_compressor_was_left_out) {
  for (const FilterChain& chain : all_chains()) {
    const ChunkCodec codec = ChunkCodec::make(chain, 1).value();
    for (std::size_t size = 16; size <= 128; size += 7)
      for (std::size_t random = 0; random <= size; ++random) {  // for some of these deflate saves
                                                                // exactly nothing
        std::vector<std::byte> plain(size);
        std::copy_n(noise(size).begin(), random, plain.begin());
        const auto encoded = codec.encode(plain);
        ASSERT_TRUE(encoded);
        EXPECT_EQ(codec.skipped_filters(encoded->bytes.size(), size), encoded->skipped)
            << names_of(chain) << ": " << random << " of " << size;
      }
  }
}

/// Filters that others left out of a chunk, in any combination.
TEST(ChunkCodec, decodes_whatever_was_skipped_and_refuses_what_is_cut_off) {
  const std::vector<std::byte> plain = smooth(4000);
  for (const FilterChain& chain : all_chains()) {
    const ChunkCodec codec = ChunkCodec::make(chain, 4).value();
    for (std::uint32_t skipped = 0; skipped < 1u << chain.size(); ++skipped) {
      FilterChain applied;
      for (std::size_t i = 0; i < chain.size(); ++i)
        if ((skipped >> i & 1u) == 0) applied.push_back(chain[i]);
      auto stored = ChunkCodec::make(applied, 4)->encode(plain);
      ASSERT_TRUE(stored);
      EXPECT_TRUE(decoded(codec, stored->bytes.bytes(), skipped, plain.size()) == plain)
          << names_of(chain) << " " << skipped;
      std::vector<std::byte> back(plain.size());
      OwnWorkspace workspace;
      const auto half = stored->bytes.bytes().first(stored->bytes.size() / 2);
      const auto cut = codec.decode(half, skipped, back, workspace);
      ASSERT_FALSE(cut) << names_of(chain) << " " << skipped;
      back.resize(plain.size() + 4);
      EXPECT_FALSE(codec.decode(stored->bytes.bytes(), skipped, back, workspace)) << names_of(chain);
    }
  }
}

TEST(ChunkCodec, damaged_data_are_an_error_of_the_format) {
  const ChunkCodec codec = ChunkCodec::make({{2, {}}, {1, {4}}}, 4).value();
  auto encoded = codec.encode(smooth(4000));
  ASSERT_TRUE(encoded);
  std::vector<std::byte> back(4000);
  OwnWorkspace workspace;
  const auto cut = codec.decode(encoded->bytes.bytes().first(encoded->bytes.size() / 2), 0, back, workspace);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, ErrorCode::format);
}

TEST(ChunkCodec, has_only_chains_that_it_can_undo) {
  const auto refused = ChunkCodec::make({{1, {4}}, {2, {}}}, 4);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_FALSE(ChunkCodec::make({{2, {}}}, 0));
  EXPECT_TRUE(ChunkCodec::make({{1, {4}}, {3, {}}}, 4));
  EXPECT_EQ(*ChunkCodec::make({}, 1), ChunkCodec());
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
