// SPDX-License-Identifier: Apache-2.0
// What fields files refuse when a schema is defined, what their headers say, and how they are
// completed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "model/message_accuracy.hpp"
#include "model/validate.hpp"
#include "storage/fieldsfile/definition.hpp"
#include "unit/storage/messages/message_schema.hpp"

namespace afterbay::storage::fieldsfile {
namespace {

using packing::FileWord;
using packing::PpInteger;
using packing::PpPacking;
using packing::um_missing;

Schema sound_ff_schema() {
  Schema schema = test::temperature_on("plev");
  schema.variables.front().attribute("calendar", "360_day");
  schema.variable("ps", Type::float64, {"time", "lat", "lon"})
      .attribute("standard_name", "surface_air_pressure")
      .attribute("units", "Pa");
  return schema;
}

FileDescription described(const Schema& schema) {
  auto file = describe_file(schema);
  EXPECT_TRUE(file) << file.error().text();
  return file ? *std::move(file) : FileDescription();
}

TEST(FieldsFileDefinition, says_what_a_file_cannot_hold) {
  struct Case {
    std::function<void(Schema&)> change;
    std::string variable;
    std::string text;
  };
  const auto ta = [](Schema& s) -> Variable& { return *s.find_variable("ta"); };
  const std::vector<Case> cases{
      {[&](Schema& s) { ta(s).type = Type::int64; }, "ta", "use float32, float64, uint32"},
      {[&](Schema& s) { ta(s).attribute("PP_packing", "32bits"); }, "ta", "did you mean \"32bit\"?"},
      {[&](Schema& s) { ta(s).attribute("PP_packing", "32bit").type = Type::int32; }, "ta", "is for reals"},
      {[&](Schema& s) { ta(s).attribute("units", "degC"); }, "ta", "for 'K': convert"},
      {[&](Schema& s) { ta(s).attribute("FF_model_version", 1201); }, "ta",
       "has the attribute 'FF_model_version'"},
      {[](Schema& s) { s.attribute("FF_grid_stagering", 3); }, "", "did you mean \"FF_grid_staggering\"?"},
      {[](Schema& s) { s.attribute("FF_grid_staggering", 4); }, "",
       "the file has the attribute 'FF_grid_staggering' = 4, it must be 3 (New Dynamics) or 6 (ENDGame)"},
      {[](Schema& s) { s.attribute("FF_sub_model", 5); }, "",
       "the file has the attribute 'FF_sub_model' = 5, it must be a whole number from 1 to 4"},
      {[](Schema& s) { s.attribute("FF_sub_model", 0); }, "", "a whole number from 1 to 4"},
      {[](Schema& s) {
         s.variables.resize(4);
         s.attribute("um_version", "new");
       },
       "", "the file has the attribute um_version = 'new'"},
      {[](Schema& s) { s.attribute("FF_reserved_headers", 0); }, "", "a whole number from 1"},
      {[](Schema& s) { s.variable("mean", Type::float32, {"time"}); }, "mean",
       "a fields file holds a field on a grid"},
  };
  for (const Case& it : cases) {
    Schema schema = sound_ff_schema();
    it.change(schema);
    const auto refused = model::validate(schema, Format::fieldsfile);
    ASSERT_FALSE(refused) << it.text;
    EXPECT_NE(refused.error().message.find(it.text), std::string::npos) << refused.error().message;
    EXPECT_EQ(refused.error().variable, it.variable) << refused.error().message;
  }
  const auto sound = model::validate(sound_ff_schema(), Format::fieldsfile);
  EXPECT_TRUE(sound) << sound.error().text();
  Schema unsigned_numbers = sound_ff_schema();
  unsigned_numbers.find_variable("ps")->type = Type::uint32;
  EXPECT_TRUE(model::validate(unsigned_numbers, Format::fieldsfile));
}

TEST(FieldsFileDefinition, float32_is_packed_to_32_bits_and_float64_is_not_packed) {
  const Schema schema = sound_ff_schema();
  const auto method = [&](const char* name, const char* packing) {
    Variable variable = *schema.find_variable(name);
    if (*packing != '\0') variable.attribute("PP_packing", packing);
    if (std::string_view(packing) == "land" || std::string_view(packing) == "sea")
      variable.attribute("PP_mask", "lsm");
    return um::storage_of(variable, file_kind).value().method;
  };
  EXPECT_EQ(method("ta", ""), PpPacking::bits32);
  EXPECT_EQ(method("ta", "none"), PpPacking::none);
  EXPECT_EQ(method("ta", "land"), PpPacking::land32);
  EXPECT_EQ(method("ps", ""), PpPacking::none);
  EXPECT_EQ(method("ps", "32bit"), PpPacking::bits32);
  EXPECT_EQ(method("ps", "sea"), PpPacking::sea);
}

TEST(FieldsFileDefinition, only_what_changes_values_is_packing) {
  const MessageAccuracy* const accuracy = message_accuracy_of(Format::fieldsfile);
  ASSERT_NE(accuracy, nullptr);
  Variable real;
  real.type = Type::float64;
  EXPECT_FALSE(accuracy->packs(real));
  Variable rounded = real;
  rounded.attribute("PP_packing", "32bit");
  EXPECT_TRUE(accuracy->packs(rounded));
  EXPECT_FALSE(accuracy->keep_error(rounded, 0.01));
  Variable exact = real;
  exact.attribute("PP_packing", "none");
  EXPECT_EQ(accuracy->keep_error(exact, 0.01), false);
  EXPECT_EQ(accuracy->keep_error(real, 0.01), true);
  EXPECT_EQ(um::storage_of(real, file_kind).value().accuracy, -6);
}

TEST(FieldsFileDefinition, the_fixed_length_header_says_what_the_schema_says) {
  Schema schema = sound_ff_schema();
  schema.attribute("um_version", "12.1").attribute("FF_run_identifier", 42);
  const FileDescription file = described(schema);
  const packing::FixedHeader& header = file.constants.header;
  EXPECT_EQ(header[FileWord::dataset], 3);
  EXPECT_EQ(header[FileWord::calendar], 2);
  EXPECT_EQ(header[FileWord::staggering], 3);
  EXPECT_EQ(header[FileWord::vertical], 3);
  EXPECT_EQ(header[FileWord::horizontal], 4);
  EXPECT_EQ(header[FileWord::model], 1201);
  EXPECT_EQ(header[FileWord::run], 42);
  EXPECT_EQ(file.constants.integers[5], 4);
  EXPECT_EQ(file.constants.integers[6], 3);
  EXPECT_EQ(file.constants.reals[0], 90);
  EXPECT_EQ(file.constants.reals[1], 30);
  EXPECT_EQ(file.constants.reals[2], -30);
  EXPECT_EQ(file.constants.reals[3], -90);
  EXPECT_EQ(file.constants.reals[4], 90);
  EXPECT_EQ(file.reserved_entries, 4096u);
  schema.attribute("FF_grid_staggering", 6).attribute("FF_reserved_headers", 12);
  EXPECT_EQ(described(schema).constants.reals[2], -45);
  EXPECT_EQ(described(schema).reserved_entries, 12u);
}

TEST(FieldsFileDefinition, levels_have_their_heights_and_coefficients) {
  Schema schema = sound_ff_schema();
  schema.find_variable("plev")->attributes.clear();
  schema.find_variable("plev")->attribute("long_name", "level_height").with_constant(Values({20.0, 80.0}));
  schema.variable("sigma", Type::float64, {"plev"})
      .attribute("long_name", "sigma")
      .with_constant(Values({0.99, 0.95}));
  schema.find_variable("ta")->attribute("coordinates", "sigma");
  const FileDescription file = described(schema);
  EXPECT_EQ(file.constants.header[FileWord::vertical], 5);
  EXPECT_EQ(file.constants.integers[7], 2);
  ASSERT_EQ(file.constants.levels.size(), 8u);
  EXPECT_EQ(file.constants.levels[4], (std::vector{um_missing, 20.0, 80.0}));
  EXPECT_EQ(file.constants.levels[5], (std::vector{um_missing, 0.99, 0.95}));
  EXPECT_EQ(file.constants.levels[6], (std::vector{um_missing, um_missing, um_missing}));
}

TEST(FieldsFileDefinition, irregular_axes_are_constants_of_the_file) {
  Schema schema = sound_ff_schema();
  schema.find_variable("lon")->with_constant(Values({0.0, 1.0, 3.0, 7.0}));
  const FileDescription file = described(schema);
  EXPECT_TRUE(file.variable_resolution);
  ASSERT_EQ(file.constants.columns.size(), 2u);
  EXPECT_EQ(file.constants.columns[0], (std::vector{0.0, 1.0, 3.0, 7.0}));
  EXPECT_EQ(file.constants.rows[1], (std::vector{-30.0, 0.0, 30.0}));
  schema.dimension("lon2", 4);
  schema.variable("lon2", Type::float64, {"lon2"})
      .attribute("units", "degrees_east")
      .with_constant(Values({0.0, 1.0, 3.0, 8.0}));
  schema.find_variable("ps")->dimensions[2] = "lon2";
  const auto refused = model::validate(schema, Format::fieldsfile);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().variable, "ps");
  EXPECT_NE(refused.error().message.find("has another grid than 'ta'"), std::string::npos)
      << refused.error().message;
}

TEST(FieldsFileDefinition, grids_of_end_game_cannot_be_irregular) {
  for (const char* axis : {"lat", "lon"}) {
    Schema schema = sound_ff_schema();
    schema.attribute("FF_grid_staggering", 6);
    EXPECT_TRUE(model::validate(schema, Format::fieldsfile));
    schema.find_variable(axis)->with_constant(axis[1] == 'o' ? Values({0.0, 1.0, 3.0, 7.0})
                                                             : Values({0.0, 1.0, 3.0}));
    const auto refused = model::validate(schema, Format::fieldsfile);
    ASSERT_FALSE(refused) << axis;
    EXPECT_NE(
        refused.error().message.find("the file has the attribute 'FF_grid_staggering' = 6 and irregular"),
        std::string::npos)
        << refused.error().message;
    schema.attribute("FF_grid_staggering", 3);
    EXPECT_TRUE(model::validate(schema, Format::fieldsfile));
  }
}

TEST(FieldsFileDefinition, levels_of_any_number_are_refused_before_their_constants_are_made) {
  Schema schema = sound_ff_schema();
  schema.dimensions[1].length = 3;
  schema.find_variable("plev")->attributes.clear();
  schema.find_variable("plev")
      ->attribute("long_name", "level_height")
      .with_constant(Values({20.0, 80.0, 90.0}));
  schema.variable("sigma", Type::float64, {"plev"})
      .attribute("long_name", "sigma")
      .with_constant(Values({0.99, 0.95, 0.9}));
  schema.variable("number", Type::int32, {"plev"})
      .attribute("standard_name", "model_level_number")
      .with_constant(Values({1, 2, 2147483647}));
  schema.find_variable("ta")->attribute("coordinates", "sigma number");
  schema.attribute("FF_sub_model", 9);
  const auto refused = model::validate(schema, Format::fieldsfile);
  ASSERT_FALSE(refused);
  EXPECT_NE(
      refused.error().text().find("value 2147483647: numbers of levels are whole numbers from 1 to 8887"),
      std::string::npos)
      << refused.error().text();
  EXPECT_NE(refused.error().text().find("FF_sub_model"), std::string::npos) << refused.error().text();
}

TEST(FieldsFileDefinition, winds_on_irregular_rows_have_no_stash_code) {
  Schema schema = sound_ff_schema();
  schema.find_variable("lat")->with_constant(Values({0.0, 1.0, 3.0}));
  Variable& wind = *schema.find_variable("ta");
  wind.attribute("standard_name", "northward_wind").attribute("units", "m s-1");
  packing::PpHeader header = um::describe_slab(um::field_of(schema, wind, file_kind).value(), 0)->header;
  ASSERT_EQ(header[PpInteger::lbuser4], 15202);
  ASSERT_TRUE(enter_code(wind, false, header));
  EXPECT_EQ(header[PpInteger::lbuser4], 15202);
  ASSERT_TRUE(enter_code(wind, true, header));
  EXPECT_EQ(header[PpInteger::lbuser4], 0);
  EXPECT_EQ(header[PpInteger::lbuser7], 0);
  EXPECT_EQ(header[PpInteger::lbfc], 57);
  EXPECT_TRUE(model::validate(schema, Format::fieldsfile));
  wind.attribute("standard_name", "product_of_northward_wind_and_air_temperature")
      .attribute("units", "K m s-1")
      .attribute("PP_stash", "m01s30i224");
  const auto refused = model::validate(schema, Format::fieldsfile);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().variable, "ta");
  EXPECT_NE(refused.error().message.find("the STASH code m01s30i224 of winds"), std::string::npos)
      << refused.error().message;
  wind.attribute("PP_LBFC", 1000);
  EXPECT_TRUE(model::validate(schema, Format::fieldsfile));
  EXPECT_FALSE(is_on_wind_points({1, 16, 203}));
  EXPECT_FALSE(is_on_wind_points({2, 0, 3}));
  EXPECT_TRUE(is_on_wind_points({1, 3, 225}));
}

/// A file in memory.
class MemoryBytes final : public FileBytes {
 public:
  Result<> read(std::uint64_t offset, std::span<std::byte> bytes) override {
    std::fill(bytes.begin(), bytes.end(), std::byte{});
    if (offset < file.size())
      std::memcpy(bytes.data(), file.data() + offset,
                  std::min<std::uint64_t>(bytes.size(), file.size() - offset));
    return {};
  }
  Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    file.resize(std::max<std::uint64_t>(file.size(), offset + bytes.size()));
    std::memcpy(file.data() + offset, bytes.data(), bytes.size());
    if (std::ranges::all_of(bytes, [](std::byte it) { return it == std::byte{}; })) ++writes_of_zeros;
    return {};
  }
  std::vector<std::byte> file;
  unsigned writes_of_zeros = 0;
};

/// An unfinished file of `count` fields, each of one value, of the hours from 0 on.
MemoryBytes unfinished(std::uint64_t count, std::uint64_t reserved) {
  MemoryBytes made;
  made.file = packing::front_of(packing::FileConstants(), reserved);
  const auto header =
      packing::FixedHeader::read(std::span<const std::byte>(made.file).first<packing::fixed_header_bytes>());
  made.file.resize(static_cast<std::size_t>(header[FileWord::data] - 1) * 8);
  for (std::uint64_t i = 0; i < count; ++i) {
    packing::PpHeader entry;
    entry[PpInteger::lbrow] = entry[PpInteger::lbnpt] = entry[PpInteger::lbuser1] = 1;
    entry[PpInteger::lbyr] = 2000;
    entry[PpInteger::lbhr] = static_cast<std::int32_t>(i);
    entry[PpInteger::lbrel] = 2;
    entry[PpInteger::lbday] = 1;
    std::vector<std::byte> message(packing::most_message_bytes({1, 1}, PpPacking::none));
    const std::vector<double> values{static_cast<double>(i)};
    EXPECT_TRUE(packing::encode_message(entry, std::span(values), {}, message));
    made.file.insert(made.file.end(), message.begin(), message.end());
  }
  return made;
}

TEST(FieldsFileSeal, finds_the_fields_and_writes_their_lookup_before_them_if_there_is_room) {
  for (const std::uint64_t count : {0u, 1u, 5u, 6u, 5000u}) {
    const std::uint64_t reserved = count == 5000u ? 4999 : 5;
    MemoryBytes bytes = unfinished(count, reserved);
    const std::uint64_t end = bytes.file.size();
    const auto size = seal(bytes, end);
    ASSERT_TRUE(size) << size.error().text();
    const bool before = count <= reserved;
    EXPECT_EQ(*size, before ? end : end + count * 512);
    EXPECT_EQ(bytes.file.size(), *size);
    const auto header = packing::read_fixed_header(bytes.file);
    ASSERT_TRUE(header) << header.error().text();
    ASSERT_EQ(packing::entries_of(*header), count);
    EXPECT_EQ((*header)[FileWord::lookup] < (*header)[FileWord::data], before);
    EXPECT_EQ((*header)[FileWord::data_words], static_cast<std::int64_t>(count * 512));
    EXPECT_EQ(header->get(24), count == 0 ? packing::um_missing_integer : 0);
    EXPECT_EQ(header->get(31),
              count == 0 ? packing::um_missing_integer : static_cast<std::int64_t>(count) - 1);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto field = packing::read_field(bytes.file, *header, i);
      ASSERT_TRUE(field) << field.error().text();
      std::vector<double> value(1);
      ASSERT_TRUE(packing::decode_field(*field, value));
      ASSERT_EQ(value[0], static_cast<double>(i));
    }
  }
}

TEST(FieldsFileSeal, leaves_no_entries_of_an_interrupted_call) {
  const MemoryBytes whole = unfinished(4000, 4096);
  MemoryBytes bytes = whole;
  ASSERT_TRUE(seal(bytes, bytes.file.size()));
  const auto data =
      static_cast<std::size_t>(packing::read_fixed_header(bytes.file).value()[FileWord::data] - 1) * 8;
  // Killed before its header was written, and recovered to an epoch with 60 fields.
  std::copy_n(whole.file.begin(), packing::fixed_header_bytes, bytes.file.begin());
  bytes.file.resize(data + std::size_t{60} * packing::sector_bytes);
  ASSERT_TRUE(seal(bytes, bytes.file.size()));
  MemoryBytes wanted = unfinished(60, 4096);
  ASSERT_TRUE(seal(wanted, wanted.file.size()));
  EXPECT_EQ(bytes.file, wanted.file);
  EXPECT_EQ(bytes.writes_of_zeros, 2u);
  EXPECT_EQ(wanted.writes_of_zeros, 0u);  // the room that was never used stays a hole
}

TEST(FieldsFileSeal, a_file_has_no_version_before_it_is_complete) {
  MemoryBytes bytes = unfinished(3, 5);
  const auto refused = packing::read_fixed_header(bytes.file);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("the version of the format"), std::string::npos);
  ASSERT_TRUE(seal(bytes, bytes.file.size()));
  EXPECT_TRUE(packing::read_fixed_header(bytes.file));
  ASSERT_TRUE(seal(bytes, bytes.file.size()));  // by a recovery, after the last write of the first call
}

TEST(FieldsFileSeal, refuses_bytes_that_are_no_fields) {
  const auto refusal = [](std::size_t at, std::uint64_t value) {
    MemoryBytes bytes = unfinished(3, 5);
    packing::store_wide_word(bytes.file.data() + at, value);
    const auto size = seal(bytes, bytes.file.size());
    return size ? std::string() : size.error().text();
  };
  const std::size_t last = unfinished(3, 5).file.size() - 512 + 28 * 8;
  EXPECT_EQ(refusal(last, 512), "");
  for (const std::uint64_t size :
       {std::uint64_t{0}, std::uint64_t{511}, std::uint64_t{2048}, ~std::uint64_t{0} - 511})
    EXPECT_NE(refusal(last, size).find("its size is"), std::string::npos) << size;
  for (const std::size_t word : {150u, 152u, 160u})
    EXPECT_NE(refusal((word - 1) * 8, ~std::uint64_t{0}).find("not an unfinished fields file"),
              std::string::npos);
}

}  // namespace
}  // namespace afterbay::storage::fieldsfile
