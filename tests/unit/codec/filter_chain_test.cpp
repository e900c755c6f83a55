// SPDX-License-Identifier: Apache-2.0
// The rows of the codecs, and which filters can follow each other.
#include "codec/filter_chain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "codec/codec.hpp"

namespace afterbay::codec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(CodecRows, are_complete_and_differ) {
  std::set<std::string_view> names;
  std::set<std::uint32_t> ids;
  for (const Codec* codec : all_codecs()) {
    EXPECT_FALSE(codec->documentation.empty()) << codec->name;
    EXPECT_EQ(codec->from_hdf5 && codec->encode && codec->decode, codec->lacks.empty()) << codec->name;
    EXPECT_EQ(codec->added_bytes != 0, codec->kind == FilterKind::checksum) << codec->name;
    EXPECT_EQ(codec->name.data()[codec->name.size()], '\0');  // HDF5 is given it
    EXPECT_TRUE(names.insert(codec->name).second) << codec->name;
    EXPECT_TRUE(ids.insert(codec->id).second) << codec->name;
    EXPECT_EQ(find_codec(codec->id), codec);
    EXPECT_EQ(find_codec(codec->name), codec);
    EXPECT_EQ(codec_names().find(codec->name) != std::string::npos, codec->lacks.empty());
    EXPECT_LE(codec->most_expansion, most_expansion());
  }
  EXPECT_EQ(find_codec("none"), nullptr);
  EXPECT_EQ(find_codec(std::uint32_t{0}), nullptr);
}

TEST(CodecRows, trial_levels_are_levels_of_compressors) {
  for (const Codec* codec : all_codecs()) {
    if (codec->trial_levels.empty()) continue;
    EXPECT_EQ(codec->kind, FilterKind::compress) << codec->name;
    EXPECT_GE(codec->trial_levels.front(), 1) << codec->name;
    EXPECT_LE(codec->trial_levels.back(), codec->most_level) << codec->name;
    EXPECT_TRUE(std::ranges::is_sorted(codec->trial_levels)) << codec->name;
  }
  EXPECT_THAT(codecs_of(FilterKind::checksum), ElementsAre(&fletcher32_codec));
  EXPECT_TRUE(is_part_of_hdf5(deflate_codec));
  EXPECT_FALSE(is_part_of_hdf5(bitshuffle_codec));
}

TEST(CodecRows, levels_become_filters_and_back) {
  for (const Codec* codec : all_codecs()) {
    EXPECT_EQ(filter_of_level(*codec, 0), std::nullopt);
    EXPECT_EQ(level_of(*codec, nullptr), 0);
    for (int level = 1; level <= std::max(1, codec->most_level); ++level) {
      const auto filter = filter_of_level(*codec, level);
      ASSERT_TRUE(filter);
      EXPECT_EQ(level_of(*codec, &*filter), level);
      EXPECT_EQ(mistake_in({*filter}).has_value(), !codec->lacks.empty()) << codec->name << " " << level;
    }
    const auto beyond = filter_of_level(*codec, codec->most_level + 1);
    EXPECT_EQ(mistake_in({*beyond}).has_value(), codec->most_level > 0 || !codec->lacks.empty())
        << codec->name;
  }
}

TEST(CodecRows, say_what_hdf5_lists) {
  const unsigned level = 6;
  const unsigned too_high = 70;
  const unsigned four = 4;
  EXPECT_EQ(deflate_codec.from_hdf5({&level, 1}, 4), std::vector<std::uint32_t>{6});
  EXPECT_EQ(deflate_codec.from_hdf5({&too_high, 1}, 4), std::vector<std::uint32_t>{9});
  EXPECT_EQ(deflate_codec.from_hdf5({}, 4), std::vector<std::uint32_t>{1});
  EXPECT_EQ(shuffle_codec.from_hdf5({&four, 1}, 4), std::vector<std::uint32_t>{});
  EXPECT_EQ(shuffle_codec.from_hdf5({&four, 1}, 8), std::nullopt);
  EXPECT_EQ(shuffle_codec.from_hdf5({}, 4), std::nullopt);
  EXPECT_EQ(fletcher32_codec.from_hdf5({}, 4), std::vector<std::uint32_t>{});
}

TEST(CodecRows, say_what_hdf5_lists_for_bitshuffle) {
  using Values = std::vector<unsigned>;
  EXPECT_EQ(bitshuffle_codec.to_hdf5({}, 4), (Values{0, 4, 4}));
  for (const Values& usual : {Values{0, 4, 4}, Values{0, 3, 4, 0}, Values{0, 4, 4, 2048, 0}})
    EXPECT_EQ(bitshuffle_codec.from_hdf5(usual, 4), std::vector<std::uint32_t>{});
  for (const Values& other : {Values{}, Values{0, 4}, Values{0, 4, 8}, Values{0, 4, 4, 1024},
                              Values{0, 4, 4, 0, 2}, Values{0, 4, 0}})
    EXPECT_EQ(bitshuffle_codec.from_hdf5(other, 4), std::nullopt);
}

TEST(CodecRows, say_what_hdf5_lists_for_zstd) {
  if (!zstd_codec.lacks.empty()) GTEST_SKIP() << "this build has no zstd";
  const auto level_of_list = [](unsigned level) { return zstd_codec.from_hdf5({&level, 1}, 4); };
  EXPECT_EQ(level_of_list(5), std::vector<std::uint32_t>{5});
  EXPECT_EQ(level_of_list(40), std::vector<std::uint32_t>{22});
  EXPECT_EQ(level_of_list(static_cast<unsigned>(-7)), std::vector<std::uint32_t>{1});
  EXPECT_EQ(zstd_codec.from_hdf5({}, 4), std::vector<std::uint32_t>{3});
}

TEST(CodecRows, say_what_hdf5_lists_for_blosc) {
  if (!blosc_codec.lacks.empty()) GTEST_SKIP() << "this build has no Blosc";
  using Values = std::vector<unsigned>;
  const std::uint32_t level = 7;
  EXPECT_EQ(blosc_codec.to_hdf5({&level, 1}, 8), (Values{2, 2, 8, 0, 7, 1, 5}));
  const auto level_of_list = [](const Values& values) { return blosc_codec.from_hdf5(values, 8); };
  EXPECT_EQ(level_of_list({2, 2, 8, 4096, 3, 2, 1}), std::vector<std::uint32_t>{3});
  EXPECT_EQ(level_of_list({2, 2, 8, 4096, 0, 0, 0}), std::vector<std::uint32_t>{1});
  EXPECT_EQ(level_of_list({2, 2, 8, 4096}), std::vector<std::uint32_t>{5});
  EXPECT_EQ(level_of_list({9}), std::vector<std::uint32_t>{9});
}

std::string mistake(const FilterChain& chain) { return mistake_in(chain).value_or("none"); }

TEST(FilterChain, what_cannot_be_is_found) {
  EXPECT_EQ(mistake({}), "none");
  EXPECT_EQ(mistake({{2, {}}, {1, {4}}, {3, {}}}), "none");
  EXPECT_EQ(mistake({{3, {}}, {2, {}}, {1, {0}}}), "none");  // HDF5 has level 0: it stores
  EXPECT_EQ(mistake({{1, {4}}, {2, {}}}),
            "has shuffle after deflate: the order of filters is checksum, rearrangement, one compressor");
  EXPECT_EQ(mistake({{2, {}}, {2, {}}}), "has shuffle twice: each filter may occur once");
  EXPECT_EQ(mistake({{65535, {3}}}),
            "has filter 65535, which is unknown: " + codec_names() + " are possible");
  EXPECT_EQ(mistake({{1, {}}}), "has 0 parameters for deflate, which takes 1");
  EXPECT_EQ(mistake({{2, {4}}}), "has 1 parameters for shuffle, which takes 0");
  EXPECT_EQ(mistake({{1, {10}}}), "has deflate level 10: 0 (off) to 9 are possible");
  EXPECT_EQ(mistake({{1, {~0u}}}), "has deflate level -1: 0 (off) to 9 are possible");
  EXPECT_EQ(mistake(FilterChain(9, Filter{2, {}})), "has 9 filters: at most 8 are possible");
}

TEST(FilterChain, filters_are_ordered_by_stage) {
  const FilterChain ordered{{3, {}}, {2, {}}, {1, {4}}, {99, {}}};
  EXPECT_EQ(in_order({{99, {}}, {1, {4}}, {2, {}}, {3, {}}}), ordered);
  EXPECT_EQ(names_of(ordered), "fletcher32, shuffle, deflate, filter 99");
}

TEST(FilterChain, a_filter_is_replaced_added_or_removed) {
  FilterChain chain{{2, {}}};
  set_filter(chain, 1, Filter{1, {3}});
  set_filter(chain, 1, Filter{1, {5}});
  EXPECT_EQ(chain, (FilterChain{{2, {}}, {1, {5}}}));
  set_filter(chain, 2, std::nullopt);
  set_filter(chain, 3, std::nullopt);
  EXPECT_EQ(chain, (FilterChain{{1, {5}}}));
  EXPECT_EQ(find_filter(chain, 2), nullptr);
  EXPECT_EQ(find_filter(chain, 1)->parameters.front(), 5u);
}

TEST(FilterChain, a_codec_without_its_library_is_refused_and_another_named) {
  for (const Codec* codec : all_codecs()) {
    if (codec->lacks.empty()) continue;
    EXPECT_THAT(mistake({*filter_of_level(*codec, 1)}),
                testing::AllOf(HasSubstr("this build of Afterbay lacks"),
                               HasSubstr(std::string(codec->lacks)), HasSubstr("or use deflate")));
  }
}

TEST(FilterChain, bitshuffle_after_a_checksum_needs_elements_that_divide_both) {
  const FilterChain chain{{3, {}}, {bitshuffle_codec.id, {}}};
  EXPECT_EQ(mistake_in(chain), std::nullopt);
  EXPECT_EQ(mistake_for(chain, Type::float32), std::nullopt);
  EXPECT_THAT(mistake_for(chain, Type::float64).value_or("none"),
              HasSubstr("requests bitshuffle after a checksum of 4 bytes"));
  EXPECT_EQ(mistake_for({{bitshuffle_codec.id, {}}}, Type::float64), std::nullopt);
}

TEST(FilterChain, types_that_a_codec_does_not_take_are_found) {
  for (const Codec* codec : all_codecs())
    for (const Type type : {Type::int8, Type::text, Type::float32, Type::uint64})
      EXPECT_EQ(mistake_for({*filter_of_level(*codec, 1)}, type).has_value(),
                codec->takes != nullptr && !codec->takes(type))
          << codec->name;
}

}  // namespace
}  // namespace afterbay::codec
