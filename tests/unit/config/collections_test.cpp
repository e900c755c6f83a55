// SPDX-License-Identifier: Apache-2.0
// Settings of collections and variables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/own_collections.hpp"
#include "codec/codec.hpp"
#include "codec/filter_chain.hpp"
#include "config/config.hpp"
#include "config/settings.hpp"
#include "unit/config/config_sources.hpp"

namespace afterbay::config {
namespace {

using testing::ElementsAre;
using testing::Optional;

/// The level that is configured for a codec, 0 for off; nothing if none is.
template <class Settings>
std::optional<int> level(const Settings& settings, std::string_view name) {
  const codec::Codec& codec = *codec::find_codec(name);
  const auto found = settings.filters.find(codec.id);
  if (found == settings.filters.end()) return std::nullopt;
  return codec::level_of(codec, found->second ? &*found->second : nullptr);
}

TEST(ConfigCollections, EverySettingIsRead) {
  const YamlFile file(R"(
collections:
  history:
    store: netcdf4
    existing: append
    directory: /data/out
    file: "hist_{step:04}.nc"
    placement: file
    deflate: 4
    shuffle: true
    access: series
    variables:
      temperature: {chunk: [1, 64, 32], deflate: 1, access: profile}
      "q*": {shuffle: off}
)");
  const Config config = load(file.sources()).value();
  const CollectionSettings history = config.settings_for("history");
  EXPECT_THAT(history.store, Optional(Format::netcdf4));
  EXPECT_THAT(history.existing, Optional(Existing::append));
  EXPECT_THAT(history.directory, Optional(std::string("/data/out")));
  EXPECT_THAT(history.file, Optional(std::string("hist_{step:04}.nc")));
  EXPECT_THAT(history.placement, Optional(Placement::file));
  const VariableSettings temperature = history.settings_for("temperature");
  EXPECT_THAT(level(temperature, "deflate"), Optional(1));
  EXPECT_THAT(level(temperature, "shuffle"), Optional(1));  // the collection's
  ASSERT_TRUE(temperature.chunk);
  EXPECT_THAT(*temperature.chunk, ElementsAre(1, 64, 32));
  EXPECT_THAT(level(history.settings_for("qv"), "shuffle"), Optional(0));
  EXPECT_THAT(level(history.settings_for("qv"), "deflate"), Optional(4));
  EXPECT_EQ(history.settings_for("u").chunk, std::nullopt);
  EXPECT_THAT(temperature.access, Optional(model::Access::profile));
  EXPECT_THAT(history.settings_for("u").access, Optional(model::Access::series));
}

TEST(ConfigCollections, PatternsLeaveCollectionsOfTheLibraryAlone) {
  const YamlFile file(R"(
collections:
  "*": {existing: replace, store: cdf5}
  "afterbay*": {droppable: on}
  "afterbay output state": {priority: 2}
)");
  const Config config = load(file.sources()).value();
  for (const std::string_view name : {state_collection, epoch_state_collection}) {
    const CollectionSettings state = config.settings_for(name);
    EXPECT_EQ(state.existing, std::nullopt);
    EXPECT_EQ(state.store, std::nullopt);
    EXPECT_EQ(state.droppable, std::nullopt);
  }
  EXPECT_THAT(config.settings_for(state_collection).priority, Optional(2));
  EXPECT_THAT(config.settings_for("history").store, Optional(Format::cdf5));
}

TEST(ConfigCollections, StagesOfVariablesAreReadAndJoined) {
  const YamlFile file(R"(
collections:
  "*":
    variables:
      "t*": {multiply: 0.010, add: 1e3}
  history:
    variables:
      temperature: {add: -273.15}
)");
  const Config config = load(file.sources()).value();
  using Stages = pipeline::Settings;
  EXPECT_EQ(config.settings_for("history").settings_for("temperature").stages,
            (Stages{{"multiply", "0.01"}, {"add", "-273.15"}}));
  EXPECT_EQ(config.settings_for("restart").settings_for("temperature").stages,
            (Stages{{"multiply", "0.01"}, {"add", "1000"}}));
  EXPECT_TRUE(config.settings_for("history").settings_for("u").stages.empty());
}

TEST(ConfigCollections, WrongStagesAreRefused) {
  const YamlFile file(R"(
collections:
  history:
    variables:
      t: {multiply: 0, add: nan}
      q: {multiply: [1, 2], mulitply: 3}
)");
  const std::string text = load(file.sources()).error().message;
  EXPECT_THAT(text, testing::HasSubstr("collections.history.variables.t.multiply: expected a finite number "
                                       "other than 0, found \"0\""));
  EXPECT_THAT(text, testing::HasSubstr("collections.history.variables.t.add: expected a finite number, found "
                                       "\"nan\""));
  EXPECT_THAT(text, testing::HasSubstr("collections.history.variables.q.multiply: expected a finite number "
                                       "other than 0, found a list"));
  EXPECT_THAT(text, testing::HasSubstr("did you mean \"multiply\"?"));
}

/// Stages compute in memory.server: what is left for frames becomes less.
TEST(ConfigCollections, StagesTakeBuffersFromTheMemoryOfServers) {
  Sources sources = no_environment();
  sources.settings = {{"memory.server", "64MiB"}, {"memory.small_share", "0"}, {"writers", "3"}};
  const Config without = load(sources).value();
  EXPECT_EQ(without.memory.writer_bytes(), 0u);
  EXPECT_EQ(without.memory.blocks(), 16u);
  sources.settings.emplace_back("when_full", "spill");
  EXPECT_EQ(load(sources).value().memory.writer_buffers, 3) << "frames are read back into them";
  sources.settings.emplace_back("collections.c.variables.t.add", "1");
  const Config with = load(sources).value();
  EXPECT_EQ(with.memory.writer_bytes(), 3u * ((4u << 20) + 4096));
  EXPECT_EQ(with.memory.frame_bytes() + with.memory.writer_bytes(), 64u << 20);
  EXPECT_EQ(with.memory.blocks(), 12u);
  sources.settings.emplace_back("pools.a.servers", "1");
  sources.settings.emplace_back("pools.a.writers", "1");
  EXPECT_EQ(load(sources).value().of_pool("a").memory.blocks(), 14u);
  sources.settings.resize(sources.settings.size() - 2);
  sources.settings.emplace_back("topology", "inline");
  EXPECT_EQ(load(sources).value().memory.writer_buffers, 1);
}

TEST(ConfigCollections, StripesAreReadAsAGroupOrByTheirDottedNames) {
  const YamlFile file(R"(
afterbay:
  stripe: {count: all, size: 8MiB, apply: never}
collections:
  history:
    stripe: {count: auto, size: 4MiB}
    expected_size: 20GiB
  restart:
    stripe.count: 12
)");
  Sources sources = file.sources();
  sources.arguments = {"--afterbay.collections.re*.stripe.size=auto"};
  const Config config = load(sources).value();
  EXPECT_EQ(config.writing.stripe.count, stripes_all);
  EXPECT_EQ(config.writing.stripe.size_bytes, 8u << 20);
  EXPECT_EQ(config.writing.stripe.apply, StripeApply::never);
  EXPECT_THAT(config.settings_for("history").stripe_count, Optional(stripes_automatic));
  EXPECT_THAT(config.settings_for("history").stripe_size_bytes, Optional(std::uint64_t{4} << 20));
  EXPECT_THAT(config.settings_for("history").expected_bytes, Optional(std::uint64_t{20} << 30));
  EXPECT_THAT(config.settings_for("restart").stripe_count, Optional(12));
  EXPECT_THAT(config.settings_for("restart").stripe_size_bytes, Optional(stripe_size_automatic));
  EXPECT_EQ(config.settings_for("restart").expected_bytes, std::nullopt);
}

TEST(ConfigCollections, WrongStripesAreRefused) {
  const YamlFile file(R"(
collections:
  history:
    stripe: {count: al, size: 1000}
    expected_size: big
  restart:
    stripe: 4
    stripes: {count: 1}
)");
  const auto config = load(file.sources());
  ASSERT_FALSE(config);
  for (const char* part :
       {"4:21: collections.history.stripe.count: expected auto, all or an integer from 1 to 65535, found "
        "\"al\"; "
        "did you mean \"all\"?",
        "4:31: collections.history.stripe.size: expected auto or a size from 64KiB to 4194240KiB, a multiple "
        "of "
        "64KiB, found \"1000\"",
        "collections.history.expected_size: expected a size from",
        "unknown setting \"collections.restart.stripe\"; it is a group of stripe.count or stripe.size",
        "unknown setting \"collections.restart.stripes\""})
    EXPECT_THAT(config.error().message, testing::HasSubstr(part));
}

TEST(ConfigCollections, OthersAreUntouched) {
  const Config config = load(YamlFile("collections: {history: {store: cdf5}}").sources()).value();
  EXPECT_EQ(config.settings_for("restart").store, std::nullopt);
  EXPECT_THAT(config.settings_for("history").store, Optional(Format::cdf5));
}

TEST(ConfigCollections, ExactNamesWinOverPatterns) {
  const Config config = load(YamlFile(R"(
collections:
  history: {existing: append}
  "hist*": {existing: replace, directory: a}
  "*": {existing: refuse, directory: b}
)")
                                 .sources())
                            .value();
  EXPECT_THAT(config.settings_for("history").existing, Optional(Existing::append));
  EXPECT_THAT(config.settings_for("history").directory, Optional(std::string("b")));  // the later pattern
  EXPECT_THAT(config.settings_for("hist2").existing, Optional(Existing::refuse));
}

TEST(ConfigCollections, ExactVariablesWinOverPatterns) {
  const Config config =
      load(YamlFile("collections: {h: {variables: {t: {deflate: 1}, \"*\": {deflate: 9, shuffle: on}}}}")
               .sources())
          .value();
  EXPECT_THAT(level(config.settings_for("h").settings_for("t"), "deflate"), Optional(1));
  EXPECT_THAT(level(config.settings_for("h").settings_for("t"), "shuffle"), Optional(1));
}

TEST(ConfigCollections, SourcesWinInTheirOrder) {
  const YamlFile file("collections: {history: {existing: append, directory: yaml}}");
  Sources sources = file.sources();
  sources.settings = {{"collections.history.existing", "replace"}, {"collections.history.deflate", "2"}};
  EXPECT_THAT(load(sources).value().settings_for("history").existing, Optional(Existing::append));
  EXPECT_THAT(level(load(sources).value().settings_for("history"), "deflate"), Optional(2));
  sources.environment->emplace("AFTERBAY_COLLECTIONS", "{'*': {existing: refuse}}");
  EXPECT_THAT(load(sources).value().settings_for("history").existing, Optional(Existing::refuse));
  sources.arguments = {"--afterbay.collections.*.existing=replace",
                       "--afterbay.collections.history.directory", "flag"};
  EXPECT_THAT(load(sources).value().settings_for("history").existing, Optional(Existing::replace));
  EXPECT_THAT(load(sources).value().settings_for("history").directory, Optional(std::string("flag")));
}

TEST(ConfigCollections, NamesMayHaveDots) {
  Sources sources = no_environment();
  sources.arguments = {"--afterbay.collections.ocean.daily.store=cdf2",
                       "--afterbay.collections.ocean.daily.variables.sea.ice.chunk=1,10"};
  const Config config = load(sources).value();
  EXPECT_THAT(config.settings_for("ocean.daily").store, Optional(Format::cdf2));
  ASSERT_TRUE(config.settings_for("ocean.daily").settings_for("sea.ice").chunk);
  EXPECT_EQ(config.overrides.collections.back().full_name(),
            "collections.ocean.daily.variables.sea.ice.chunk");
  EXPECT_EQ(config.overrides.collections.back().origin.place,
            "--afterbay.collections.ocean.daily.variables.sea.ice.chunk");
}

/// Settings of codecs come from the codecs' rows.
TEST(ConfigCollections, every_codec_has_a_setting) {
  for (const codec::Codec* codec : codec::all_codecs()) {
    const auto* of_collection = find_setting(collection_settings(), codec->name);
    const auto* of_variable = find_setting(variable_settings(), codec->name);
    ASSERT_TRUE(of_collection != nullptr && of_variable != nullptr) << codec->name;
    EXPECT_EQ(of_collection->documentation, codec->documentation);
    for (const bool on : {false, true}) {
      const std::string text = codec->most_level > 0 ? std::to_string(on ? codec->most_level : 0)
                               : on                  ? "on"
                                                     : "off";
      CollectionSettings collection;
      EXPECT_EQ(of_collection->print(collection), "");
      ASSERT_TRUE(of_collection->assign(collection, text)) << codec->name;
      EXPECT_THAT(level(collection, codec->name), Optional(on ? std::max(1, codec->most_level) : 0));
      EXPECT_EQ(of_collection->print(collection), text);
      VariableSettings variable;
      ASSERT_TRUE(of_variable->assign(variable, text));
      EXPECT_EQ(of_variable->print(variable), text);
    }
    CollectionSettings untouched;
    EXPECT_FALSE(of_collection->assign(untouched, "10000"));
    EXPECT_TRUE(untouched.filters.empty());
  }
}

}  // namespace
}  // namespace afterbay::config
