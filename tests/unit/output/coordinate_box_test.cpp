// SPDX-License-Identifier: Apache-2.0
#include "output/coordinate_box.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "output/sphere.hpp"

namespace afterbay::output {
namespace {

using Places = std::vector<std::uint64_t>;

TEST(CoordinateBox, RangesHaveAllHits) {
  EXPECT_EQ(hit_range({0, 1, 0, 1, 0}, false), (Places{1, 2, 3}));
  EXPECT_EQ(hit_range({1}, false), (Places{0}));
  EXPECT_EQ(hit_range({0, 0, 1}, true), (Places{2}));
  EXPECT_EQ(hit_range({1, 1, 1}, true), (Places{0, 1, 2}));
}

TEST(CoordinateBox, RangesGoAroundIfThatIsLess) {
  EXPECT_EQ(hit_range({1, 0, 0, 0, 1, 1}, true), (Places{0, 4, 5}));
  EXPECT_EQ(hit_range({1, 0, 0, 0, 1, 1}, false), (Places{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(hit_range({0, 1, 0, 0, 1, 0}, true), (Places{1, 2, 3, 4})) << "no less: it does not go around";
  EXPECT_EQ(hit_range({0, 1, 0, 0, 0, 1}, true), (Places{0, 1, 5}));
  EXPECT_EQ(hit_range({1, 0, 1, 0, 0, 1}, true), (Places{0, 1, 2, 5})) << "the longest gap is left out";
}

TEST(CoordinateBox, BoundsAreIncludedWithinThePrecisionOfTheCoordinate) {
  const FoundCoordinate depth{"depth", nullptr, Quantity::other, "m"};
  const double of_float32 = tolerance_of(depth, Type::float32);
  EXPECT_TRUE(is_between(10.1F, 0, 10.1, of_float32));
  EXPECT_TRUE(is_between(-10.1F, -10.1, 0, of_float32));
  EXPECT_TRUE(is_between(100000.1F, 100000.1, 2e5, of_float32));
  EXPECT_FALSE(is_between(10.101F, 0, 10.1, of_float32));
  EXPECT_TRUE(is_between(10.1F, 0, 10.1, tolerance_of(depth, Type::float64))) << "it was a float32 before";
  EXPECT_TRUE(is_between(0, 0, 0, of_float32));
  EXPECT_FALSE(is_between(100000001, 0, 100000000, tolerance_of(depth, Type::int32)));
}

TEST(CoordinateBox, LongitudesGoAround) {
  EXPECT_TRUE(is_between_longitudes(359, -10, 10, 0));
  EXPECT_TRUE(is_between_longitudes(-359, 350, 10, 0));
  EXPECT_TRUE(is_between_longitudes(10, 350, 370, 0));
  EXPECT_FALSE(is_between_longitudes(11, 350, 10, 0));
  EXPECT_FALSE(is_between_longitudes(180, 350, 10, 0));
  EXPECT_TRUE(is_between_longitudes(123, -180, 180, 0)) << "all";
  const double third = 37.5 * (std::numbers::pi / 180) * degrees_per_unit("radian");
  EXPECT_TRUE(is_between_longitudes(third, 37.5, 37.5, 1e-9));
  EXPECT_TRUE(is_between_longitudes(third + 360, 37.5, 37.5, 1e-9));
  EXPECT_FALSE(is_between_longitudes(37.5001, 37.5, 37.5, 1e-9));
}

TEST(Sphere, DistancesAreExactForNeighboursAndAntipodes) {
  const double degree = earth_radius_m * std::numbers::pi / 180;
  const auto between = [](double lon1, double lat1, double lon2, double lat2) {
    return distance_m(direction_of(lon1, lat1), direction_of(lon2, lat2));
  };
  EXPECT_NEAR(between(0, 0, 1, 0), degree, 1e-7);
  EXPECT_NEAR(between(10, 50, 370, 50), 0, 1e-7) << "the same longitude";
  EXPECT_NEAR(between(0, 0, 1e-6, 0), degree * 1e-6, 1e-8);
  EXPECT_NEAR(between(0, 0, 180, 0), 180 * degree, 1e-7);
  EXPECT_NEAR(between(0, 0, 180 - 1e-6, 0), (180 - 1e-6) * degree, 1e-7);
  EXPECT_NEAR(between(77, 90, -20, -90), 180 * degree, 1e-7) << "poles have any longitude";
  EXPECT_NEAR(between(0, 60, 180, 60), 60 * degree, 1e-7);
}

}  // namespace
}  // namespace afterbay::output
