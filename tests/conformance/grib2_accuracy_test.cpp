// SPDX-License-Identifier: Apache-2.0
// The accuracy of values in GRIB2 messages, read by the tools of ecCodes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
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
    const auto request = request_of(path(), schema, Format::grib2, storage::Existing::replace);
    const auto* const bytes = reinterpret_cast<const std::byte*>(values.data());
    const Source source = [&](std::uint32_t v, std::uint64_t record) {
      if (request.schema.variables[v].name != "ps")
        return grib2_data(request.schema, *request.layout)(v, record);
      return std::vector<std::byte>(bytes, bytes + 8 * values.size());
    };
    auto file = store_->create(request);
    EXPECT_TRUE(file) << file.error().text();
    double said = -1;
    for (const auto& [frame, record] : all_jobs(request, 1)) {
      const auto written = write_frame(**file, request, frame, record, source);
      if (!written) {
        error_ = written.error();
        return said;
      }
      for (const model::LargestError& it : written->errors)
        if (schema.variables[it.variable].name == "ps") said = it.value;
    }
    EXPECT_TRUE((*file)->publish());
    return said;
  }

  /// Of the values that are not -999; expects the others to be missing.
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

  Error error_;
};

TEST_F(Grib2Accuracy, a_slab_of_one_value_has_the_bits_that_it_needs) {
  for (const char* packing : {"grid_simple", "grid_ccsds"})
    for (const auto& [value, error] :
         {std::pair{101325.4, 1e-3}, {101325.4, 1e-6}, {-101325.4, 1e-3}, {16777217.0, 0.4}, {0.1, 1e-12}})
      for (const bool gaps : {false, true}) {
        std::vector<double> values(points, value);
        if (gaps)
          for (std::size_t i = 0; i < points; i += 7) values[i] = -999;
        const double said = write_pressures(accurate(error, packing), values);
        ASSERT_GE(said, 0) << error_.text();
        EXPECT_LE(said, error) << packing << ' ' << value;
        // The tool prints twelve digits.
        EXPECT_LE(error_read(values), error + 1e-11 * std::abs(value)) << packing << ' ' << value;
        EXPECT_NE(grib_keys(path(), "bitsPerValue")[3].at("bitsPerValue"), "0");
      }
  // 32 bits hold it.
  ASSERT_GE(write_pressures(accurate(1e-3, "grid_simple"), std::vector<double>(points, 101325.5)), 0);
  EXPECT_EQ(grib_keys(path(), "bitsPerValue")[3].at("bitsPerValue"), "0");
}

}  // namespace
}  // namespace afterbay::test
