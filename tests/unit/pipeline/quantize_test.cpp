// SPDX-License-Identifier: Apache-2.0
// The stage `quantize`: results against netCDF-C's, special values, stated accuracy, and refusals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netcdf.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "model/missing_values.hpp"
#include "pipeline/plan.hpp"
#include "pipeline/quantize.hpp"
#include "pipeline/rounding.hpp"

namespace afterbay::pipeline {
namespace {

using ::testing::HasSubstr;

template <class T>
Variable quantized_variable() {
  Variable variable;
  variable.name = "v";
  variable.type = type_of<T>;
  return variable;
}

/// The stage's results, at odd addresses.
template <class T>
std::vector<T> quantized(const Settings& given, const std::vector<T>& values, StageRun& state,
                         const Variable& variable = quantized_variable<T>()) {
  const Stages stages = make_stages(variable, given).value();
  EXPECT_EQ(stages.size(), 1u);
  std::vector<std::byte> bytes(values.size() * sizeof(T) + 1);
  std::memcpy(bytes.data() + 1, values.data(), values.size() * sizeof(T));
  EXPECT_EQ(stages[0]->run_at(bytes.data() + 1, bytes.data() + 1, values.size(), state), 0u);
  std::vector<T> results(values.size());
  std::memcpy(results.data(), bytes.data() + 1, values.size() * sizeof(T));
  return results;
}

template <class T>
std::vector<T> quantized(const Settings& given, const std::vector<T>& values) {
  StageRun state;
  return quantized(given, values, state);
}

template <class T>
typename FloatFormat<T>::Word bits_of(T value) {
  return std::bit_cast<typename FloatFormat<T>::Word>(value);
}

/// Normal numbers of all magnitudes, also next to powers of two and ten, and some round ones.
template <class T>
std::vector<T> all_magnitudes(std::size_t count, unsigned seed) {
  using Format = FloatFormat<T>;
  using Word = typename Format::Word;
  std::mt19937_64 generator(seed);
  std::vector<T> values;
  const auto add = [&](T value) {
    if (std::isnormal(value) && std::abs(value) < std::numeric_limits<T>::max() / 4) values.push_back(value);
  };
  while (values.size() < count)
    add(std::bit_cast<T>(static_cast<Word>(generator() & std::numeric_limits<Word>::max())));
  for (int exponent = std::numeric_limits<T>::min_exponent10;
       exponent < std::numeric_limits<T>::max_exponent10; ++exponent) {
    const T ten = static_cast<T>(std::pow(10.0, exponent));
    for (const T value : {ten, std::nextafter(ten, T{0}), std::nextafter(ten, 2 * ten), 5 * ten, -ten})
      add(value);
  }
  for (int exponent = std::numeric_limits<T>::min_exponent;
       exponent < std::numeric_limits<T>::max_exponent - 2; ++exponent) {
    Word word = bits_of(static_cast<T>(std::ldexp(1.0, exponent)));
    for (const Word more : {Word{0}, Word{1}, Word{2}, Word{3}, Word{40}, Word{200}})
      add(std::bit_cast<T>(static_cast<Word>(word + more)));
    add(std::bit_cast<T>(--word));
  }
  for (int i = 1; i < 2000; ++i) {
    add(static_cast<T>(i));
    add(static_cast<T>(i) / 8);
    add(static_cast<T>(i) / 10);
  }
  return values;
}

/// What netCDF-C writes for values that are put at once.
template <class T>
std::vector<T> quantized_by_netcdf(const std::vector<T>& values, int mode, int number,
                                   const std::string& attribute) {
  int file = 0, dimension = 0, variable = 0, listed = 0;
  std::vector<T> results(values.size());
  EXPECT_EQ(nc_create("quantize_test.nc", NC_NETCDF4 | NC_DISKLESS | NC_CLOBBER, &file), NC_NOERR);
  EXPECT_EQ(nc_def_dim(file, "x", values.size(), &dimension), NC_NOERR);
  EXPECT_EQ(nc_def_var(file, "v", sizeof(T) == 4 ? NC_FLOAT : NC_DOUBLE, 1, &dimension, &variable), NC_NOERR);
  EXPECT_EQ(nc_def_var_quantize(file, variable, mode, number), NC_NOERR);
  EXPECT_EQ(nc_enddef(file), NC_NOERR);
  EXPECT_EQ(nc_put_var(file, variable, values.data()), NC_NOERR);
  EXPECT_EQ(nc_get_var(file, variable, results.data()), NC_NOERR);
  EXPECT_EQ(nc_get_att_int(file, variable, attribute.c_str(), &listed), NC_NOERR);
  EXPECT_EQ(listed, number);
  EXPECT_EQ(nc_close(file), NC_NOERR);
  return results;
}

template <class T>
void expect_as_netcdf(const char* method, int mode, int number, const std::vector<T>& values) {
  const Settings given{{method, std::to_string(number)}};
  Schema schema;
  schema.variable("v", type_of<T>, {});
  describe_quantization(schema, std::vector<Settings>{given});
  const std::string attribute = schema.variables[0].attributes.at(0).name;
  EXPECT_EQ(schema.variables[0].attributes[0].values, Values(std::int32_t{number}));
  const std::vector<T> expected = quantized_by_netcdf(values, mode, number, attribute);
  const std::vector<T> results = quantized(given, values);
  std::size_t different = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (bits_of(results[i]) == bits_of(expected[i])) continue;
    // For 7 digits of float32, netCDF-C 4.9.0 shifts by -1 bits, and values become 0 or 2.
    if (sizeof(T) == 4 && number == FloatFormat<T>::most_digits && results[i] == values[i] &&
        (expected[i] == 0 || std::abs(expected[i]) == 2))
      continue;
    // netCDF-C makes values missing that it rounds to the fill value.
    constexpr T fill = sizeof(T) == 4 ? T(NC_FILL_FLOAT) : T(NC_FILL_DOUBLE);
    if (expected[i] == fill && results[i] == values[i]) continue;
    if (++different < 5)
      ADD_FAILURE() << method << " " << number << " of " << values[i] << " (" << std::hex
                    << bits_of(values[i]) << ") gives " << bits_of(results[i]) << ", netCDF "
                    << bits_of(expected[i]);
  }
  EXPECT_EQ(different, 0u) << method << " " << number;
}

template <class T>
class PipelineQuantize : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(PipelineQuantize, Floats);

TYPED_TEST(PipelineQuantize, gives_the_bits_that_netcdf_gives) {
  using T = TypeParam;
  const std::vector<T> values = all_magnitudes<T>(20000, 1);
  for (int bits = 1; bits < FloatFormat<T>::most_bits; bits += sizeof(T) == 4 ? 2 : 5)
    expect_as_netcdf("bitround", NC_QUANTIZE_BITROUND, bits, values);
  for (int digits = 1; digits <= FloatFormat<T>::most_digits; ++digits) {
    expect_as_netcdf("granular_bitround", NC_QUANTIZE_GRANULARBR, digits, values);
    if (bitgroom_bits(digits) < FloatFormat<T>::mantissa_bits)
      expect_as_netcdf("bitgroom", NC_QUANTIZE_BITGROOM, digits, values);
  }
}

template <class T>
std::vector<Settings> all_settings() {
  const std::string most_digits = std::to_string(FloatFormat<T>::most_digits);
  const std::string most_bits = std::to_string(FloatFormat<T>::most_bits);
  return {{{"bitround", "1"}},
          {{"bitround", most_bits}},
          {{"granular_bitround", "1"}},
          {{"granular_bitround", most_digits}},
          {{"bitgroom", "1"}},
          {{"bitgroom", most_digits}},
          {{"absolute_error", "1e30"}},
          {{"absolute_error", "1e-30"}},
          {{"relative_error", "0.3"}},
          {{"relative_error", "0.001"}, {"absolute_error", "2"}, {"significant_digits", "2"}},
          {{"significant_bits", "4"}, {"bitround", "2"}},
          {{"significant_digits", "3"}}};
}

TYPED_TEST(PipelineQuantize, special_and_missing_values_survive_bit_for_bit) {
  using T = TypeParam;
  using Word = typename FloatFormat<T>::Word;
  using Limits = std::numeric_limits<T>;
  Variable variable = quantized_variable<T>();
  const T missing[] = {T(-1234.5678), T(7.77e7), T(3.3333)};
  variable.with_fill(Values(missing[0]))
      .attribute("missing_value", Values(std::vector<T>{missing[1], missing[2]}));
  std::vector<T> values{
      0,
      -T{0},
      Limits::infinity(),
      -Limits::infinity(),
      Limits::quiet_NaN(),
      Limits::denorm_min(),
      -Limits::denorm_min(),
      std::nextafter(Limits::min(), T{0}),
      missing[0],
      missing[1],
      missing[2],
      std::bit_cast<T>(static_cast<Word>(~Word{0})),                      // a NaN with all bits
      std::bit_cast<T>(static_cast<Word>(FloatFormat<T>::infinity + 1)),  // a signalling one
      std::bit_cast<T>(static_cast<Word>(FloatFormat<T>::least_normal / 3))};
  for (const Settings& given : all_settings<T>()) {
    StageRun state;
    const std::vector<T> results = quantized(given, values, state, variable);
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_EQ(bits_of(results[i]), bits_of(values[i])) << given.begin()->first << " of " << values[i];
    EXPECT_EQ(state.kept, 0u);
    const std::vector<T> largest{Limits::max(), -Limits::max()};
    for (const T result : quantized(given, largest))
      EXPECT_TRUE(std::isfinite(result)) << given.begin()->first;
  }
}

/// The accuracy that settings state, in wider arithmetic.
template <class T>
bool is_good(const Settings& given, T value, T result) {
  using Wide = long double;
  const Wide error = std::abs(static_cast<Wide>(result) - static_cast<Wide>(value));
  const Wide size = std::abs(static_cast<Wide>(value));
  const auto stated = [&](const char* name) {
    const auto found = given.find(name);
    return found == given.end() ? 0.0 : std::stod(found->second);
  };
  if (const double most = stated("absolute_error"); most > 0 && error > most) return false;
  if (const double most = stated("relative_error"); most > 0 && error > most * size) return false;
  if (const double bits = stated("significant_bits"); bits > 0 && error > std::exp2(-bits - 1) * size)
    return false;
  if (const double digits = stated("significant_digits"); digits > 0) {
    // Values next to a power of ten count as that power.
    const Wide before = std::floor(std::log10(size) + Wide{1e-12}) + 1;
    if (error > Wide{0.5000001} * std::pow(Wide{10}, before - static_cast<Wide>(digits))) return false;
  }
  return true;
}

TYPED_TEST(PipelineQuantize, every_value_has_the_stated_accuracy) {
  using T = TypeParam;
  std::mt19937 generator(3);
  const auto up_to = [&](int most) {
    return 1 + static_cast<int>(generator() % static_cast<unsigned>(most));
  };
  for (int round = 0; round < 60; ++round) {
    Settings given;
    const unsigned choice = 1 + generator() % 15;
    if ((choice & 1u) != 0)
      given["absolute_error"] = fmt::format("{}", std::pow(10.0, 12 - up_to(24)) * up_to(9));
    if ((choice & 2u) != 0) given["relative_error"] = fmt::format("{}", std::pow(10.0, -up_to(6)) * 0.9);
    if ((choice & 4u) != 0) given["significant_bits"] = std::to_string(up_to(FloatFormat<T>::most_bits));
    if ((choice & 8u) != 0) given["significant_digits"] = std::to_string(up_to(FloatFormat<T>::most_digits));
    if (choice < 8 && generator() % 2 == 0)
      given["bitround"] = std::to_string(up_to(FloatFormat<T>::most_bits));
    const std::vector<T> values = all_magnitudes<T>(3000, generator());
    StageRun state;
    const std::vector<T> results = quantized(given, values, state);
    std::size_t changed = 0;
    double largest = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_TRUE(is_good(given, values[i], results[i])) << values[i] << " became " << results[i];
      ASSERT_EQ(std::signbit(results[i]), std::signbit(values[i]));
      changed += results[i] != values[i] ? 1 : 0;
      largest = std::max(largest, std::abs(static_cast<double>(results[i] - values[i])));
    }
    EXPECT_EQ(state.largest_error, largest);
    EXPECT_LE(state.kept + changed, values.size());
    // Without a method, rounding follows from the accuracy and hardly ever misses it.
    if (!given.contains("bitround")) {
      EXPECT_LT(state.kept, values.size() / 100) << given.begin()->first;
    }
  }
}

TYPED_TEST(PipelineQuantize, values_that_would_miss_the_accuracy_are_kept_and_counted) {
  using T = TypeParam;
  const std::vector<T> values{T(1.01), T(1000.3), T(0.3), T(77777.7)};
  StageRun state;
  const std::vector<T> results = quantized({{"bitround", "4"}, {"absolute_error", "0.05"}}, values, state);
  EXPECT_EQ(results[0], T{1});
  EXPECT_EQ(results[1], values[1]);
  EXPECT_EQ(results[2], T(0.296875));
  EXPECT_EQ(results[3], values[3]);
  EXPECT_EQ(state.kept, 2u);
  EXPECT_NEAR(state.largest_error, 0.01, 1e-6);
}

TYPED_TEST(PipelineQuantize, no_value_becomes_missing) {
  using T = TypeParam;
  Variable variable = quantized_variable<T>();
  variable.fill = T{-1000};
  variable.attribute("missing_value", Values(std::vector<T>{T{100}, T{0}}));
  const auto near_fill = static_cast<T>(-999.7), near_second = static_cast<T>(99.97);
  const std::vector<T> values{near_fill, T{-1000}, near_second, T{100},
                              T{0.25},   T{7.25},  T{-0.25},    T{250.75}};
  for (const char* name : {"absolute_error", "significant_digits", "granular_bitround", "bitround"}) {
    StageRun state;
    const Settings given{{name, name == std::string("bitround")         ? "6"
                                : name == std::string("absolute_error") ? "1"
                                                                        : "3"}};
    const std::vector<T> results = quantized(given, values, state, variable);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(results[i], values[i]) << name << ' ' << i;
    for (const std::size_t i : {4u, 6u}) EXPECT_NE(results[i], T{0}) << name << ' ' << i;
    EXPECT_GE(state.kept, 1u) << name;
  }
  StageRun state;
  EXPECT_EQ(quantized({{"absolute_error", "1"}}, values, state, variable),
            (std::vector<T>{near_fill, T{-1000}, near_second, T{100}, T{0.25}, T{8}, T{-0.25}, T{250}}));
  EXPECT_EQ(state.kept, 4u);
  EXPECT_EQ(state.largest_error, 0.75);
}

/// Many values at once, all of them on one side of the fill value, or on both.
TYPED_TEST(PipelineQuantize, no_value_among_many_becomes_missing) {
  using T = TypeParam;
  Variable variable = quantized_variable<T>();
  variable.fill = T{-1000};
  for (const T last : {T{-900}, T{-1100}}) {
    std::vector<T> values;
    for (int i = 0; i < 200; ++i) values.push_back(T{-900} - static_cast<T>(i % 50) / 4);
    values.back() = last;
    for (const std::size_t at : {0u, 77u, 150u}) values[at] = static_cast<T>(-999.7);
    for (const auto& [name, given] : {std::pair("absolute_error", "1"), std::pair("significant_digits", "3"),
                                      std::pair("granular_bitround", "3"), std::pair("bitround", "6")}) {
      StageRun state;
      const std::vector<T> results = quantized<T>({{name, given}}, values, state, variable);
      for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NE(results[i], T{-1000}) << name << ' ' << i;
      EXPECT_EQ(results[77], values[77]) << name;
      EXPECT_EQ(state.kept, 3u) << name << ' ' << last;
    }
  }
}

TYPED_TEST(PipelineQuantize, the_default_fill_value_is_not_reached_either) {
  using T = TypeParam;
  StageRun state;
  const auto value = static_cast<T>(9.9702e36);
  EXPECT_EQ(quantized<T>({{"relative_error", "0.001"}}, {value, T{1}}, state), (std::vector<T>{value, T{1}}));
  EXPECT_EQ(state.kept, 1u);
  EXPECT_EQ(state.largest_error, 0);
}

TYPED_TEST(PipelineQuantize, values_remain_on_their_side_of_valid_limits) {
  using T = TypeParam;
  Variable variable = quantized_variable<T>();
  variable.attribute("valid_min", std::int32_t{-2}).attribute("valid_max", 0.7);
  const auto inside = static_cast<T>(0.699), outside = static_cast<T>(0.8);
  StageRun state;
  EXPECT_EQ(quantized<T>({{"bitround", "1"}}, {inside, outside, T{-1.9}, T{-2.4}, T{0.6}}, state, variable),
            (std::vector<T>{inside, T{0.75}, T{-2}, T{-2.4}, T{0.5}}));
  EXPECT_EQ(state.kept, 2u);
  Variable range = quantized_variable<T>();
  range.attribute("valid_range", Values(std::vector<float>{-1, 0.7F}));
  EXPECT_EQ(quantized<T>({{"bitround", "1"}}, {inside, T{0.6}}, state, range),
            (std::vector<T>{inside, T{0.5}}));
}

TYPED_TEST(PipelineQuantize, an_absolute_error_makes_multiples_of_a_power_of_two) {
  using T = TypeParam;
  const std::vector<T> values{T(0.24), T(-0.24), T(0.26), T(10.3), T(-1000.26), T(1e-20)};
  const std::vector<T> results = quantized({{"absolute_error", "0.3"}}, values);
  EXPECT_EQ(results, (std::vector<T>{0, -T{0}, 0.5, 10.5, -1000.5, 0}));
  EXPECT_TRUE(std::signbit(results[1]));
}

TYPED_TEST(PipelineQuantize, bitgroom_alternates_by_the_place_in_the_record) {
  using T = TypeParam;
  const std::vector<T> values(5, T(1.1));
  StageRun state;
  const std::vector<T> even = quantized({{"bitgroom", "2"}}, values, state);
  state.first = 7;
  const std::vector<T> odd = quantized({{"bitgroom", "2"}}, values, state);
  for (std::size_t i = 0; i + 1 < values.size(); ++i) EXPECT_EQ(even[i], odd[i + 1]);
  EXPECT_LT(even[0], values[0]);
  EXPECT_GT(even[1], values[0]);
}

std::string refusal(Type type, const Settings& given) {
  Variable variable;
  variable.name = "v";
  variable.type = type;
  const auto made = make_stages(variable, given);
  return made ? "accepted" : made.error().text();
}

TEST(PipelineQuantizeRefusals, name_the_variable_the_value_and_what_works) {
  EXPECT_THAT(refusal(Type::int32, {{"bitround", "4"}}),
              testing::AllOf(HasSubstr("bitround 4 is set for variable 'v' of type int32"),
                             HasSubstr("only float32 and float64")));
  EXPECT_THAT(refusal(Type::float32, {{"bitround", "24"}}),
              testing::AllOf(HasSubstr("variable 'v': bitround is 24"), HasSubstr("at most 23")));
  EXPECT_EQ(refusal(Type::float64, {{"bitround", "24"}}), "accepted");
  EXPECT_THAT(refusal(Type::float32, {{"significant_digits", "8"}}),
              testing::AllOf(HasSubstr("significant_digits is 8"), HasSubstr("at most 7 digits")));
  EXPECT_THAT(
      refusal(Type::float32, {{"relative_error", "1e-9"}}),
      testing::AllOf(HasSubstr("relative_error is 1e-09"), HasSubstr("1.2e-07"), HasSubstr("use float64")));
  EXPECT_THAT(refusal(Type::float64, {{"bitround", "4"}, {"bitgroom", "2"}}), HasSubstr("only one of"));
  EXPECT_THAT(refusal(Type::float64, {{"granular_bitround", "2"}, {"significant_digits", "3"}}),
              HasSubstr("granular_bitround keeps 2 digits, but significant_digits asks for 3"));
  EXPECT_THAT(refusal(Type::float64, {{"bitround", "4"}, {"significant_digits", "3"}}),
              HasSubstr("relative_error"));
  for (const auto& [name, value] :
       {std::pair("absolute_error", "-1"), std::pair("absolute_error", "0"),
        std::pair("absolute_error", "inf"), std::pair("relative_error", "1"), std::pair("bitround", "0"),
        std::pair("bitround", "53"), std::pair("significant_digits", "16"), std::pair("bitgroom", "2.5")})
    EXPECT_THAT(refusal(Type::float64, {{name, value}}), HasSubstr(std::string(name) + ": expected"))
        << value;
}

TEST(PipelineQuantizeRefusals, accuracy_of_values_that_readers_scale) {
  for (const char* attribute : {"scale_factor", "add_offset"}) {
    Variable variable = quantized_variable<float>();
    variable.attribute(attribute, 100.0);
    for (const Settings& given : {Settings{{"absolute_error", "1"}}, Settings{{"relative_error", "0.1"}}}) {
      const auto refused = make_stages(variable, given);
      ASSERT_FALSE(refused);
      EXPECT_THAT(refused.error().message,
                  HasSubstr(std::string("variable 'v' has the attribute ") + attribute));
    }
    EXPECT_TRUE(make_stages(variable, {{"bitround", "7"}}));
  }
}

TEST(PipelineQuantizeAttributes, a_largest_error_of_other_values_is_removed) {
  Schema schema;
  schema.dimension("x", 3);
  for (const char* name : {"rounded", "stated", "scaled", "as_put"})
    schema.variable(name, Type::float32, {"x"}).attribute("largest_error", 1e-6);
  const std::vector<Settings> given{
      {{"bitround", "1"}}, {{"absolute_error", "1"}}, {{"multiply", "100"}}, {}};
  describe_quantization(schema, given);
  const auto has = [&](const char* name) {
    const auto& attributes = schema.find_variable(name)->attributes;
    return std::ranges::find(attributes, "largest_error", &Attribute::name) != attributes.end();
  };
  EXPECT_FALSE(has("rounded"));
  EXPECT_TRUE(has("stated"));
  EXPECT_TRUE(std::isnan(schema.find_variable("stated")->attributes.front().values.at<double>(0)));
  EXPECT_FALSE(has("scaled"));
  EXPECT_TRUE(has("as_put"));
}

TEST(PipelineQuantizeAttributes, are_those_of_netcdf_and_cf) {
  Schema schema;
  schema.variable("a", Type::float32, {}).attribute("quantization_nsb", Values(std::int32_t{1}));
  schema.variable("b", Type::float64, {});
  schema.variable("c", Type::float32, {});
  schema.variable("d", Type::float32, {});
  const std::vector<Settings> given{{{"relative_error", "0.001"}},
                                    {{"significant_digits", "4"}},
                                    {{"add", "1"}},
                                    {{"absolute_error", "0.5"}}};
  for (int twice = 0; twice < 2; ++twice) describe_quantization(schema, given);
  ASSERT_EQ(schema.variables.size(), 6u);
  const Variable& a = schema.variables[0];
  ASSERT_EQ(a.attributes.size(), 4u);
  EXPECT_EQ(a.attributes[0],
            (Attribute{"_QuantizeBitRoundNumberOfSignificantBits", Values(std::int32_t{9})}));
  EXPECT_EQ(a.attributes[1], (Attribute{"quantization", Values("quantization_info_bitround")}));
  EXPECT_EQ(a.attributes[2], (Attribute{"quantization_nsb", Values(std::int32_t{9})}));  // 2^-10 < 0.001
  EXPECT_EQ(schema.variables[1].attributes[0].name, "_QuantizeGranularBitRoundNumberOfSignificantDigits");
  EXPECT_TRUE(schema.variables[2].attributes.empty());
  ASSERT_EQ(schema.variables[3].attributes.size(), 1u);
  for (const Attribute& it : {a.attributes[3], schema.variables[3].attributes[0]}) {
    EXPECT_EQ(it.name, "largest_error");
    EXPECT_TRUE(std::isnan(it.values.at<double>(0)));
  }
  EXPECT_EQ(schema.variables[4].name, "quantization_info_bitround");
  EXPECT_EQ(schema.variables[4].attributes[0], (Attribute{"algorithm", Values("bitround")}));
  EXPECT_EQ(schema.variables[5].name, "quantization_info_granular_bitround");
  EXPECT_TRUE(schema.variables[5].dimensions.empty());
}

}  // namespace
}  // namespace afterbay::pipeline
