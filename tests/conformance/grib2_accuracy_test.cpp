// SPDX-License-Identifier: Apache-2.0
// The accuracy of values in GRIB2 messages, read by the tools of ecCodes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "conformance/message_files.hpp"
#include "model/message_accuracy.hpp"

namespace afterbay::test {
namespace {

class Grib2Accuracy : public MessageFiles {
 protected:
  Grib2Accuracy() : MessageFiles(Format::grib2) {}

  static constexpr std::size_t points = 19u * 36u;

  /// The schema with `ps` (float64) of a stated accuracy.
  static Schema accurate(double error, const char* packing) {
    Schema schema = grib2_schema();
    Variable& ps = *schema.find_variable("ps");
    ps.attribute("GRIB_packingType", packing).with_fill(Values(-999.0));
    EXPECT_TRUE(message_accuracy_of(Format::grib2)->keep_error(ps, error));
    return schema;
  }

  /// Writes a record in which `ps` has these values; the largest error that is said, or -1.
  double write_pressures(const Schema& schema, const std::vector<double>& values) {
    return write_values<double>(schema, values);
  }

  /// The same with `ps` of type T.
  template <class T>
  double write_values(const Schema& schema, const std::vector<T>& values) {
    const auto request = request_of(path(), schema, Format::grib2, storage::Existing::replace);
    const auto* const bytes = reinterpret_cast<const std::byte*>(values.data());
    const Source source = [&](std::uint32_t v, std::uint64_t record) {
      if (request.schema.variables[v].name != "ps")
        return grib2_data(request.schema, *request.layout)(v, record);
      return std::vector<std::byte>(bytes, bytes + sizeof(T) * values.size());
    };
    auto file = store_->create(request);
    EXPECT_TRUE(file) << file.error().text();
    double said = -1;
    unpacked_ = 0;
    for (const auto& [frame, record] : all_jobs(request, 1)) {
      const auto written = write_frame(**file, request, frame, record, source);
      if (!written) {
        error_ = written.error();
        return said;
      }
      unpacked_ += written->unpacked_messages;
      for (const model::LargestError& it : written->errors)
        if (schema.variables[it.variable].name == "ps") said = it.value;
    }
    EXPECT_TRUE((*file)->publish());
    return said;
  }

  /// The largest error of the values that are not -999; expects the others to be missing.
  double error_read(const std::vector<double>& values) {
    const std::vector<double> read = grib_values(path(), 3);
    EXPECT_EQ(read.size(), values.size());
    double largest = 0;
    for (std::size_t i = 0; i < read.size(); ++i) {
      EXPECT_EQ(std::isnan(read[i]), values[i] == -999) << i;
      if (!std::isnan(read[i])) largest = std::max(largest, std::abs(read[i] - values[i]));
    }
    return largest;
  }

  /// grib2_schema with `ps` of another type and without a stated accuracy.
  static Schema of_type(Type type, const char* packing) {
    Schema schema = grib2_schema();
    schema.find_variable("ps")->type = type;
    schema.find_variable("ps")->attribute("GRIB_packingType", packing);
    return schema;
  }

  /// Expects `ps` to be read as it was put.
  template <class T>
  void expect_equal(const std::vector<T>& values, const std::string& what) {
    const std::vector<double> read = grib_values(path(), 3);
    ASSERT_EQ(read.size(), values.size());
    for (std::size_t i = 0; i < read.size(); ++i)
      ASSERT_EQ(read[i], static_cast<double>(values[i])) << what << ", point " << i;
  }

  Error error_;
  std::uint64_t unpacked_ = 0;
};

TEST_F(Grib2Accuracy, a_slab_of_one_value_keeps_it_with_any_stated_accuracy) {
  for (const char* packing : {"grid_simple", "grid_ccsds"})
    for (const auto& [value, error] :
         {std::pair{101325.4, 1e-3}, {101325.4, 1e-6}, {-101325.4, 1e-3}, {16777217.0, 0.4}, {0.1, 1e-12}})
      for (const bool gaps : {false, true}) {
        std::vector<double> values(points, value);
        if (gaps)
          for (std::size_t i = 0; i < points; i += 7) values[i] = -999;
        const double said = write_pressures(accurate(error, packing), values);
        EXPECT_EQ(said, 0) << packing << ' ' << value << error_.text();
        // The tool prints twelve digits.
        EXPECT_LE(error_read(values), 1e-11 * std::abs(value)) << packing << ' ' << value;
      }
  // 32 bits hold it.
  ASSERT_GE(write_pressures(accurate(1e-3, "grid_simple"), std::vector<double>(points, 101325.5)), 0);
  EXPECT_EQ(grib_keys(path(), "bitsPerValue")[3].at("bitsPerValue"), "0");
}

/// They had the error of the reference value, 1.2e-7 of them.
TEST_F(Grib2Accuracy, constant_fields_survive) {
  for (const char* packing : {"grid_simple", "grid_ccsds"})
    for (const double value : {273.15, -1e-5, 16777217.0, 273.5, 0.0})
      for (const bool gaps : {false, true})
        for (const bool decimals : {false, true}) {
          std::vector<double> values(points, value);
          if (gaps) values[7] = -999;
          Schema schema = decimals ? accurate(1e-3, packing) : of_type(Type::float64, packing);
          schema.find_variable("ps")->with_fill(Values(-999.0));
          EXPECT_EQ(write_pressures(schema, values), 0) << error_.text();
          EXPECT_LE(error_read(values), 1e-11 * std::abs(value)) << packing << ' ' << value;  // twelve digits
          const bool single = static_cast<double>(static_cast<float>(value)) == value;
          const std::string type = grib_keys("-w count=4 " + path(), "packingType")[0].at("packingType");
          if (single || !decimals) {
            EXPECT_EQ(type, single ? packing : "grid_ieee") << value;
          }
        }
}

/// Identifiers from 0 to 1000000 had errors of up to 8, as 16 bits for all values were the default.
TEST_F(Grib2Accuracy, integers_of_no_stated_accuracy_are_kept_exactly) {
  constexpr auto least = std::numeric_limits<std::int32_t>::min(),
                 most = std::numeric_limits<std::int32_t>::max();
  for (const char* packing : {"grid_simple", "grid_ccsds"})
    for (const auto& [first, last] :
         std::vector<std::pair<std::int32_t, std::int32_t>>{{0, 1000000},
                                                            {-7, 16777217},
                                                            {1999999999, 2000000001},
                                                            {least + 2, most},
                                                            {33554433, 33554433}}) {
      std::vector<std::int32_t> values(points);
      const std::int64_t range = std::int64_t{last} - first;
      for (std::size_t i = 0; i < points; ++i)
        values[i] = static_cast<std::int32_t>(first + range * static_cast<std::int64_t>(i) /
                                                          static_cast<std::int64_t>(points - 1));
      EXPECT_EQ(write_values(of_type(Type::int32, packing), values), 0) << error_.text();
      expect_equal(values, fmt::format("{} {} {}", packing, first, last));
    }
  std::vector<std::int32_t> values(points);
  for (std::size_t i = 0; i < points; ++i) values[i] = static_cast<std::int32_t>(i * 1400);
  EXPECT_EQ(write_values(of_type(Type::int32, "grid_simple"), values), 0) << error_.text();
  EXPECT_EQ(grib_keys(path(), "bitsPerValue")[3].at("bitsPerValue"), "20");
  EXPECT_EQ(unpacked_, 0u);
  // An accuracy that is stated applies.
  Schema few = of_type(Type::int32, "grid_simple");
  few.find_variable("ps")->attribute("GRIB_bitsPerValue", 8);
  EXPECT_GT(write_values(few, values), 0) << error_.text();
}

/// 255 and -127 were missing: netCDF's default fill values, which its conventions do not have.
TEST_F(Grib2Accuracy, bytes_without_a_fill_value_are_never_missing) {
  std::vector<std::uint8_t> values(points);
  for (std::size_t i = 0; i < points; ++i) values[i] = static_cast<std::uint8_t>(i % 256);
  Schema schema = of_type(Type::uint8, "grid_simple");
  EXPECT_EQ(write_values(schema, values), 0) << error_.text();
  expect_equal(values, "uint8");
  std::vector<std::int8_t> negative(points);
  for (std::size_t i = 0; i < points; ++i)
    negative[i] = static_cast<std::int8_t>(static_cast<int>(i % 256) - 128);
  EXPECT_EQ(write_values(of_type(Type::int8, "grid_simple"), negative), 0) << error_.text();
  expect_equal(negative, "int8");
  schema.find_variable("ps")->attribute("_FillValue", std::uint8_t{255});
  EXPECT_EQ(write_values(schema, values), 0) << error_.text();
  const std::vector<double> read = grib_values(path(), 3);
  for (std::size_t i = 0; i < points; ++i) EXPECT_EQ(std::isnan(read[i]), values[i] == 255) << i;
}

/// Values outside of valid_range are missing to readers of netCDF, but were valid in messages.
TEST_F(Grib2Accuracy, values_outside_of_the_valid_range_are_missing) {
  std::vector<double> values(points);
  for (std::size_t i = 0; i < points; ++i) values[i] = static_cast<double>(i);
  values[3] = -999;
  values[5] = 1e30;
  for (const bool both : {true, false}) {
    Schema schema = accurate(0.5, "grid_simple");
    if (both)
      schema.find_variable("ps")->attribute("valid_range", Values({0.0, 600.0}));
    else
      schema.find_variable("ps")->attribute("valid_max", 600.0f);
    ASSERT_GE(write_pressures(schema, values), 0) << error_.text();
    EXPECT_EQ(unpacked_, 0u);
    std::vector<double> wanted = values;
    for (double& value : wanted)
      if (value > 600) value = -999;
    EXPECT_LE(error_read(wanted), 0.5);
  }
  // Also of a type that has no other missing values.
  std::vector<std::uint8_t> bytes(points);
  for (std::size_t i = 0; i < points; ++i) bytes[i] = static_cast<std::uint8_t>(i % 256);
  Schema schema = of_type(Type::uint8, "grid_simple");
  schema.find_variable("ps")->attribute("valid_min", std::uint8_t{7});
  EXPECT_EQ(write_values(schema, bytes), 0) << error_.text();
  const std::vector<double> read = grib_values(path(), 3);
  for (std::size_t i = 0; i < points; ++i) EXPECT_EQ(std::isnan(read[i]), bytes[i] < 7) << i;
}

/// docs/how-to/grib.md said 2^-bits of the range.
TEST_F(Grib2Accuracy, bits_per_value_have_the_documented_bound) {
  constexpr double of_reference = std::numeric_limits<float>::epsilon();
  double most_of_range = 0;
  for (const char* packing : {"grid_simple", "grid_ccsds"})
    for (const int bits : {1, 2, 8})
      for (const double low : {0.0, -3.0, 101325.4})
        for (const double range : {1.0, 1.01, 1.5, 100.0, 1023.0, 0.001}) {
          Schema schema = of_type(Type::float64, packing);
          schema.find_variable("ps")->with_fill(Values(-999.0)).attribute("GRIB_bitsPerValue", bits);
          std::vector<double> values(points);
          for (std::size_t i = 0; i < points; ++i)
            values[i] = low + range * static_cast<double>(i) / static_cast<double>(points - 1);
          const double said = write_pressures(schema, values);
          ASSERT_GE(said, 0) << error_.text();
          EXPECT_EQ(unpacked_, 0u) << packing << ' ' << bits << ' ' << low << ' ' << range;
          const double magnitude = std::max(std::abs(low), std::abs(low + range));
          const double bound = (range + of_reference * magnitude) / (std::ldexp(1.0, bits) - 1);
          EXPECT_LE(said, bound * (1 + 1e-9)) << packing << ' ' << bits << ' ' << low << ' ' << range;
          // The tool prints twelve digits.
          EXPECT_LE(error_read(values), bound + 1e-11 * magnitude) << packing << ' ' << bits << ' ' << low;
          most_of_range = std::max(most_of_range, std::ldexp(said / range, bits));
        }
  EXPECT_GT(most_of_range, 1.1);
}

/// They ended the run.
TEST_F(Grib2Accuracy, values_that_packing_cannot_keep_are_stored_unpacked) {
  for (const bool gaps : {false, true})
    for (const bool doubles : {false, true}) {
      std::vector<double> values(points);
      for (std::size_t i = 0; i < points; ++i) values[i] = i == 0 ? 1e10 : 1.5 + static_cast<double>(i);
      if (doubles) values[1] = 123456.789012;
      if (gaps)
        for (std::size_t i = 2; i < points; i += 5) values[i] = -999;
      EXPECT_EQ(write_pressures(accurate(1e-3, "grid_ccsds"), values), 0) << error_.text();
      EXPECT_EQ(unpacked_, 1u);
      EXPECT_EQ(error_read(values), 0);
      const auto keys = grib_keys("-w count=4 " + path(), "packingType,precision,numberOfMissing")[0];
      EXPECT_EQ(keys.at("packingType"), "grid_ieee");
      EXPECT_EQ(keys.at("precision"), doubles ? "2" : "1");
      EXPECT_EQ(keys.at("numberOfMissing"), gaps ? "137" : "0");
    }
}

/// They ended the run, though 64-bit reals hold them.
TEST_F(Grib2Accuracy, values_beyond_32_bit_reals_are_stored_unpacked) {
  for (const bool gaps : {false, true})
    for (const double largest : {1e39, -1e300, 1e300, 1.7e308}) {
      std::vector<double> values(points);
      for (std::size_t i = 0; i < points; ++i) values[i] = 1e5 + static_cast<double>(i);
      values[7] = largest;
      values[8] = -largest;
      if (gaps)
        for (std::size_t i = 2; i < points; i += 5)
          if (i != 7) values[i] = -999;
      EXPECT_EQ(write_pressures(accurate(0.5, "grid_simple"), values), 0) << error_.text();
      EXPECT_EQ(unpacked_, 1u);
      EXPECT_EQ(error_read(values), 0) << largest;
      const auto keys = grib_keys("-w count=4 " + path(), "packingType,precision")[0];
      EXPECT_EQ(keys.at("packingType"), "grid_ieee");
      EXPECT_EQ(keys.at("precision"), "2");
    }
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    std::vector<double> values(points, 1e5);
    values[7] = bad;
    EXPECT_EQ(write_pressures(accurate(0.5, "grid_simple"), values), -1);
    EXPECT_NE(error_.text().find("cannot hold: mark missing values by the fill value"), std::string::npos)
        << error_.text();
  }
}

}  // namespace
}  // namespace afterbay::test
