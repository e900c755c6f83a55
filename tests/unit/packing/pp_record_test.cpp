// SPDX-License-Identifier: Apache-2.0
#include "packing/pp_record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "fields.hpp"
#include "packing/big_endian.hpp"

namespace afterbay::packing {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using I = PpInteger;

PpHeader header_of(const FieldShape& shape, int type = 1) {
  PpHeader header;
  header[I::lbrow] = static_cast<std::int32_t>(shape.rows);
  header[I::lbnpt] = static_cast<std::int32_t>(shape.columns);
  header[I::lbuser1] = type;
  header[I::lbfc] = 16;
  return header;
}

template <class T>
Result<std::vector<std::byte>> encoded(const PpHeader& header, const std::vector<T>& values,
                                       const PpEncoding& encoding,
                                       const std::vector<std::uint32_t>& extra = {}) {
  const FieldShape shape{static_cast<std::size_t>(header[I::lbrow]),
                         static_cast<std::size_t>(header[I::lbnpt])};
  std::vector<std::byte> to(most_pp_bytes(shape, extra.size(), encoding.packing));
  const auto result = encode_pp(header, std::span(values), extra, encoding, to);
  if (!result) return fail(result.error());
  EXPECT_LE(result->bytes, to.size());
  to.resize(result->bytes);
  return to;
}

template <class T>
std::string refusal(const PpHeader& header, const std::vector<T>& values, const PpEncoding& encoding) {
  const auto result = encoded(header, values, encoding);
  return result ? "not refused" : result.error().text();
}

TEST(PpRecord, BytesOfAnUnpackedField) {
  const std::vector<float> values{1, -2, 0.5F, static_cast<float>(um_missing)};
  const auto bytes = encoded(header_of({2, 2}), values, {}, {1001, 0x3f800000});
  ASSERT_TRUE(bytes) << bytes.error().text();
  ASSERT_EQ(bytes->size(), 4U + 256 + 4 + 4 + 24 + 4);
  const auto word = [&](std::size_t at) { return load_word(bytes->data() + at); };
  EXPECT_EQ(word(0), 256U);
  EXPECT_EQ(word(4 + 14 * 4), 6U) << "LBLREC";
  EXPECT_EQ(word(4 + 17 * 4), 2U) << "LBROW";
  EXPECT_EQ(word(4 + 19 * 4), 2U) << "LBEXT";
  EXPECT_EQ(word(4 + 20 * 4), 0U) << "LBPACK";
  EXPECT_EQ(word(4 + 50 * 4), 0xc2c60000U) << "BACC = -99";
  EXPECT_EQ(word(4 + 62 * 4), 0xce800000U) << "BMDI = -2^30";
  EXPECT_EQ(word(260), 256U);
  EXPECT_EQ(word(264), 24U);
  EXPECT_EQ(word(268), 0x3f800000U);
  EXPECT_EQ(word(272), 0xc0000000U);
  EXPECT_EQ(word(280), 0xce800000U);
  EXPECT_EQ(word(284), 1001U);
  EXPECT_EQ(word(292), 24U);
}

TEST(PpRecord, FieldsOfAFileReadBackOneAfterTheOther) {
  std::mt19937_64 generator(21);
  std::vector<std::byte> file;
  std::vector<test::Field<float>> fields;
  for (int i = 0; i < 40; ++i) {
    fields.push_back(test::random_field<float>(generator));
    const PpEncoding encoding{.packing = i % 2 == 0 ? PpPacking::wgdos : PpPacking::none,
                              .accuracy = fields.back().accuracy};
    const auto bytes = encoded(header_of(fields.back().shape), fields.back().values, encoding, {42});
    ASSERT_TRUE(bytes) << bytes.error().text();
    file.insert(file.end(), bytes->begin(), bytes->end());
  }
  std::size_t begin = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto field = read_pp(file, begin);
    ASSERT_TRUE(field) << field.error().text();
    ASSERT_EQ(field->shape(), fields[i].shape);
    ASSERT_EQ(field->extra.size(), 4U);
    std::vector<float> values(fields[i].values.size());
    ASSERT_TRUE(decode_pp(*field, values, -7));
    const double bound = i % 2 == 0 ? std::ldexp(0.5, fields[i].accuracy) : 0;
    for (std::size_t at = 0; at < values.size(); ++at) {
      const float given = fields[i].values[at];
      if (given == static_cast<float>(um_missing)) {
        ASSERT_EQ(values[at], -7);
      } else {
        ASSERT_LE(std::abs(values[at] - given), bound);
      }
    }
    begin = field->end;
  }
  EXPECT_EQ(begin, file.size());
}

TEST(PpRecord, LandAndSeaPoints) {
  const std::vector<std::uint8_t> mask{1, 0, 0, 1, 1, 0};
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  for (const auto& [packing, code, words] : {std::tuple{PpPacking::land, 120, 3}, {PpPacking::sea, 220, 3}}) {
    const auto bytes =
        encoded(header_of({2, 3}), values, {.packing = packing, .land_mask = mask, .drops_others = true});
    ASSERT_TRUE(bytes) << bytes.error().text();
    const auto field = read_pp(*bytes, 0);
    ASSERT_TRUE(field);
    EXPECT_EQ(field->header[I::lbpack], code);
    EXPECT_EQ(field->header[I::lblrec], words);
    std::vector<float> back(6);
    ASSERT_TRUE(decode_pp(*field, back, -1, mask));
    const bool land = packing == PpPacking::land;
    for (std::size_t i = 0; i < mask.size(); ++i) EXPECT_EQ(back[i], (mask[i] != 0) == land ? values[i] : -1);
    EXPECT_THAT(decode_pp(*field, back, -1).error().text(), HasSubstr("give a mask of 6 points"));
  }
  EXPECT_THAT(refusal(header_of({2, 3}), values, {.packing = PpPacking::land, .land_mask = mask}),
              HasSubstr("row 0, column 1 (from 0): the value 2 is not missing"));
  EXPECT_THAT(refusal(header_of({2, 3}), values, {.packing = PpPacking::land}),
              HasSubstr("mask of 6 points"));
}

TEST(PpRecord, IntegersAndLogicalValues) {
  const auto bytes = encoded<float>(header_of({1, 4}, 2), {7, -8, 0, static_cast<float>(um_missing)}, {});
  ASSERT_TRUE(bytes) << bytes.error().text();
  EXPECT_EQ(load_word(bytes->data() + 268), 7U);
  EXPECT_EQ(load_word(bytes->data() + 272), static_cast<std::uint32_t>(-8));
  std::vector<float> back(4);
  ASSERT_TRUE(decode_pp(*read_pp(*bytes, 0), back, -1));
  EXPECT_THAT(back, ElementsAre(7, -8, 0, -1));
  EXPECT_THAT(refusal<float>(header_of({1, 1}, 2), {1.5F}, {}),
              HasSubstr("1.5 is not in the range of a 32-bit integer"));
  EXPECT_THAT(refusal<double>(header_of({1, 1}, 3), {1e10}, {}), HasSubstr("32-bit integer"));
  EXPECT_THAT(refusal<float>(header_of({1, 1}, 2), {1}, {.packing = PpPacking::wgdos}), HasSubstr("LBUSER1"));
}

/// The least one was refused.
TEST(PpRecord, IntegersUpToBothLimitsOf32Bits) {
  const double least = std::numeric_limits<std::int32_t>::min();
  const double most = std::numeric_limits<std::int32_t>::max();
  const auto bytes = encoded<double>(header_of({1, 2}, 2), {least, most}, {});
  ASSERT_TRUE(bytes) << bytes.error().text();
  EXPECT_EQ(load_word(bytes->data() + 268), 0x80000000U);
  EXPECT_EQ(load_word(bytes->data() + 272), 0x7fffffffU);
  for (const double beyond : {least - 1, most + 1})
    EXPECT_THAT(refusal<double>(header_of({1, 1}, 2), {beyond}, {}), HasSubstr("a 32-bit integer"));
}

TEST(PpRecord, MissingValuesOfTheCallerBecomeThoseOfTheFormat) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double missing : {nan, 1e20}) {
    const auto bytes = encoded<double>(header_of({1, 2}), {missing, 1.0 + 1e-9}, {.missing = missing});
    ASSERT_TRUE(bytes) << bytes.error().text();
    std::vector<float> back(2);
    ASSERT_TRUE(decode_pp(*read_pp(*bytes, 0), back));
    EXPECT_THAT(back, ElementsAre(static_cast<float>(um_missing), 1.0F));
  }
  EXPECT_THAT(refusal<float>(header_of({1, 2}), {1, static_cast<float>(um_missing)}, {.missing = 1e20}),
              AllOf(HasSubstr("row 0, column 1"), HasSubstr("BMDI")));
  EXPECT_THAT(refusal<double>(header_of({1, 2}), {1, 1e300}, {}), HasSubstr("range of float32"));
  EXPECT_TRUE(encoded<float>(header_of({1, 1}), {std::numeric_limits<float>::infinity()}, {}));
}

TEST(PpRecord, ErrorsOfRoundingToSinglePrecisionAreReported) {
  std::vector<std::byte> to(most_pp_bytes({1, 1}, 0, PpPacking::none));
  const std::vector<double> values{0.1};
  const auto result = encode_pp(header_of({1, 1}), std::span(values), {}, {}, to);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->largest_error, static_cast<double>(0.1F) - 0.1);
}

TEST(PpRecord, RefusedArguments) {
  EXPECT_THAT(refusal<float>(header_of({2, 2}), {1, 2, 3}, {}),
              AllOf(HasSubstr("LBROW"), HasSubstr("3 values")));
  EXPECT_THAT(refusal<float>(header_of({0, 2}), {}, {}), HasSubstr("0 values"));
  std::vector<std::byte> small(100);
  const std::vector<float> values{1};
  EXPECT_THAT(encode_pp(header_of({1, 1}), std::span(values), {}, {}, small).error().text(),
              HasSubstr("room for 100"));
  EXPECT_THAT(refusal<float>(header_of({1, 1}), {std::numeric_limits<float>::quiet_NaN()},
                             {.packing = PpPacking::wgdos}),
              HasSubstr("row 0, column 0"));
}

TEST(PpRecord, DamagedFilesAreRefused) {
  const std::vector<float> values{1, 2, 3, 4};
  const std::vector<std::byte> bytes = *encoded(header_of({2, 2}), values, {}, {7});
  const auto message = [&](std::size_t at, std::uint32_t word) {
    auto damaged = bytes;
    store_word(damaged.data() + at, word);
    const auto field = read_pp(damaged, 0);
    if (!field) return field.error().text();
    std::vector<float> back(4);
    const auto decoded = decode_pp(*field, back);
    return decoded ? "not refused" : decoded.error().text();
  };
  EXPECT_THAT(message(0, 260), HasSubstr("byte 0: the header"));
  EXPECT_THAT(message(0, 0xffffffff), HasSubstr("are left"));
  EXPECT_THAT(message(260, 255), HasSubstr("256 bytes by its beginning, but 255 by its end"));
  EXPECT_THAT(message(264, 16), HasSubstr("byte 264: the data record"));
  EXPECT_THAT(message(4 + 19 * 4, 6), HasSubstr("LBEXT"));
  EXPECT_THAT(message(4 + 19 * 4, 0xffffffff), HasSubstr("LBEXT"));
  EXPECT_THAT(message(4 + 20 * 4, 4), HasSubstr("LBPACK) is 4"));
  EXPECT_THAT(message(4 + 20 * 4, 1), HasSubstr("WGDOS"));
  EXPECT_THAT(message(4 + 17 * 4, 3), HasSubstr("room for 4"));
  EXPECT_THAT(message(4 + 17 * 4, 0xffffffff), HasSubstr("0 rows"));
  EXPECT_EQ(message(4 + 20 * 4, 2), "not refused");
  EXPECT_THAT(read_pp(bytes, bytes.size()).error().text(), HasSubstr("cut off"));
  EXPECT_FALSE(read_pp(std::span(bytes).first(200), 0));
}

TEST(PpRecord, PackedDataMustHaveTheShapeOfTheHeader) {
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  auto bytes = *encoded(header_of({2, 3}), values, {.packing = PpPacking::wgdos});
  store_word(bytes.data() + 4 + 17 * 4, 3);
  store_word(bytes.data() + 4 + 18 * 4, 2);
  std::vector<float> back(6);
  EXPECT_THAT(decode_pp(*read_pp(bytes, 0), back).error().text(), HasSubstr("3 rows of 2 points"));
}

}  // namespace
}  // namespace afterbay::packing
