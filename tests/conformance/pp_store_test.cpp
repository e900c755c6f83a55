// SPDX-License-Identifier: Apache-2.0
// PP files, read by this project's decoder; tests/ranks/pp_readers.py has others read them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "conformance/message_files.hpp"
#include "model/converted_values.hpp"
#include "model/message_accuracy.hpp"
#include "packing/pp_record.hpp"

namespace afterbay::test {
namespace {

using packing::PpHeader;
using packing::PpInteger;
using packing::PpReal;

/// A field of a file.
struct ReadField {
  PpHeader header;
  std::vector<float> values;

  [[nodiscard]] int stash() const { return header[PpInteger::lbuser4]; }
  [[nodiscard]] int hour() const { return header[PpInteger::lbhr]; }
};

std::vector<ReadField> read_fields(const std::string& path) {
  const std::vector<std::byte> bytes = file_bytes(path);
  std::vector<ReadField> fields;
  for (std::size_t begin = 0; begin < bytes.size();) {
    const auto field = packing::read_pp(bytes, begin);
    EXPECT_TRUE(field) << field.error().text();
    if (!field) break;
    ReadField read{field->header, std::vector<float>(field->shape().rows * field->shape().columns)};
    const auto decoded = packing::decode_pp(*field, read.values, -1e30);
    EXPECT_TRUE(decoded) << decoded.error().text();
    fields.push_back(std::move(read));
    begin = field->end;
  }
  return fields;
}

class PpStore : public MessageFiles {
 protected:
  PpStore() : MessageFiles(Format::pp) {}

  /// Writes one record in which `value` replaces one value of `ta`; the number of fields that were
  /// stored unpacked.
  std::uint64_t write_with(float value, const Schema& schema) {
    const auto request = request_of(path(), schema, Format::pp, storage::Existing::replace);
    const Source smooth = grib2_data(request.schema, *request.layout);
    const Source source = [&](std::uint32_t v, std::uint64_t record) {
      auto bytes = smooth(v, record);
      if (request.schema.variables[v].name == "ta") std::memcpy(bytes.data() + 40, &value, 4);
      return bytes;
    };
    auto file = store_->create(request);
    EXPECT_TRUE(file) << file.error().text();
    std::uint64_t unpacked = 0;
    for (const auto& [frame, record] : all_jobs(request, 1)) {
      const auto written = write_frame(**file, request, frame, record, source);
      if (!written) {
        error_ = written.error();
        return unpacked;
      }
      unpacked += written->unpacked_messages;
    }
    EXPECT_TRUE((*file)->publish());
    return unpacked;
  }

  Error error_;
};

TEST_F(PpStore, writes_fields_of_each_record_variable_and_level_in_order) {
  const auto request = write_all(pp_schema(), 2);
  const std::vector<ReadField> fields = read_fields(path());
  ASSERT_EQ(fields.size(), 9u);  // 2 x (3 ta, ps), lsm
  const Source source = grib2_data(request.schema, *request.layout);
  for (std::size_t record = 0; record < 2; ++record) {
    const auto temperatures = source(4, record);
    for (std::size_t level = 0; level < 3; ++level) {
      const ReadField& field = fields[4 * record + level];
      EXPECT_EQ(field.stash(), 16203);
      EXPECT_EQ(field.header[PpInteger::lbvc], 8);
      EXPECT_EQ(field.header[PpReal::blev], std::vector({850.0F, 500.0F, 250.0F})[level]);
      EXPECT_EQ(field.header[PpInteger::lbpack], 1);
      EXPECT_EQ(field.header[PpReal::bacc], -8.0F);
      EXPECT_EQ(field.hour(), 6 * static_cast<int>(record + 1));
      EXPECT_EQ(field.header[PpInteger::lbtim], 1);
      ASSERT_EQ(field.values.size(), 19u * 36u);
      for (std::size_t i = 0; i < field.values.size(); ++i) {
        float wanted = 0;
        std::memcpy(&wanted, temperatures.data() + 4 * (level * field.values.size() + i), 4);
        ASSERT_NEAR(field.values[i], wanted, 1.0 / 512) << i;
      }
    }
    const ReadField& pressure = fields[4 * record + 3];
    EXPECT_EQ(pressure.stash(), 409);
    EXPECT_EQ(pressure.header[PpInteger::lbvc], 129);
    EXPECT_EQ(pressure.header[PpInteger::lbpack], 0);
    double wanted = 0;
    std::memcpy(&wanted, source(5, record).data() + 800, 8);
    EXPECT_EQ(pressure.values[100], static_cast<float>(wanted));
  }
  EXPECT_EQ(fields[8].stash(), 505);
  EXPECT_EQ(fields[8].hour(), 6);
  EXPECT_EQ(fields[0].header[PpReal::bzy], 100.0F);
  EXPECT_EQ(fields[0].header[PpReal::bdy], -10.0F);
  EXPECT_EQ(fields[0].header[PpReal::bdx], 10.0F);
}

TEST_F(PpStore, leaves_out_slabs_and_records_that_were_never_put) {
  const auto request = request_of(path(), pp_schema(), Format::pp);
  const Source source = grib2_data(request.schema, *request.layout);
  auto file = store_->create(request);
  ASSERT_TRUE(file) << file.error().text();
  for (const std::uint64_t record : {5u, 2u}) {
    for (const model::Piece& piece : request.layout->pieces) {
      const std::string& name = request.schema.variables[piece.variable].name;
      if (name == "lsm" || (name == "ta" && piece.number == 1)) continue;
      ASSERT_TRUE(write_pieces(**file, request, {piece}, record, source));
    }
  }
  ASSERT_TRUE((*file)->publish());
  const std::vector<ReadField> fields = read_fields(path());
  ASSERT_EQ(fields.size(), 6u);
  EXPECT_EQ(fields[1].header[PpReal::blev], 250.0F);
  EXPECT_EQ(fields[0].hour(), 18);
  EXPECT_EQ(fields[3].hour(), 12);
  EXPECT_EQ(fields[3].header[PpInteger::lbdat], 2);
}

TEST_F(PpStore, values_that_wgdos_cannot_hold_are_stored_unpacked_and_counted) {
  Schema schema = pp_schema();
  schema.find_variable("ta")->attribute("PP_accuracy", -30);
  EXPECT_EQ(write_with(1e6F, schema), 3u);  // all levels span more than 2^31 multiples of 2^-30
  EXPECT_EQ(read_fields(path())[0].values[10], 1e6F);
}

/// They became the nearest multiples.
TEST_F(PpStore, constant_fields_survive) {
  struct Constant {
    double value;
    int accuracy;
    std::int32_t packing;  ///< LBPACK
  };
  for (const auto& [value, accuracy, lbpack] :
       {Constant{273.5, 4, 1}, {0, -3, 1}, {273.15, -3, 0}, {1e10 + 0.3, -3, 1}}) {
    Schema schema = pp_schema();
    schema.find_variable("ps")->attribute("PP_accuracy", accuracy).with_fill(Values(-999.0));
    const auto request = request_of(path(), schema, Format::pp, storage::Existing::replace);
    std::vector<double> values(19u * 36u, value);
    values[5] = -999;
    const auto* const bytes = reinterpret_cast<const std::byte*>(values.data());
    const Source source = [&](std::uint32_t v, std::uint64_t record) {
      if (request.schema.variables[v].name != "ps") return grib2_data(schema, *request.layout)(v, record);
      return std::vector<std::byte>(bytes, bytes + 8 * values.size());
    };
    write(request, all_jobs(request, 1), source);
    const ReadField field = read_fields(path()).at(3);
    EXPECT_EQ(field.header[PpInteger::lbpack], lbpack) << value;
    EXPECT_EQ(field.values[5], -1e30F);
    EXPECT_EQ(field.values[6], static_cast<float>(value));
    EXPECT_EQ(field.values.back(), static_cast<float>(value));
  }
}

/// They ended the run, as a defect of Afterbay.
TEST_F(PpStore, values_beside_the_largest_float32_are_stored_unpacked) {
  Schema schema = pp_schema();
  schema.find_variable("ta")->attribute("PP_accuracy", 100);
  EXPECT_EQ(write_with(2e38F, schema), 1u) << error_.text();
  const std::vector<ReadField> fields = read_fields(path());
  ASSERT_EQ(fields.size(), 5u);
  EXPECT_EQ(fields[0].values[10], 2e38F);
  EXPECT_EQ(fields[0].header[PpInteger::lbpack], 0);
  EXPECT_EQ(fields[1].header[PpInteger::lbpack], 1);
}

TEST_F(PpStore, a_stated_accuracy_that_neither_wgdos_nor_32_bits_keep_is_refused) {
  for (const double bad : {1e6, std::numeric_limits<double>::quiet_NaN()}) {
    Schema schema = pp_schema();
    Variable& ps = *schema.find_variable("ps");
    ASSERT_TRUE(message_accuracy_of(Format::pp)->keep_error(ps, 1e-4));
    const auto written_to = [&](int accuracy) {
      ps.attribute("PP_accuracy", accuracy);
      const auto request = request_of(path(), schema, Format::pp, storage::Existing::replace);
      std::vector<double> values(19u * 36u);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1e5 + 0.1 * static_cast<double>(i);
      values[7] = bad;
      const auto* const bytes = reinterpret_cast<const std::byte*>(values.data());
      const Source source = [&](std::uint32_t v, std::uint64_t record) {
        if (request.schema.variables[v].name != "ps") return grib2_data(schema, *request.layout)(v, record);
        return std::vector<std::byte>(bytes, bytes + 8 * values.size());
      };
      auto file = store_->create(request);
      EXPECT_TRUE(file) << file.error().text();
      Result<storage::WriteCost> written;
      for (std::size_t f = 0; written && f < request.layout->frames.size(); ++f)
        written = write_frame(**file, request, f, 0, source);
      return written;
    };
    const auto refused = written_to(-13);  // keep_error's for 1e-4
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().variable, "ps");
    for (const char* part : {"while encoding record 0 of variable 'ps'", "cannot be kept to 6.1e-05",
                             "2^-7 is possible (PP_accuracy = -7, or absolute_error 0.00391)"})
      EXPECT_NE(refused.error().text().find(part), std::string::npos) << refused.error().text();
    const auto kept = written_to(-7);
    EXPECT_TRUE(kept) << kept.error().text();
  }
}

TEST_F(PpStore, an_absolute_error_sets_the_accuracy_of_wgdos) {
  const MessageAccuracy* const accuracy = message_accuracy_of(Format::pp);
  ASSERT_NE(accuracy, nullptr);
  const auto result = [&](double error, Variable made) {
    const auto kept = accuracy->keep_error(made, error);
    if (!kept) return kept.error().message;
    if (!*kept) return std::string("rounded");
    const auto found = std::ranges::find(made.attributes, "PP_accuracy", &Attribute::name);
    return std::to_string(found->values.at<std::int32_t>(0));
  };
  Variable plain;
  plain.type = Type::float32;
  EXPECT_EQ(result(0.01, plain), "-6");
  EXPECT_EQ(result(1, plain), "1");
  EXPECT_EQ(result(0.99, plain), "0");
  EXPECT_NE(result(1e-40, plain).find("allow 5.88e-39"), std::string::npos) << result(1e-40, plain);
  Variable packed = plain;
  packed.attribute("PP_accuracy", 2);
  EXPECT_EQ(result(2, packed), "2");
  EXPECT_NE(result(0.01, packed).find("let it be -6"), std::string::npos) << result(0.01, packed);
  Variable named = plain;
  named.attribute("PP_packing", "wgdos");
  EXPECT_EQ(result(0.01, named), "-6");
  EXPECT_TRUE(accuracy->packs(named));
  Variable unpacked = plain;
  unpacked.attribute("PP_packing", "none");
  EXPECT_EQ(result(0.01, unpacked), "rounded");
  EXPECT_FALSE(accuracy->packs(unpacked));
  unpacked.type = Type::float64;
  EXPECT_NE(result(0.01, unpacked).find("give the variable the type float32"), std::string::npos);
}

TEST_F(PpStore, a_field_with_nan_is_stored_unpacked_and_the_others_are_packed) {
  EXPECT_EQ(write_with(std::numeric_limits<float>::quiet_NaN(), pp_schema()), 1u);
  const std::vector<ReadField> fields = read_fields(path());
  ASSERT_EQ(fields.size(), 5u);
  EXPECT_EQ(fields[0].header[PpInteger::lbpack], 0);
  EXPECT_EQ(fields[0].header[PpReal::bacc], -99.0F);
  EXPECT_TRUE(std::isnan(fields[0].values[10]));
  EXPECT_EQ(fields[1].header[PpInteger::lbpack], 1);
}

TEST_F(PpStore, values_that_no_packing_can_hold_are_refused_with_their_name) {
  write_with(static_cast<float>(packing::um_missing), pp_schema());
  EXPECT_EQ(error_.variable, "ta");
  EXPECT_NE(error_.text().find("while encoding record 0 of variable 'ta'"), std::string::npos)
      << error_.text();
  EXPECT_NE(error_.text().find("missing value of PP files"), std::string::npos) << error_.text();
}

TEST_F(PpStore, fill_values_become_the_missing_value_of_the_header) {
  for (const float fill : {-999.0F, std::numeric_limits<float>::quiet_NaN()}) {
    Schema schema = pp_schema();
    schema.find_variable("ta")->with_fill(Values(fill));
    EXPECT_EQ(write_with(fill, schema), 0u);
    const std::vector<ReadField> fields = read_fields(path());
    EXPECT_EQ(fields[0].values[10], -1e30F);
    EXPECT_NE(fields[0].values[11], -1e30F);
    EXPECT_EQ(fields[0].header[PpReal::bmdi], -1073741824.0F);
    EXPECT_EQ(fields[0].header[PpInteger::lbpack], 1);
  }
}

/// They were valid values in the file.
TEST_F(PpStore, values_outside_of_the_valid_range_are_missing) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float value : {1000.0F, -3.0F, infinity}) {
    Schema schema = pp_schema();
    schema.find_variable("ta")->attribute("valid_range", Values({200.0F, 400.0F}));
    EXPECT_EQ(write_with(value, schema), 0u) << error_.text();
    const std::vector<ReadField> fields = read_fields(path());
    ASSERT_EQ(fields.size(), 5u);
    EXPECT_EQ(fields[0].values[10], -1e30F);
    EXPECT_NE(fields[0].values[11], -1e30F);
    EXPECT_EQ(fields[0].header[PpInteger::lbpack], 1);
  }
  for (const auto& [type, fill] : {std::pair{Type::int16, -99}, {Type::float64, -99}, {Type::uint8, -1}}) {
    Schema schema = pp_schema();
    Variable& lsm = *schema.find_variable("lsm");
    lsm.type = type;
    std::vector<double> values(19u * 36u);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 200);
    lsm.with_constant(Values(values)).attribute("valid_min", 20).attribute("valid_max", 100);
    if (fill != -1) lsm.with_fill(Values(static_cast<double>(fill)));
    model::convert_values(schema);
    const auto request = request_of(path(), schema, Format::pp, storage::Existing::replace);
    write(request, all_jobs(request, 1), grib2_data(request.schema, *request.layout));
    const std::vector<float> stored = read_fields(path()).at(4).values;
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_EQ(stored[i], values[i] < 20 || values[i] > 100 ? -1e30F : static_cast<float>(values[i])) << i;
  }
}

TEST_F(PpStore, integers_are_stored_as_integers) {
  Schema schema = pp_schema();
  Variable& lsm = *schema.find_variable("lsm");
  lsm.type = Type::int16;
  lsm.attribute("PP_stash", 505);
  write_all(schema, 1);
  const std::vector<std::byte> bytes = file_bytes(path());
  std::size_t begin = 0;
  for (int skipped = 0; skipped < 4; ++skipped) begin = packing::read_pp(bytes, begin)->end;
  const auto field = packing::read_pp(bytes, begin);
  ASSERT_TRUE(field);
  EXPECT_EQ(field->header[PpInteger::lbuser1], 2);
  EXPECT_EQ(field->header[PpInteger::lbuser4], 505);
  const std::byte* const first = field->data.data();
  EXPECT_EQ(std::to_integer<int>(first[2]) * 256 + std::to_integer<int>(first[3]),
            271);  // 250 + 20 sin(0.9) + 6
}

/// Values at the points of a mask, in the order of the file.
std::vector<float> stored_values(const packing::PpField& field) {
  std::vector<float> values(field.shape().rows * field.shape().columns);
  std::vector<std::uint8_t> mask(values.size());
  for (std::size_t i = 0; i < mask.size(); i += 3) mask[i] = 1;
  const auto decoded = packing::decode_pp(field, values, -1, mask);
  EXPECT_TRUE(decoded) << decoded.error().text();
  return values;
}

TEST_F(PpStore, stores_land_or_sea_points_of_a_constant_mask_which_is_in_the_file) {
  Schema schema = pp_schema();
  std::vector<std::int8_t> land(19u * 36u);
  for (std::size_t i = 0; i < land.size(); i += 3) land[i] = 1;
  Variable& lsm = *schema.find_variable("lsm");
  lsm.type = Type::int8;
  lsm.attribute("standard_name", "land_binary_mask")
      .attribute("PP_stash", "m01s00i030")
      .with_constant(Values(land));
  schema.find_variable("ps")->attribute("PP_packing", "land").attribute("PP_mask", "lsm");
  schema.find_variable("ps")->attribute("PP_outside_mask", "drop");
  schema.variable("ts", Type::float32, {"time", "lat", "lon"})
      .attribute("standard_name", "surface_temperature")
      .attribute("units", "K")
      .attribute("PP_packing", "sea")
      .attribute("PP_mask", "lsm")
      .attribute("PP_outside_mask", "drop");
  const auto request = write_all(schema, 1);
  const std::vector<std::byte> bytes = file_bytes(path());
  std::vector<packing::PpField> fields;
  for (std::size_t begin = 0; begin < bytes.size(); begin = fields.back().end)
    fields.push_back(packing::read_pp(bytes, begin).value());
  ASSERT_EQ(fields.size(), 6u);  // 3 ta, ps, ts, lsm
  EXPECT_EQ(fields[3].header[PpInteger::lbpack], 120);
  EXPECT_EQ(fields[3].data.size(), 228u * 4u);
  EXPECT_EQ(fields[4].header[PpInteger::lbpack], 220);
  EXPECT_EQ(fields[4].data.size(), 456u * 4u);
  EXPECT_EQ(fields[5].header[PpInteger::lbuser4], 30);
  EXPECT_EQ(fields[5].header[PpInteger::lbuser1], 3);
  const auto temperatures = grib2_data(request.schema, *request.layout)(7, 0);
  const std::vector<float> sea = stored_values(fields[4]);
  for (std::size_t i = 0; i < sea.size(); ++i) {
    float wanted = -1;
    if (i % 3 != 0) std::memcpy(&wanted, temperatures.data() + 4 * i, 4);
    ASSERT_EQ(sea[i], wanted) << i;
  }
  EXPECT_EQ(stored_values(fields[3])[1], -1.0F);
}

TEST_F(PpStore, values_at_points_that_a_mask_leaves_out_are_refused_unless_they_are_missing) {
  Schema schema = pp_schema();
  std::vector<std::int8_t> land(19u * 36u);
  for (std::size_t i = 0; i < land.size(); i += 3) land[i] = 1;
  schema.find_variable("lsm")->type = Type::int8;
  schema.find_variable("lsm")->with_constant(Values(land));
  std::erase_if(schema.variables, [](const Variable& it) { return it.name == "ps"; });
  Variable& ta = *schema.find_variable("ta");
  std::erase_if(ta.attributes, [](const Attribute& it) { return it.name == "PP_accuracy"; });
  ta.attribute("PP_packing", "land").attribute("PP_mask", "lsm").with_fill(Values(-999.0F));
  const auto result = [&](float outside, std::size_t valid) {
    const auto request = request_of(path(), schema, Format::pp, storage::Existing::replace);
    const Source source = [&](std::uint32_t v, std::uint64_t record) {
      auto bytes = grib2_data(request.schema, *request.layout)(v, record);
      if (request.schema.variables[v].name != "ta") return bytes;
      for (std::size_t i = 0; i < bytes.size() / 4; ++i)
        if (i % land.size() % 3 != 0 && i >= valid) std::memcpy(bytes.data() + 4 * i, &outside, 4);
      return bytes;
    };
    auto file = store_->create(request);
    EXPECT_TRUE(file) << file.error().text();
    for (const auto& [frame, record] : all_jobs(request, 1))
      if (const auto written = write_frame(**file, request, frame, record, source); !written)
        return written.error().variable + ": " + written.error().text();
    return (*file)->publish() ? std::string("written") : std::string("not published");
  };
  EXPECT_EQ(result(-999.0F, 0), "written");
  EXPECT_EQ(result(std::numeric_limits<float>::quiet_NaN(), 0), "written");
  const std::string refused = result(-999.0F, 38);
  for (const char* part : {"ta: ", "while encoding record 0 of variable 'ta'", "row 0, column 1 (from 0)",
                           "at no land point of the mask", "(25 such values)", "PP_outside_mask"})
    EXPECT_NE(refused.find(part), std::string::npos) << refused;
  ta.attribute("PP_outside_mask", "drop");
  EXPECT_EQ(result(-999.0F, 38), "written");
}

/// 255 became the missing value: netCDF's default fill value, which its conventions do not have.
TEST_F(PpStore, bytes_without_a_fill_value_are_never_missing) {
  for (const bool given : {false, true}) {
    Schema schema = pp_schema();
    std::erase_if(schema.variables, [](const Variable& it) {
      return it.name != "lat" && it.name != "lon" && it.name != "time" && it.name != "lsm";
    });
    std::vector<std::uint8_t> values(19u * 36u);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(i % 256);
    Variable& lsm = *schema.find_variable("lsm");
    lsm.type = Type::uint8;
    lsm.with_constant(Values(values));
    if (given) lsm.with_fill(Values(std::uint8_t{255}));
    const auto request = request_of(path(), schema, Format::pp, storage::Existing::replace);
    write(request, all_jobs(request, 1), grib2_data(request.schema, *request.layout));
    const std::vector<std::byte> bytes = file_bytes(path());
    const std::vector<float> stored = stored_values(packing::read_pp(bytes, 0).value());
    ASSERT_EQ(stored.size(), values.size());
    EXPECT_EQ(stored[254], 254);
    EXPECT_EQ(stored[255], given ? -1.0F : 255.0F);
  }
}

TEST_F(PpStore, a_file_to_which_nothing_was_put_has_no_fields_of_constants) {
  Schema schema = pp_schema();
  schema.find_variable("lsm")->with_constant(Values(std::vector<float>(19 * 36)));
  auto file = store_->create(request_of(path(), schema, Format::pp));
  ASSERT_TRUE(file) << file.error().text();
  const auto published = (*file)->publish();
  ASSERT_TRUE(published) << published.error().text();
  EXPECT_EQ(published->size_bytes, 0u);
}

TEST_F(PpStore, means_have_the_interval_of_their_record) {
  Schema schema = pp_schema();
  schema.dimension("bnds", 2);
  schema.find_variable("time")->attribute("bounds", "time_bnds").attribute("calendar", "360_day");
  schema.variable("time_bnds", Type::float64, {"time", "bnds"});
  schema.find_variable("ta")->attribute("cell_methods", "time: mean (interval: 1 hour)");
  schema.variable("reference", Type::float64, {})
      .attribute("standard_name", "forecast_reference_time")
      .attribute("calendar", "360_day")
      .attribute("units", "hours since 2026-10-30")
      .with_constant(Values(0.0));
  schema.find_variable("ta")->attribute("coordinates", "reference");
  write_all(schema, 2);
  const std::vector<ReadField> fields = read_fields(path());
  EXPECT_EQ(fields[0].hour(), 0);
  EXPECT_EQ(fields[0].header[PpInteger::lbhrd], 6);
  EXPECT_EQ(fields[0].header[PpInteger::lbtim], 122);
  EXPECT_EQ(fields[0].header[PpInteger::lbproc], 128);
  EXPECT_EQ(fields[0].header[PpInteger::lbft], 30);
  EXPECT_EQ(fields[3].header[PpInteger::lbtim], 12);  // a moment, of the forecast
  EXPECT_EQ(fields[3].header[PpInteger::lbdatd], 30);
  EXPECT_EQ(fields[4].hour(), 6);
  EXPECT_EQ(fields[4].header[PpInteger::lbhrd], 12);
}

TEST_F(PpStore, records_have_forecast_reference_times_of_their_own) {
  Schema schema = pp_schema();
  schema.variable("reference", Type::int16, {"time"})
      .attribute("standard_name", "forecast_reference_time")
      .attribute("units", "hours since 2026-10-01");
  schema.variable("period", Type::float64, {"time"})
      .attribute("standard_name", "forecast_period")
      .attribute("units", "hours");
  schema.find_variable("ta")->attribute("coordinates", "reference period");
  write_all(schema, 2);
  const std::vector<ReadField> fields = read_fields(path());
  ASSERT_EQ(fields.size(), 9u);
  EXPECT_EQ(fields[0].header[PpInteger::lbtim], 11);
  EXPECT_EQ(fields[0].header[PpInteger::lbmond], 10);
  EXPECT_NE(fields[0].header[PpInteger::lbhrd] * 60 + fields[0].header[PpInteger::lbmind],
            fields[4].header[PpInteger::lbhrd] * 60 + fields[4].header[PpInteger::lbmind]);
}

TEST_F(PpStore, files_without_records_have_the_scalar_time_and_its_bounds) {
  Schema schema = pp_schema();
  schema.dimensions[0] = {"bnds", 2};
  for (Variable& variable : schema.variables)
    if (!variable.dimensions.empty() && variable.dimensions[0] == "time")
      variable.dimensions.erase(variable.dimensions.begin());
  schema.find_variable("time")->attribute("bounds", "time_bnds").with_constant(Values(6.0));
  schema.variable("time_bnds", Type::float64, {"bnds"}).with_constant(Values({0.0, 12.0}));
  schema.find_variable("ta")->attribute("cell_methods", "time: maximum").attribute("coordinates", "time");
  write_all(schema, 1);
  const std::vector<ReadField> fields = read_fields(path());
  ASSERT_EQ(fields.size(), 5u);
  EXPECT_EQ(fields[0].header[PpInteger::lbproc], 8192);
  EXPECT_EQ(fields[0].hour(), 0);
  EXPECT_EQ(fields[0].header[PpInteger::lbhrd], 12);
  EXPECT_EQ(fields[3].hour(), 6);
}

TEST_F(PpStore, a_date_that_no_header_holds_is_refused_with_the_variable) {
  Schema schema = pp_schema();
  schema.find_variable("time")->attribute("units", "hours since 1200-01-01");
  const auto request = request_of(path(), schema, Format::pp);
  const Source source = grib2_data(request.schema, *request.layout);
  auto file = store_->create(request);
  ASSERT_TRUE(file) << file.error().text();
  Result<storage::WriteCost> written;
  for (std::size_t f = 0; written && f < request.layout->frames.size(); ++f)
    written = write_frame(**file, request, f, 0, source);
  const auto published = written ? (*file)->publish() : tl::unexpected(written.error());
  ASSERT_FALSE(published);
  EXPECT_EQ(published.error().variable, "ta");
  EXPECT_NE(published.error().text().find("dates 1582-10-15 to 9999"), std::string::npos)
      << published.error().text();
}

}  // namespace
}  // namespace afterbay::test
