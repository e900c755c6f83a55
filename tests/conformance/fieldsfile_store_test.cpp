// SPDX-License-Identifier: Apache-2.0
// Fields files, read by this project's decoder; tests/ranks/fieldsfile_readers.py has others read
// them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "conformance/message_files.hpp"
#include "packing/fields_file.hpp"

namespace afterbay::test {
namespace {

using packing::FileWord;
using packing::PpHeader;
using packing::PpInteger;
using packing::PpReal;

struct ReadFieldsFile {
  packing::FixedHeader header;
  struct Field {
    PpHeader header;
    std::uint64_t begin = 0;
    std::vector<double> values;

    [[nodiscard]] int stash() const { return header[PpInteger::lbuser4]; }
    [[nodiscard]] int hour() const { return header[PpInteger::lbhr]; }
  };
  std::vector<Field> fields;
};

ReadFieldsFile read_fields_file(const std::string& path, std::span<const std::uint8_t> mask = {}) {
  const std::vector<std::byte> bytes = file_bytes(path);
  ReadFieldsFile read;
  const auto header = packing::read_fixed_header(bytes);
  EXPECT_TRUE(header) << header.error().text();
  if (!header) return read;
  read.header = *header;
  for (std::uint64_t entry = 0; entry < packing::entries_of(*header); ++entry) {
    EXPECT_FALSE(packing::is_unused(bytes, *header, entry));
    const auto field = packing::read_field(bytes, *header, entry);
    EXPECT_TRUE(field) << field.error().text();
    if (!field) return read;
    const std::size_t points = field->shape().rows * field->shape().columns;
    ReadFieldsFile::Field made{field->header, field->begin,
                               std::vector<double>(points == 0 ? mask.size() : points)};
    const auto decoded = packing::decode_field(*field, made.values, -1e30, mask);
    EXPECT_TRUE(decoded) << decoded.error().text();
    read.fields.push_back(std::move(made));
  }
  return read;
}

/// The values of a variable as numbers.
template <class T>
std::vector<double> numbers_in(const Source& source, std::uint32_t variable, std::uint64_t record) {
  const auto bytes = source(variable, record);
  std::vector<double> numbers(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    numbers[i] = static_cast<double>(value);
  }
  return numbers;
}

class FieldsFileStore : public MessageFiles {
 protected:
  FieldsFileStore() : MessageFiles(Format::fieldsfile) {}
};

TEST_F(FieldsFileStore, writes_fields_of_each_record_variable_and_level_in_order) {
  const auto request = write_all(pp_schema(), 2);
  const ReadFieldsFile file = read_fields_file(path());
  ASSERT_EQ(file.fields.size(), 9u);  // 2 x (3 ta, ps), lsm
  const Source source = grib2_data(request.schema, *request.layout);
  for (std::size_t record = 0; record < 2; ++record) {
    const std::vector<double> temperatures = numbers_in<float>(source, 4, record);
    for (std::size_t level = 0; level < 3; ++level) {
      const ReadFieldsFile::Field& field = file.fields[4 * record + level];
      EXPECT_EQ(field.stash(), 16203);
      EXPECT_EQ(field.header[PpInteger::lbvc], 8);
      EXPECT_EQ(field.header[PpReal::blev], std::vector({850.0, 500.0, 250.0})[level]);
      EXPECT_EQ(field.header[PpInteger::lbpack], 1);
      EXPECT_EQ(field.header[PpReal::bacc], -8.0);
      EXPECT_EQ(field.hour(), 6 * static_cast<int>(record + 1));
      ASSERT_EQ(field.values.size(), 19u * 36u);
      for (std::size_t i = 0; i < field.values.size(); ++i)
        ASSERT_NEAR(field.values[i], temperatures[level * field.values.size() + i], 1.0 / 512) << i;
    }
    const ReadFieldsFile::Field& pressure = file.fields[4 * record + 3];
    EXPECT_EQ(pressure.stash(), 409);
    EXPECT_EQ(pressure.header[PpInteger::lbpack], 0);
    EXPECT_EQ(pressure.values, numbers_in<double>(source, 5, record));  // all 64 bits
  }
  const ReadFieldsFile::Field& land = file.fields[8];
  EXPECT_EQ(land.stash(), 505);
  EXPECT_EQ(land.header[PpInteger::lbpack], 2);
  EXPECT_EQ(land.values, numbers_in<float>(source, 6, 0));
  EXPECT_EQ(land.header[PpReal::bdx], 10.0);
}

TEST_F(FieldsFileStore, values_begin_at_sectors_after_the_lookup_which_follows_the_constants) {
  write_all(pp_schema(), 2);
  const ReadFieldsFile file = read_fields_file(path());
  EXPECT_EQ(file.header[FileWord::integers], 257);
  EXPECT_EQ(file.header[FileWord::levels], 257 + 46 + 38);
  EXPECT_EQ(file.header[FileWord::lookup], 257 + 46 + 38 + 16);
  std::uint64_t end = static_cast<std::uint64_t>(file.header[FileWord::data] - 1) * 8;
  EXPECT_GE(end, (356u + 4096u * 64u) * 8u);
  for (const ReadFieldsFile::Field& field : file.fields) {
    EXPECT_EQ(field.begin, end);
    EXPECT_EQ(field.begin % 4096, 0u);
    EXPECT_EQ(field.header[PpInteger::lbnrec] % 512, 0);
    const int words = field.header[PpInteger::lbpack] == 2 ? (field.header[PpInteger::lblrec] + 1) / 2
                                                           : field.header[PpInteger::lblrec];
    EXPECT_EQ(field.header[PpInteger::lbnrec], (words + 511) / 512 * 512);
    end += (static_cast<std::uint64_t>(words) * 8 + 512 + 4095) / 4096 * 4096;
  }
  EXPECT_EQ(file_bytes(path()).size(), end);
  EXPECT_EQ(file.header[FileWord::data_words],
            static_cast<std::int64_t>(end / 8) - file.header[FileWord::data] + 1);
  EXPECT_EQ(file.header.get(24), 6);   // the first time: 6 hours
  EXPECT_EQ(file.header.get(31), 12);  // the last one
}

TEST_F(FieldsFileStore, more_fields_than_there_is_room_for_have_their_lookup_at_the_end) {
  Schema schema = pp_schema();
  schema.attribute("FF_reserved_headers", 8);
  const auto request = write_all(schema, 2);  // 9 fields
  const ReadFieldsFile file = read_fields_file(path());
  ASSERT_EQ(file.fields.size(), 9u);
  EXPECT_EQ(static_cast<std::uint64_t>(file.header[FileWord::lookup] - 1) * 8 + 9 * 512,
            file_bytes(path()).size());
  const Source source = grib2_data(request.schema, *request.layout);
  EXPECT_EQ(file.fields[7].values, numbers_in<double>(source, 5, 1));
  schema.attribute("FF_reserved_headers", 9);
  auto other = request_of(path("other"), schema, Format::fieldsfile);
  write(other, all_jobs(other, 2), source);
  const ReadFieldsFile with_room = read_fields_file(path("other"));
  ASSERT_EQ(with_room.fields.size(), 9u);
  EXPECT_LT(with_room.header[FileWord::lookup], with_room.header[FileWord::data]);
  EXPECT_EQ(with_room.fields[7].values, file.fields[7].values);
}

TEST_F(FieldsFileStore, leaves_out_slabs_and_records_that_were_never_put) {
  const auto request = request_of(path(), pp_schema(), Format::fieldsfile);
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
  const ReadFieldsFile read = read_fields_file(path());
  ASSERT_EQ(read.fields.size(), 6u);
  EXPECT_EQ(read.fields[1].header[PpReal::blev], 250.0);
  EXPECT_EQ(read.fields[0].hour(), 18);
  EXPECT_EQ(read.fields[3].hour(), 12);
  EXPECT_EQ(read.header.get(23), 1);  // the first time is of November 1, 18 h
  EXPECT_EQ(read.header.get(30), 2);
}

TEST_F(FieldsFileStore, a_file_to_which_nothing_was_put_has_an_empty_lookup) {
  auto file = store_->create(request_of(path(), pp_schema(), Format::fieldsfile));
  ASSERT_TRUE(file) << file.error().text();
  const auto published = (*file)->publish();
  ASSERT_TRUE(published) << published.error().text();
  const ReadFieldsFile read = read_fields_file(path());
  EXPECT_TRUE(read.fields.empty());
  EXPECT_EQ(published->size_bytes, file_bytes(path()).size());
  EXPECT_EQ(published->size_bytes, static_cast<std::uint64_t>(read.header[FileWord::data] - 1) * 8);
}

TEST_F(FieldsFileStore, values_that_wgdos_cannot_hold_are_stored_in_32_bits_and_counted) {
  const auto request = request_of(path(), pp_schema(), Format::fieldsfile);
  const Source smooth = grib2_data(request.schema, *request.layout);
  const Source source = [&](std::uint32_t v, std::uint64_t record) {
    auto bytes = smooth(v, record);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    if (request.schema.variables[v].name == "ta") std::memcpy(bytes.data() + 40, &nan, 4);
    return bytes;
  };
  auto file = store_->create(request);
  ASSERT_TRUE(file) << file.error().text();
  std::uint64_t unpacked = 0;
  for (const auto& [frame, record] : all_jobs(request, 1)) {
    const auto written = write_frame(**file, request, frame, record, source);
    ASSERT_TRUE(written) << written.error().text();
    unpacked += written->unpacked_messages;
  }
  ASSERT_TRUE((*file)->publish());
  EXPECT_EQ(unpacked, 1u);
  const ReadFieldsFile read = read_fields_file(path());
  EXPECT_EQ(read.fields[0].header[PpInteger::lbpack], 2);
  EXPECT_EQ(read.fields[0].header[PpReal::bacc], -99.0);
  EXPECT_TRUE(std::isnan(read.fields[0].values[10]));
  EXPECT_EQ(read.fields[1].header[PpInteger::lbpack], 1);
}

TEST_F(FieldsFileStore, integers_have_64_bits) {
  Schema schema = pp_schema();
  Variable& lsm = *schema.find_variable("lsm");
  lsm.type = Type::int16;
  lsm.attribute("PP_stash", 505);
  const auto request = write_all(schema, 1);
  const ReadFieldsFile read = read_fields_file(path());
  EXPECT_EQ(read.fields[4].header[PpInteger::lbuser1], 2);
  EXPECT_EQ(read.fields[4].header[PpInteger::lbpack], 0);
  EXPECT_EQ(read.fields[4].values,
            numbers_in<std::int16_t>(grib2_data(request.schema, *request.layout), 6, 0));
}

TEST_F(FieldsFileStore, land_and_sea_points_have_the_size_of_their_type) {
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
  const std::vector<std::uint8_t> mask(land.begin(), land.end());
  const ReadFieldsFile read = read_fields_file(path(), mask);
  ASSERT_EQ(read.fields.size(), 6u);  // 3 ta, ps, ts, lsm
  EXPECT_EQ(read.fields[3].header[PpInteger::lbpack], 120);
  EXPECT_EQ(read.fields[3].header[PpInteger::lblrec], 228);
  EXPECT_EQ(read.fields[4].header[PpInteger::lbpack], 222);
  EXPECT_EQ(read.fields[4].header[PpInteger::lblrec], 456);
  EXPECT_EQ(read.fields[5].header[PpInteger::lbuser1], 3);
  const Source source = grib2_data(request.schema, *request.layout);
  const std::vector<double> pressures = numbers_in<double>(source, 5, 0);
  const std::vector<double> temperatures = numbers_in<float>(source, 7, 0);
  for (std::size_t i = 0; i < mask.size(); ++i) {
    ASSERT_EQ(read.fields[3].values[i], mask[i] != 0 ? pressures[i] : -1e30) << i;
    ASSERT_EQ(read.fields[4].values[i], mask[i] == 0 ? temperatures[i] : -1e30) << i;
  }
}

TEST_F(FieldsFileStore, irregular_grids_are_constants_of_the_file) {
  Schema schema = pp_schema();
  std::vector<double> longitudes(36);
  for (std::size_t i = 0; i < longitudes.size(); ++i) longitudes[i] = 0.25 * static_cast<double>(i * i);
  schema.find_variable("lon")->with_constant(Values(longitudes));
  write_all(schema, 1);
  const ReadFieldsFile read = read_fields_file(path());
  EXPECT_EQ(read.header[FileWord::columns], read.header[FileWord::rows] + 2 * 19);
  EXPECT_EQ(read.header.get(121), 36);
  EXPECT_EQ(read.fields[0].header[PpReal::bdx], packing::um_missing);
  EXPECT_EQ(read.fields[0].header[PpInteger::lbext], 0);
  const std::vector<std::byte> bytes = file_bytes(path());
  const std::size_t columns = static_cast<std::size_t>(read.header[FileWord::columns] - 1) * 8;
  EXPECT_EQ(std::bit_cast<double>(packing::load_wide_word(bytes.data() + columns + 7 * 8)), 0.25 * 49);
}

}  // namespace
}  // namespace afterbay::test
