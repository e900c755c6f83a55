// SPDX-License-Identifier: Apache-2.0
// Every pair of types against a reference that works in long double and 128-bit integers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "model/convert/kernels.hpp"

namespace afterbay::model {
namespace {

template <class T>
T bytes_as(const std::byte* at, bool swap) {
  std::byte bytes[sizeof(T)];
  std::memcpy(bytes, at, sizeof(T));
  if (swap) std::reverse(bytes, bytes + sizeof(T));
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

/// x86's long double holds every 64-bit integer and every double exactly.
template <class To, class From>
bool reference_fits(From value) {
  const auto exact = static_cast<long double>(value);
  if constexpr (std::is_integral_v<To>)
    return exact >= static_cast<long double>(std::numeric_limits<To>::min()) &&
           exact <= static_cast<long double>(std::numeric_limits<To>::max());
  else
    return !std::isinf(static_cast<To>(value)) || std::isinf(exact);
}

template <class T>
std::vector<T> interesting() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values{T{0}, T{1}, T{2}, T{100}, T{127}, Limits::max(), Limits::lowest(), Limits::min()};
  if constexpr (std::is_signed_v<T>) values.insert(values.end(), {T{-1}, T{-100}, T{-128}});
  if constexpr (sizeof(T) > 1) values.insert(values.end(), {T{128}, T{255}, T{256}, T{32767}});
  if constexpr (sizeof(T) >= 4) {
    for (const double edge : {32768.0, 65535.0, 65536.0, 2147483520.0})
      values.push_back(static_cast<T>(edge));
  }
  if constexpr (std::is_floating_point_v<T>) {
    for (const double edge :
         {-0.5, 0.5, -1.5, 127.5, -128.5, 255.5, 2147483648.0, -2147483648.0, -2147483904.0,
          9223372036854775807.0, -9223372036854775808.0, 18446744073709551615.0, 1e30, -1e30})
      values.push_back(static_cast<T>(edge));
    values.insert(values.end(),
                  {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), Limits::denorm_min()});
  }
  if constexpr (std::is_same_v<T, double>)
    values.insert(values.end(),
                  {3.4028234663852886e38, 3.4028235677973366e38, 3.402823669209385e38, 1e39, -1e39});
  return values;
}

template <class From, class To>
void check_pair(bool swap) {
  const Kernel convert = kernel(type_of<From>, type_of<To>, swap);
  ASSERT_TRUE(convert);
  const std::vector<From> edges = interesting<From>();
  for (const std::size_t count :
       {std::size_t{1}, std::size_t{7}, std::size_t{31}, std::size_t{256}, std::size_t{1000}}) {
    std::vector<From> from(count);
    for (std::size_t i = 0; i < count; ++i) from[i] = edges[(i * 7 + count) % edges.size()];
    std::vector<std::byte> to(count * sizeof(To) + 1);
    const std::uint64_t bad = convert.row(to.data() + 1, reinterpret_cast<const std::byte*>(from.data()),
                                          count, sizeof(To), sizeof(From));
    std::uint64_t expected_bad = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const To value = bytes_as<To>(to.data() + 1 + i * sizeof(To), swap);
      if (!reference_fits<To>(from[i])) {
        ++expected_bad;
      } else if (std::isnan(static_cast<long double>(from[i]))) {
        EXPECT_TRUE(std::isnan(static_cast<long double>(value)));
      } else {
        EXPECT_EQ(value, static_cast<To>(from[i]))
            << name_of(type_of<From>) << " -> " << name_of(type_of<To>);
      }
    }
    EXPECT_EQ(bad, expected_bad) << name_of(type_of<From>) << " -> " << name_of(type_of<To>) << " of "
                                 << count;
  }
}

template <class From>
void check_from() {
  for (const bool swap : {false, true}) {
    check_pair<From, std::int8_t>(swap);
    check_pair<From, std::int16_t>(swap);
    check_pair<From, std::int32_t>(swap);
    check_pair<From, std::int64_t>(swap);
    check_pair<From, std::uint8_t>(swap);
    check_pair<From, std::uint16_t>(swap);
    check_pair<From, std::uint32_t>(swap);
    check_pair<From, std::uint64_t>(swap);
    check_pair<From, float>(swap);
    check_pair<From, double>(swap);
  }
}

TEST(ModelKernels, convert_every_pair_of_numbers) {
  check_from<std::int8_t>();
  check_from<std::int16_t>();
  check_from<std::int32_t>();
  check_from<std::int64_t>();
  check_from<std::uint8_t>();
  check_from<std::uint16_t>();
  check_from<std::uint32_t>();
  check_from<std::uint64_t>();
  check_from<float>();
  check_from<double>();
}

TEST(ModelKernels, text_goes_to_text_only_and_strings_nowhere) {
  EXPECT_TRUE(kernel(Type::text, Type::text, true));
  for (const Type number : {Type::int8, Type::uint8, Type::int32, Type::float64}) {
    EXPECT_FALSE(kernel(Type::text, number, false));
    EXPECT_FALSE(kernel(number, Type::text, false));
    EXPECT_FALSE(kernel(Type::string, number, false));
    EXPECT_FALSE(kernel(number, Type::string, false));
  }
  EXPECT_FALSE(kernel(Type::string, Type::string, false));
}

/// Both rows of a copy kernel, with every alignment and many lengths, with guards around the
/// target.
TEST(ModelKernels, copies_are_exact_and_stay_in_bounds) {
  std::vector<std::byte> from(5000), to(5200), expected;
  std::mt19937 random(7);
  for (std::byte& value : from) value = static_cast<std::byte>(random());
  for (const std::size_t size : {1, 2, 4, 8}) {
    for (const bool swap : {false, true}) {
      const Kernel copy = copy_kernel(size, swap);
      ASSERT_TRUE(copy);
      for (const RowFunction row : {copy.row, copy.streaming}) {
        if (row == nullptr) continue;
        for (std::size_t trial = 0; trial < 400; ++trial) {
          const std::size_t at = 64 + trial % 67;
          const std::size_t count = (trial * 31) % 4000 / size;
          std::fill(to.begin(), to.end(), std::byte{0x5a});
          expected = to;
          std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(trial % 9), count * size,
                      expected.begin() + static_cast<std::ptrdiff_t>(at));
          for (std::size_t i = 0; swap && i < count; ++i)
            std::reverse(expected.begin() + static_cast<std::ptrdiff_t>(at + i * size),
                         expected.begin() + static_cast<std::ptrdiff_t>(at + (i + 1) * size));
          const auto stride = static_cast<std::ptrdiff_t>(size);
          EXPECT_EQ(row(to.data() + at, from.data() + trial % 9, count, stride, stride), 0u);
          ASSERT_EQ(to, expected) << "size " << size << " swap " << swap << " count " << count << " at "
                                  << at;
        }
      }
    }
  }
  EXPECT_FALSE(copy_kernel(3, false));
}

TEST(ModelKernels, strides_may_be_negative_or_zero) {
  const std::vector<std::int32_t> from{1, 2, 3, 4};
  std::vector<std::int16_t> to(8, -1);
  const Kernel convert = kernel(Type::int32, Type::int16, false);
  auto* out = reinterpret_cast<std::byte*>(to.data());
  const auto* in = reinterpret_cast<const std::byte*>(from.data());
  convert.row(out, in + 12, 4, 4, -4);
  EXPECT_EQ(to, (std::vector<std::int16_t>{4, -1, 3, -1, 2, -1, 1, -1}));
  convert.row(out, in + 8, 8, 2, 0);
  EXPECT_EQ(to, std::vector<std::int16_t>(8, 3));
}

}  // namespace
}  // namespace afterbay::model
