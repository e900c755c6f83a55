// SPDX-License-Identifier: Apache-2.0
// Packing: scale and offset for a range, packed rows of every type, and refusals.
#include "model/packing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "model/convert/pack_rows.hpp"

namespace afterbay::model {
namespace {

using ::testing::HasSubstr;

constexpr double packed_missing = -999;

PackedValues packing_of(Type type, double low, double high, double error = 0, Type unpacked = Type::float64) {
  auto made = packing_for(type, low, high, error);
  EXPECT_TRUE(made) << (made ? "" : made.error().text());
  if (!made) throw Failure(made.error());
  made->unpacked = unpacked;
  made->missing =
      unpacked == Type::float32 ? Values(static_cast<float>(packed_missing)) : Values(packed_missing);
  return *made;
}

std::string refusal(Type type, double low, double high, double error) {
  const auto made = packing_for(type, low, high, error);
  return made ? "accepted" : made.error().message;
}

template <class Integer>
struct Packed {
  std::vector<Integer> integers;
  std::uint64_t out_of_range = 0;
  double largest_error = 0;
};

/// At odd addresses, with gaps between the values on both sides.
template <class Integer, class From>
Packed<Integer> pack(const PackedValues& packing, const std::vector<From>& values, bool swaps = false,
                     std::size_t from_gap = 1, std::size_t to_gap = 1) {
  const auto rows = packing_rows(packing, type_of<From>, swaps);
  std::vector<std::byte> from(values.size() * from_gap * sizeof(From) + 1);
  std::vector<std::byte> to(values.size() * to_gap * sizeof(Integer) + 1);
  for (std::size_t i = 0; i < values.size(); ++i)
    std::memcpy(from.data() + 1 + i * from_gap * sizeof(From), &values[i], sizeof(From));
  Packed<Integer> packed;
  packed.out_of_range = rows->row(to.data() + 1, from.data() + 1, values.size(),
                                  static_cast<std::ptrdiff_t>(to_gap * sizeof(Integer)),
                                  static_cast<std::ptrdiff_t>(from_gap * sizeof(From)));
  packed.largest_error = rows->take_largest_error();
  EXPECT_EQ(rows->take_largest_error(), 0);
  packed.integers.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    std::memcpy(&packed.integers[i], to.data() + 1 + i * to_gap * sizeof(Integer), sizeof(Integer));
  return packed;
}

/// Random ranges and accuracies: no number of the range is refused, and the bound holds.
template <class Integer>
void expect_bound_holds(Type type, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int round = 0; round < 300; ++round) {
    const double size = std::pow(10.0, unit(generator) * 12 - 6);
    const double low = (unit(generator) - 0.5) * size * 4;
    const double high = low + size;
    const double most_steps = 2.0 * static_cast<double>(most_packed(type)) - 1;
    const bool states_error = round % 2 == 0;
    const double error = states_error ? size / most_steps * (0.51 + unit(generator) * 100) : 0;
    SCOPED_TRACE(fmt::format("{} to {}, error {}", low, high, error));
    const PackedValues packing = packing_of(type, low, high, error);
    std::vector<double> values{low, high, packed_missing, std::numeric_limits<double>::quiet_NaN()};
    const bool has_zero = low <= 0 && high >= 0;
    if (has_zero) values.push_back(0);
    while (values.size() < 1000) values.push_back(low + unit(generator) * (high - low));
    const Packed<Integer> packed = pack<Integer>(packing, values);
    EXPECT_EQ(packed.out_of_range, 0u);
    double largest = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool missing = values[i] == packed_missing || std::isnan(values[i]);
      ASSERT_EQ(packed.integers[i] == static_cast<Integer>(packed_fill(type)), missing) << values[i];
      if (missing) continue;
      const double unpacked = static_cast<double>(packed.integers[i]) * packing.scale + packing.offset;
      largest = std::max(largest, std::abs(unpacked - values[i]));
      if (values[i] == 0) {
        EXPECT_EQ(unpacked, 0);
      }
    }
    EXPECT_EQ(packed.largest_error, largest);
    const double slack = size * 4e-15;
    EXPECT_LE(largest, states_error ? error : packing.scale / 2 + slack);
  }
}

TEST(Packing, keeps_its_bound_for_random_ranges) {
  expect_bound_holds<std::int8_t>(Type::int8, 1);
  expect_bound_holds<std::int16_t>(Type::int16, 2);
  expect_bound_holds<std::int32_t>(Type::int32, 3);
}

TEST(Packing, refuses_numbers_that_the_integers_cannot_hold) {
  const PackedValues packing = packing_of(Type::int16, 0, 100);
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> values{50, -1, 101, infinity, -infinity, 1e300, -1e300, 0, 100};
  EXPECT_EQ(pack<std::int16_t>(packing, values).out_of_range, 6u);
  EXPECT_LT(pack<std::int16_t>(packing, values).largest_error, 0.001);
}

/// Limits are packed by it. With a quotient in place of the loops' product, values between two
/// integers became one more than their limit, and so invalid.
TEST(Packing, one_value_becomes_the_integer_that_rows_have) {
  std::mt19937_64 generator(5);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int round = 0; round < 100; ++round) {
    const double high = std::pow(10.0, unit(generator) * 8 - 4);
    const PackedValues packing = packing_of(Type::int16, 0, high);
    std::vector<double> values;
    for (int k = -32000; k < 32000; k += 7) values.push_back(packing.offset + (k + 0.5) * packing.scale);
    const Packed<std::int16_t> packed = pack<std::int16_t>(packing, values);
    ASSERT_EQ(packed.out_of_range, 0u);
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(packed_value(packing, values[i]), packed.integers[i]) << values[i] << " of " << high;
  }
}

/// As documented: what exceeds a limit by less than a step may become it, what is valid stays so.
TEST(Packing, keeps_the_order_of_values_and_limits) {
  const PackedValues packing = packing_of(Type::int16, 0, 655);
  const std::int64_t limit = packed_value(packing, 300);
  const std::vector<double> values{0, 299.99, 299.996, 300, 300.003, 300.0101, 655};
  const Packed<std::int16_t> packed = pack<std::int16_t>(packing, values);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_LE(packed.integers[i], limit) << values[i];
  EXPECT_EQ(packed.integers[4], limit);
  EXPECT_GT(packed.integers[5], limit);
  EXPECT_GT(packed.integers[6], limit);
}

/// The quick check never claims what the loop refutes, and does claim it for ordinary values.
template <class Number>
void expect_certainty_is_right(Type unpacked) {
  std::mt19937_64 generator(11);
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double special : {0.5, 0.999, 1.0, 1.001, 2.0, 1e300, infinity, -infinity, 1e20, -999.0}) {
    for (int trial = 0; trial < 200; ++trial) {
      const Type type = trial % 2 == 0 ? Type::int8 : Type::int16;
      PackedValues packing = packing_of(type, -50, 150, 0, unpacked);
      packing.multiply = trial % 3 == 0 ? -2 : 1;
      packing.add = trial % 5 == 0 ? 273.15 : trial % 7 == 0 ? 1e17 : 0;
      if (trial % 4 == 0) packing.missing = unpacked == Type::float32 ? Values(1e20F) : Values(1e20);
      std::vector<Number> values(37);
      for (Number& value : values) {
        const double in_file = std::uniform_real_distribution<double>(-49, 149)(generator);
        value = static_cast<Number>((in_file - packing.add) / packing.multiply);
      }
      const auto rows = packing_rows(packing, type_of<Number>, false);
      const auto sure = [&] {
        return rows->surely_in_range(reinterpret_cast<const std::byte*>(values.data()), values.size(),
                                     sizeof(Number));
      };
      EXPECT_TRUE(sure() || packing.add > 1e6 || type == Type::int8);  // steps of int8 are wide
      const double end = special * (trial % 8 < 4 ? 150 : -50);
      values[static_cast<std::size_t>(trial) % values.size()] = static_cast<Number>(
          std::abs(special) == 999 || special == 1e20 ? special : (end - packing.add) / packing.multiply);
      EXPECT_TRUE(!sure() || pack<std::int16_t>(packing, values).out_of_range == 0)
          << special << " " << trial;
    }
  }
}

TEST(Packing, the_quick_check_of_the_range_is_right) {
  for (const Type unpacked : {Type::float32, Type::float64}) {
    expect_certainty_is_right<float>(unpacked);
    expect_certainty_is_right<double>(unpacked);
  }
}

TEST(Packing, converts_every_type_and_layout) {
  const PackedValues packing = packing_of(Type::int16, 0, 65533);
  EXPECT_EQ(packing.scale, 1);
  const std::vector<std::int8_t> bytes{0, 1, 100};
  const auto offset = static_cast<std::int16_t>(packing.offset);
  EXPECT_EQ(
      pack<std::int16_t>(packing, bytes).integers,
      (std::vector<std::int16_t>{static_cast<std::int16_t>(-offset), static_cast<std::int16_t>(1 - offset),
                                 static_cast<std::int16_t>(100 - offset)}));
  std::vector<float> floats;
  for (int i = 0; i < 600; ++i) floats.push_back(static_cast<float>(i) * 17);
  const auto dense = pack<std::int16_t>(packing, floats).integers;
  EXPECT_EQ(pack<std::int16_t>(packing, floats, false, 3, 2).integers, dense);
  auto swapped = pack<std::int16_t>(packing, floats, true, 2, 1).integers;
  for (std::int16_t& it : swapped)
    it = static_cast<std::int16_t>(__builtin_bswap16(static_cast<std::uint16_t>(it)));
  EXPECT_EQ(swapped, dense);
  EXPECT_EQ(packing_rows(packing, Type::text, false), nullptr);
}

TEST(Packing, missing_values_are_those_of_the_unpacked_type) {
  PackedValues packing = packing_of(Type::int8, 0, 1, 0, Type::float32);
  packing.missing = Values(std::vector<float>{1e20F, -5.F, -6.F, -7.F});
  const std::vector<double> values{1e20, static_cast<double>(1e20F), -5, -6, -7, 0.5};
  const auto packed = pack<std::int8_t>(packing, values);
  EXPECT_EQ(packed.out_of_range, 0u);
  EXPECT_THAT(packed.integers, ::testing::ElementsAre(-128, -128, -128, -128, -128, 0));
}

TEST(Packing, converts_units_first) {
  PackedValues packing = packing_of(Type::int16, 0, 65533);
  packing.multiply = 0.01;
  packing.add = 3;
  const auto packed = pack<std::int16_t>(packing, std::vector<double>{100000, 200, packed_missing});
  EXPECT_EQ(packed.integers[0] + packing.offset, 1003);
  EXPECT_EQ(packed.integers[1] + packing.offset, 5);
  EXPECT_EQ(packed.integers[2], -32768);
}

TEST(Packing, says_what_is_possible) {
  EXPECT_THAT(
      refusal(Type::int16, 180, 340, 0.001),
      HasSubstr("numbers from 180 to 340 with an absolute_error of 0.001 do not fit into int16: pack it as "
                "int32, or allow an absolute_error of 0.00123 or more"));
  EXPECT_EQ(refusal(Type::int16, 180, 340, 0.00123), "accepted");
  EXPECT_THAT(refusal(Type::text, 0, 1e10, 0.1),
              HasSubstr("do not fit into int32: allow an absolute_error of"));
  EXPECT_THAT(refusal(Type::int16, 1e9, 1e9 + 1e-6, 0), HasSubstr("float64 cannot hold numbers"));
  for (const double error :
       {-0.01, -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::quiet_NaN()})
    for (const Type type : {Type::int16, Type::text})
      EXPECT_THAT(refusal(type, 180, 340, error),
                  HasSubstr(fmt::format("the absolute_error of packed numbers is {}", error)));
  EXPECT_THAT(refusal(Type::int16, 2, 1, 0), HasSubstr("the smaller one first"));
  EXPECT_THAT(refusal(Type::int16, -1e308, 1e308, 0),
              HasSubstr("whose difference float64 cannot hold: give a smaller range"));
  EXPECT_THAT(refusal(Type::int16, 0, 5e-324, 0),
              HasSubstr("give a larger range, or an absolute_error of 2.28e-305 or more"));
  EXPECT_THAT(refusal(Type::int16, 200, 300, 1e308),
              HasSubstr("more than the numbers themselves: allow 100 at most"));
  EXPECT_THAT(refusal(Type::text, 0, 1, 0), HasSubstr("give both"));
  EXPECT_EQ(packing_of(Type::text, 0, 1, 0.01).packed, Type::int8);
  EXPECT_EQ(packing_of(Type::text, 0, 1, 0.0001).packed, Type::int16);
  EXPECT_EQ(packing_of(Type::text, 0, 1, 1e-7).packed, Type::int32);
}

#if defined(__x86_64__)
TEST(Packing, is_the_same_in_all_instruction_sets) {
  std::mt19937 generator(5);
  std::normal_distribution<double> normal(0, 400);
  std::vector<double> values(convert::pack_block - 3);
  for (double& value : values) value = normal(generator);
  values[7] = packed_missing;
  const std::vector<double> missing{packed_missing, packed_missing};
  std::vector<std::int32_t> expected(values.size());
  convert::PackJob job{values.data(), expected.data(), values.size(),  1.5, 2,   0.01, 100, 3,
                       32767,         -32768,          missing.data(), 2,   true};
  const convert::PackCounts counts = convert::pack_baseline(job);
  EXPECT_GT(counts.out_of_range, 0u);
  const auto check = [&](convert::PackLoop loop) {
    std::vector<std::int32_t> results(values.size());
    job.integers = results.data();
    const convert::PackCounts other = loop(job);
    EXPECT_EQ(results, expected);
    EXPECT_EQ(other.out_of_range, counts.out_of_range);
    EXPECT_EQ(other.largest_error, counts.largest_error);
  };
  if (__builtin_cpu_supports("avx2")) check(convert::pack_avx2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    check(convert::pack_avx512);
}
#endif

}  // namespace
}  // namespace afterbay::model
