// SPDX-License-Identifier: Apache-2.0
// The cache of structures: what is shared, what is not, what is evicted if there is no room.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "storage/structure/structure_cache.hpp"

namespace afterbay::storage {
namespace {

struct Text {
  std::string text;
  std::uint64_t size = 1000;
  [[nodiscard]] std::uint64_t bytes() const { return size; }
};

using Cache = StructureCache<Text>;

Schema sample_schema(const std::string& title = "a title") {
  Schema schema;
  schema.dimension("time", unlimited).dimension("y", 30).dimension("x", 40);
  schema.attribute("title", title);
  schema.variable("lat", Type::float64, {"y"}).with_constant(std::vector<double>(30, 1.5));
  schema.variable("t", Type::float32, {"time", "y", "x"}).with_deflate(1).attribute("units", "K");
  return schema;
}

std::shared_ptr<const model::FileLayout> layout_for(const Schema& schema, Format format = Format::netcdf4,
                                                    std::uint64_t chunk_bytes = 4u << 20) {
  auto layout = model::make_layout(schema, format, {.frame_bytes = 4u << 20, .chunk_bytes = chunk_bytes});
  EXPECT_TRUE(layout) << layout.error().text();
  return std::make_shared<const model::FileLayout>(std::move(*layout));
}

/// The cache's structure for a schema; created as `text`.
std::string asked(Cache& cache, const Schema& schema, const std::shared_ptr<const model::FileLayout>& layout,
                  const std::string& text) {
  const auto kept = cache.get(schema, layout, [&]() -> Result<Text> { return Text{text}; });
  return kept ? (*kept)->text : kept.error().text();
}

std::string asked(Cache& cache, const Schema& schema, const std::string& text) {
  return asked(cache, schema, layout_for(schema), text);
}

TEST(StructureCache, gives_equal_schemas_the_structure_made_first) {
  Cache cache;
  EXPECT_EQ(asked(cache, sample_schema(), "first"), "first");
  EXPECT_EQ(asked(cache, sample_schema(), "second"), "first");
  EXPECT_EQ(cache.made(), 1u);
}

TEST(StructureCache, a_difference_of_any_kind_is_another_structure) {
  std::vector<Schema> others(7, sample_schema());
  others[0].attribute("title", "b title");
  others[1].variables[1].attributes[0].values = Values("C");
  others[2].variables[0].constant = std::vector<double>(30, 1.5000001);
  others[3].variables[1].deflate = 2;
  others[4].variables[1].with_fill(1.0f);
  others[5].dimensions[2].length = 41;
  std::swap(others[6].variables[0], others[6].variables[1]);
  Cache cache;
  EXPECT_EQ(asked(cache, sample_schema(), "first"), "first");
  for (std::size_t i = 0; i < others.size(); ++i) {
    EXPECT_EQ(asked(cache, others[i], std::to_string(i)), std::to_string(i));
    EXPECT_EQ(asked(cache, sample_schema(), "again"), "first");
  }
  EXPECT_EQ(cache.made(), 1 + others.size());
}

TEST(StructureCache, other_chunks_and_formats_are_other_structures) {
  Cache cache;
  const Schema schema = sample_schema();
  EXPECT_EQ(asked(cache, schema, layout_for(schema), "large chunks"), "large chunks");
  EXPECT_EQ(asked(cache, schema, layout_for(schema, Format::netcdf4, 512), "small chunks"), "small chunks");
  EXPECT_EQ(asked(cache, schema, layout_for(schema, Format::cdf5), "classic"), "classic");
  EXPECT_EQ(asked(cache, schema, layout_for(schema, Format::cdf2), "older classic"), "older classic");
  EXPECT_EQ(asked(cache, schema, layout_for(schema), "none"), "large chunks");
}

TEST(StructureCache, those_not_used_for_longest_go_when_there_is_no_room) {
  const std::uint64_t each = 1000 + memory_of(sample_schema("1"));
  Cache cache(3 * each);
  for (const char* name : {"1", "2", "3"}) asked(cache, sample_schema(name), name);
  EXPECT_EQ(cache.bytes(), 3 * each);
  asked(cache, sample_schema("1"), "-");
  asked(cache, sample_schema("4"), "4");
  EXPECT_EQ(cache.bytes(), 3 * each);
  EXPECT_EQ(cache.made(), 4u);
  for (const char* name : {"1", "3", "4"}) EXPECT_EQ(asked(cache, sample_schema(name), "-"), name);
  EXPECT_EQ(cache.made(), 4u);
  EXPECT_EQ(asked(cache, sample_schema("2"), "made again"), "made again");
}

TEST(StructureCache, what_is_larger_than_the_cache_is_used_and_not_kept) {
  Cache cache(10'000);
  const auto large = [] { return Result<Text>(Text{"large", 20'000}); };
  const Schema schema = sample_schema();
  EXPECT_EQ((*cache.get(schema, layout_for(schema), large))->text, "large");
  EXPECT_EQ(cache.bytes(), 0u);
  EXPECT_EQ(asked(cache, schema, "anew"), "anew");
}

TEST(StructureCache, a_failure_is_not_kept) {
  Cache cache;
  const Schema schema = sample_schema();
  const auto failed = cache.get(schema, layout_for(schema), []() -> Result<Text> {
    return fail(ErrorCode::io, "no room for the structure");
  });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "no room for the structure");
  EXPECT_EQ(cache.bytes(), 0u);
  EXPECT_EQ(asked(cache, schema, "second"), "second");
  EXPECT_THROW((void)cache.get(sample_schema("b"), layout_for(schema),
                               []() -> Result<Text> { throw std::bad_alloc(); }),
               std::bad_alloc);
  EXPECT_EQ(asked(cache, sample_schema("b"), "third"), "third");
}

/// Requests it in several threads while the first one is still creating it, and counts the results.
struct Askers {
  explicit Askers(bool first_fails) {
    const Schema schema = sample_schema();
    const auto layout = layout_for(schema);
    std::atomic<int> started{0};
    const auto ask = [&] {
      ++started;
      const auto kept = cache.get(schema, layout, [&]() -> Result<Text> {
        const int mine = makes++;
        while (mine == 0 && started < threads) std::this_thread::yield();
        for (int i = 0; mine == 0 && i < 100; ++i) std::this_thread::yield();
        if (mine == 0 && first_fails) return fail(ErrorCode::io, "the first one");
        return Text{"made"};
      });
      ++(kept ? good : bad);
    };
    std::vector<std::jthread> running;
    for (int t = 0; t < threads; ++t) running.emplace_back(ask);
  }

  static constexpr int threads = 4;
  Cache cache;
  std::atomic<int> makes{0};
  std::atomic<int> good{0};
  std::atomic<int> bad{0};
};

TEST(StructureCache, who_asks_while_it_is_made_waits_for_it) {
  const Askers askers(false);
  EXPECT_EQ(askers.makes, 1);
  EXPECT_EQ(askers.good, Askers::threads);
}

TEST(StructureCache, who_waited_for_a_failure_tries_again) {
  const Askers askers(true);
  EXPECT_EQ(askers.makes, 2);
  EXPECT_EQ(askers.bad, 1);
  EXPECT_EQ(askers.good, Askers::threads - 1);
}

}  // namespace
}  // namespace afterbay::storage
