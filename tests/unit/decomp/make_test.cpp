// SPDX-License-Identifier: Apache-2.0
#include "decomp/make.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "decomp/hilbert.hpp"
#include "decomp/statistics.hpp"
#include "unit/decomp/decomp_lists.hpp"

namespace afterbay::decomp {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// The maps of a request by name, and their names in order.
template <class Request>
struct Made {
  using Make = Result<> (*)(const Request&, const Receive&);
  Made(Make make, const Request& request) {
    result = make(request, [&](const Decomposition& map) -> Result<> {
      names.push_back(map.name);
      maps.emplace(map.name, map);
      return {};
    });
  }
  [[nodiscard]] DecompositionStatistics statistics(const std::string& name) const {
    return *statistics_of(maps.at(name));
  }

  Result<> result;
  std::vector<std::string> names;
  std::map<std::string, Decomposition> maps;
};

void expect_each_point_once(const DecompositionStatistics& all) {
  EXPECT_EQ(all.never_held(), 0U) << all.name;
  EXPECT_EQ(all.held_again, 0U) << all.name;
}

TEST(DecompMake, blocks_cover_the_grid_once) {
  for (const std::uint64_t ranks : {1U, 7U, 12U, 30U}) {
    const Made made(make_blocks, BlocksRequest{ranks, 19, 36, 5});
    ASSERT_TRUE(made.result);
    EXPECT_THAT(made.names, ElementsAre("columns", "columns_levels"));
    for (const std::string& name : made.names) expect_each_point_once(made.statistics(name));
    EXPECT_LT(made.statistics("columns").balance(), 1.5);
  }
  const Made crowded(make_blocks, BlocksRequest{10, 1, 4, 0});
  ASSERT_TRUE(crowded.result);
  EXPECT_THAT(crowded.names, ElementsAre("columns"));
  EXPECT_EQ(crowded.statistics("columns").empty_ranks, 6U);
}

TEST(DecompMake, boxes_are_square_rather_than_strips) {
  const Made made(make_blocks, BlocksRequest{12, 181, 360, 0});
  EXPECT_EQ(made.statistics("columns").most_runs, 61U);  // 3 x 4 boxes of 61 rows
}

TEST(DecompMake, a_cubed_sphere_has_the_columns_that_differ_and_each_once) {
  for (const std::uint64_t ne : {1U, 2U, 3U, 4U, 11U}) {
    const Made made(make_cubed_sphere, CubedSphereRequest{5, ne, 0, 3});
    ASSERT_TRUE(made.result);
    EXPECT_THAT(made.names, ElementsAre("elements", "columns", "columns_levels"));
    for (const std::string& name : made.names) expect_each_point_once(made.statistics(name));
    EXPECT_EQ(made.statistics("elements").points, 54 * ne * ne + 2);
    EXPECT_EQ(made.statistics("elements").listed, 6 * ne * ne * 16);
  }
}

/// The captured data of E3SM's ne4 run with 16 ranks: 96 points per rank, of which 670 holes in
/// total; physics in 64 chunks of 16 with 158 holes, and one run per column and level.
TEST(DecompMake, ne4_looks_like_the_captured_run) {
  const Made made(make_cubed_sphere, CubedSphereRequest{16, 4, 0, 72});
  ASSERT_TRUE(made.result);
  EXPECT_EQ(made.statistics("elements").points, 866U);
  EXPECT_EQ(made.statistics("elements").holes, 670U);
  EXPECT_EQ(made.maps.at("elements").count(3).elements, 96U);
  EXPECT_EQ(made.statistics("columns").holes, 158U);
  EXPECT_EQ(made.statistics("columns_levels").runs, 62352U);
  EXPECT_EQ(made.statistics("columns_levels").listed, 73728U);
  EXPECT_EQ(made.maps.at("columns_levels").runs().size(), 930U);  // levels are repetition
}

TEST(DecompMake, production_sizes_are_made_in_seconds) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a time limit says nothing about a build with sanitizers";
#endif
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t points = 0;
  const Receive count = [&](const Decomposition& map) -> Result<> {
    points = std::max(points, map.points());
    EXPECT_LT(map.runs().size(), 7000000U);
    return {};
  };
  ASSERT_TRUE(make_cubed_sphere({21600, 120, 0, 72}, count));
  EXPECT_EQ(points, 777602U * 72U);
  points = 0;
  ASSERT_TRUE(make_mpas({9600, 3693225, 80}, count));
  EXPECT_EQ(points, 3693225ULL * 3 * 80);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));  // 5 on an idle machine
}

/// One kilometre between points.
TEST(DecompMake, a_large_land_mask_is_made_in_seconds) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a time limit says nothing about a build with sanitizers";
#endif
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t listed = 0;
  ASSERT_TRUE(make_land({1000, 10000, 20000, 0}, [&](const Decomposition& map) -> Result<> {
    for (std::size_t rank = 0; rank < map.ranks(); ++rank) listed += map.count(rank).elements;
    return {};
  }));
  EXPECT_NEAR(static_cast<double>(listed), 0.41 * 10000 * 20000, 0.01 * 10000 * 20000);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST(DecompMake, any_number_of_columns) {
  const Made made(make_cubed_sphere, CubedSphereRequest{16, 0, 6928, 72});
  ASSERT_TRUE(made.result);
  for (const std::string& name : made.names) expect_each_point_once(made.statistics(name));
  EXPECT_EQ(made.statistics("columns_levels").points, 6928U * 72U);
}

TEST(DecompMake, more_ranks_than_columns) {
  const Made made(make_cubed_sphere, CubedSphereRequest{100, 1, 0, 2});
  ASSERT_TRUE(made.result);
  for (const std::string& name : made.names) expect_each_point_once(made.statistics(name));
}

TEST(DecompMake, an_ocean_mesh_has_e3sms_six_maps) {
  const Made made(make_mpas, MpasRequest{16, 285, 100});
  ASSERT_TRUE(made.result);
  EXPECT_THAT(made.names, ElementsAre("cells", "edges", "cells_levels", "edges_levels", "vertices_levels",
                                      "cells_interfaces"));
  for (const std::string& name : made.names) expect_each_point_once(made.statistics(name));
  EXPECT_THAT(made.maps.at("cells_interfaces").global(), ElementsAre(285, 101));
  EXPECT_GT(made.statistics("edges").runs, 285U);  // scattered
  const Made flat(make_mpas, MpasRequest{3, 1, 0});
  ASSERT_TRUE(flat.result);
  EXPECT_THAT(flat.names, ElementsAre("cells", "edges", "vertices"));
  expect_each_point_once(flat.statistics("edges"));
}

TEST(DecompMake, land_has_gaps_and_holes) {
  const Made made(make_land, LandRequest{16, 96, 144, 4});
  ASSERT_TRUE(made.result);
  EXPECT_THAT(made.names, ElementsAre("land", "land_levels"));
  const DecompositionStatistics land = made.statistics("land");
  EXPECT_NEAR(land.coverage_percent(), 41.0, 1.0);
  EXPECT_EQ(land.held_again, 0U);
  EXPECT_GT(land.holes, 0U);
  EXPECT_LT(land.balance(), 1.1);
  EXPECT_EQ(made.statistics("land_levels").held, 4 * land.held);
  for (std::size_t rank = 1; rank < 16; ++rank)
    EXPECT_EQ(made.maps.at("land").count(rank).elements, made.maps.at("land").count(0).elements);

  LandRequest all{7, 5, 9};
  all.land_percent = 100.0;
  expect_each_point_once(Made(make_land, all).statistics("land"));
  EXPECT_TRUE(Made(make_land, LandRequest{50, 2, 3}).result);  // more ranks than land
}

TEST(DecompMake, what_cannot_be_made_is_refused_with_the_value) {
  const auto said = [](const Result<>& result) { return result ? "accepted" : result.error().message; };
  const Receive none = [](const Decomposition&) -> Result<> { return {}; };
  EXPECT_THAT(said(make_blocks({0, 4, 4, 0}, none)), HasSubstr("0 ranks"));
  EXPECT_THAT(said(make_blocks({1, 0, 4, 0}, none)), HasSubstr("length 0"));
  EXPECT_THAT(said(make_blocks({1, 1ULL << 62, 4, 0}, none)), HasSubstr("2^63"));
  EXPECT_THAT(said(make_blocks({1, 1, 5000000000ULL, 0}, none)), HasSubstr("5000000000 elements"));
  EXPECT_THAT(said(make_cubed_sphere({1, 0, 0, 0}, none)), HasSubstr("either"));
  EXPECT_THAT(said(make_cubed_sphere({1, 4, 4, 0}, none)), HasSubstr("either"));
  EXPECT_THAT(said(make_cubed_sphere({1, 100000, 0, 0}, none)), HasSubstr("100000"));
  EXPECT_THAT(said(make_mpas({1, 0, 0}, none)), HasSubstr("0 cells"));
  EXPECT_THAT(said(make_land({1, 4, 4, 0, -3.0}, none)), HasSubstr("-3 %"));
}

/// 16 elements on each of 2^60 levels are 2^64.
TEST(DecompMake, more_elements_than_can_be_counted_are_refused) {
  const Receive none = [](const Decomposition&) -> Result<> { return {}; };
  const Result<> made = make_cubed_sphere({1, 0, 1, 1ULL << 60}, none);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message,
              AllOf(HasSubstr("columns_levels"), HasSubstr("at least 18446744073709551615 elements")));
}

TEST(DecompMake, what_no_machine_has_the_memory_for_is_refused_before_it_is_begun) {
  const auto refused = [](const Result<>& result) {
    return !result && result.error().code == ErrorCode::resources ? result.error().message : "not refused";
  };
  const Receive none = [](const Decomposition&) -> Result<> { return {}; };
  EXPECT_THAT(
      refused(make_cubed_sphere({1000000, 0, 1ULL << 52, 0}, none)),
      AllOf(HasSubstr("4503599627370496 columns"), HasSubstr("GiB of memory; this process may have")));
  EXPECT_THAT(refused(make_blocks({2147483647, 1ULL << 40, 1ULL << 22, 0}, none)),
              AllOf(HasSubstr("1099511627776 x 4194304 points"), HasSubstr("for 2147483647 ranks")));
  EXPECT_THAT(refused(make_land({4, 4000000, 1000000, 0}, none)),
              AllOf(HasSubstr("4000000 x 1000000"), HasSubstr("8589934592")));
}

/// One column per row would need as many runs as rows if they were not joined before.
TEST(DecompMake, whole_rows_are_one_run_from_the_start) {
  Decomposition made;
  ASSERT_TRUE(make_blocks({4, 1ULL << 33, 1, 0}, [&](const Decomposition& map) -> Result<> {
    made = map;
    return {};
  }));
  EXPECT_EQ(made.runs().size(), 4U);
  EXPECT_EQ(made.runs()[1], (decomp::Run{1LL << 31, 1ULL << 31}));
}

TEST(DecompMake, hilberts_curve_visits_every_cell_once_and_steps_to_neighbours) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  auto before = hilbert_point(16, 0);
  for (std::uint64_t at = 0; at < 256; ++at) {
    const auto [x, y] = hilbert_point(16, at);
    EXPECT_TRUE(seen.insert({x, y}).second);
    if (at > 0) {
      const auto distance = (x > before.first ? x - before.first : before.first - x) +
                            (y > before.second ? y - before.second : before.second - y);
      EXPECT_EQ(distance, 1U);
    }
    before = {x, y};
  }
}

}  // namespace
}  // namespace afterbay::decomp
