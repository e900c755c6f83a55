// SPDX-License-Identifier: Apache-2.0
// The file in which `compress: auto` keeps its choice.
#include "config/compress_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/filter_chain.hpp"
#include "unit/config/config_sources.hpp"

namespace afterbay::config {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(CompressChoice, lies_in_the_directory) {
  EXPECT_EQ(choice_path("", "history"), "compress.history.yaml");
  EXPECT_EQ(choice_path("out", "history"), "out/compress.history.yaml");
  EXPECT_EQ(choice_path("/out/", "a/b"), "/out/compress.a%2Fb.yaml");
  EXPECT_EQ(choice_path("", "a%2Fb"), "compress.a%252Fb.yaml");
}

TEST(CompressChoice, every_chain_is_read_as_it_was_written) {
  for (const codec::FilterLevels& chain : codec::chains_to_try({})) {
    const YamlFile file("# a comment\n" + codec::settings_of("his.tory", chain));
    const auto read = read_choice(file.path(), "his.tory");
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(*read, chain);
    // The same text is a configuration.
    const Config config = load(file.sources()).value();
    FilterChain configured;
    for (const auto& [codec, filter] : config.settings_for("his.tory").filters)
      codec::set_filter(configured, codec, filter);
    EXPECT_EQ(codec::in_order(configured), codec::chain_of(chain).value());
  }
}

TEST(CompressChoice, names_of_collections_may_have_any_characters) {
  const std::string name = "a \"b\\c/d";
  const codec::FilterLevels chain{{"deflate", 3}};
  const YamlFile file(codec::settings_of(name, chain));
  const auto read = read_choice(file.path(), name);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, chain);
}

TEST(CompressChoice, there_may_be_none) {
  const auto read = read_choice("/none/compress.h.yaml", "h");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, std::nullopt);
}

TEST(CompressChoice, damaged_files_are_refused_with_their_place) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "holds no filters"},
      {"collections:\n  \"h\":\n    shuffle: on\n    zstd: 99\n", ":4:11: zstd: expected"},
      {"collections:\n  \"h\":\n    shuffle: [on]\n", ":3:14: shuffle: expected"},
      {"collections:\n  \"h\":\n    bzip: 3\n", ":3:11: expected only compression"},
      {"collections:\n  \"h\":\n    fletcher32: on\n", ":3:17: expected only compression"},
      {"collections:\n  \"other\":\n    deflate: 3\n", ":3:14: expected only compression"},
      {"collections:\n  \"h\":\n    variables: {t: {deflate: 3}}\n", "collections.h.variables.t.deflate"},
      {"afterbay: {writers: 3}\n", "found writers"},
      {"collections:\n  \"h\":\n    deflate: 3\n    lz4: on\n", "the collection \"h\" has"},
      {"collections:\n  \"h\":\n    defla", "expected settings of"},
      {"collections: {\n", "this is not YAML"}};
  for (const auto& [text, expected] : cases) {
    const YamlFile file(text);
    const auto read = read_choice(file.path(), "h");
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error().text(),
                AllOf(HasSubstr(file.path()), HasSubstr(expected), HasSubstr("to measure again")))
        << text;
  }
}

TEST(CompressChoice, codecs_that_the_build_lacks_are_refused) {
  for (const codec::Codec* const codec : codec::all_codecs()) {
    if (codec->lacks.empty()) continue;
    const YamlFile file(codec::settings_of("h", {{std::string(codec->name), 1}}));
    const auto read = read_choice(file.path(), "h");
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().text(),
                AllOf(HasSubstr(file.path() + ":3"), HasSubstr("this build of Afterbay lacks")));
  }
}

/// Filters of the schema must not remain beside those that were chosen.
TEST(CompressChoice, a_choice_replaces_all_filters_but_checksums) {
  const FilterChoices choices = exactly({{"shuffle", 1}, {"deflate", 4}});
  for (const codec::Codec* const codec : codec::all_codecs()) {
    const bool chosen = codec->name == "shuffle" || codec->name == "deflate";
    ASSERT_EQ(choices.contains(codec->id), codec->kind != codec::FilterKind::checksum) << codec->name;
    if (codec->kind == codec::FilterKind::checksum) continue;
    EXPECT_EQ(choices.at(codec->id).has_value(), chosen) << codec->name;
  }
}

}  // namespace
}  // namespace afterbay::config
