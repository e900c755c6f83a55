// SPDX-License-Identifier: Apache-2.0
#include "statistics/planes.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "statistics_run.hpp"

namespace afterbay::statistics {
namespace {

constexpr std::size_t plane_points = 5;

template <class T>
class StatisticsPlanes : public ::testing::Test {};
using Types = ::testing::Types<float, double, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(StatisticsPlanes, Types);

/// Every kind and policy: a state that was taken apart and put together again goes on with the
/// same bits.
TYPED_TEST(StatisticsPlanes, a_state_made_of_planes_goes_on_as_if_it_were_the_same) {
  const Type type = type_of<TypeParam>;
  const Values missing(TypeParam(7));
  for (const Missing policy : {Missing::none, Missing::ignore, Missing::poison, Missing::threshold})
    for (int kind = 1; kind <= 10; ++kind) {
      const Statistic statistic{static_cast<StatisticKind>(kind), policy,
                                policy == Missing::threshold ? 0.5 : 0};
      BundleRun one(type, missing, plane_points, {statistic});
      BundleRun other(type, missing, plane_points, {statistic});
      one.step(std::vector<TypeParam>{1, 7, 3, 4, 5});
      one.step(std::vector<TypeParam>{9, 2, 7, 4, 8});
      const State& from = one.bundle().state(0);
      const State& to = other.bundle().state(0);
      for (const std::size_t element : {std::size_t{4}, sizeof(TypeParam)}) {
        for (std::uint32_t column = 0; column < to.layout().columns(); ++column)
          std::memset(to.column(column).data, 0xa5, to.column(column).bytes);
        const std::uint32_t count = Planes(from, element).count();
        ASSERT_GT(count, 0u);
        for (std::uint32_t plane = 0; plane < count; ++plane) {
          std::vector<std::byte> bytes(plane_points * element + 1);
          Planes(from, element).get(plane, bytes.data() + 1);  // at an odd address
          Planes(to, element).set(plane, bytes.data() + 1);
        }
        for (std::uint32_t column = 0; column < from.layout().columns(); ++column)
          EXPECT_EQ(std::memcmp(from.column(column).data, to.column(column).data, from.column(column).bytes),
                    0)
              << text_of(statistic) << ", column " << column << ", planes of " << element << " bytes";
      }
    }
}

TEST(StatisticsPlaneSizes, are_those_of_the_values_that_are_handed_over) {
  const Statistic mean{StatisticKind::mean, Missing::ignore};
  BundleRun of_floats(Type::float32, Values(1e20F), plane_points, {mean});
  EXPECT_EQ(Planes(of_floats.bundle().state(0), 4).count(), 3u)
      << "two halves of the sum, and the numbers of values";
  BundleRun of_doubles(Type::float64, Values(1e20), plane_points, {mean});
  EXPECT_EQ(Planes(of_doubles.bundle().state(0), 8).count(), 2u);
  EXPECT_EQ(Planes(of_doubles.bundle().state(0), 4).count(), 3u);
}

}  // namespace
}  // namespace afterbay::statistics
