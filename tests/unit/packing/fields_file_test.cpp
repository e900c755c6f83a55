// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "packing/fields_file.hpp"

namespace afterbay::packing {
namespace {

using testing::HasSubstr;
using I = PpInteger;

PpHeader lookup_header_of(const FieldShape& shape, int type = 1) {
  PpHeader header;
  header[I::lbrow] = static_cast<std::int32_t>(shape.rows);
  header[I::lbnpt] = static_cast<std::int32_t>(shape.columns);
  header[I::lbuser1] = type;
  header[I::lbyr] = 2026;
  return header;
}

template <class T>
Result<std::vector<std::byte>> message_of(const PpHeader& header, const std::vector<T>& values,
                                          const PpEncoding& encoding) {
  std::vector<std::byte> to(most_message_bytes(shape_of(header), encoding.packing), std::byte{0xff});
  const auto encoded = encode_message(header, std::span(values), encoding, to);
  if (!encoded) return fail(encoded.error());
  to.resize(encoded->bytes);
  return to;
}

/// A file of one message, with the lookup where it has room.
std::vector<std::byte> file_of(const std::vector<std::byte>& message) {
  std::vector<std::byte> file = front_of(FileConstants(), 1);
  const FixedHeader header = FixedHeader::read(std::span<const std::byte>(file).first<fixed_header_bytes>());
  const auto data = static_cast<std::size_t>(header[FileWord::data] - 1) * wide_word_bytes;
  store_wide_word(file.data(), file_version);
  const std::size_t lookup = file.size();
  file.resize(data);
  file.insert(file.end(), message.begin(), message.end());
  std::copy(message.end() - static_cast<std::ptrdiff_t>(lookup_bytes), message.end(),
            file.begin() + static_cast<std::ptrdiff_t>(lookup));
  store_wide_word(file.data() + lookup + 28 * wide_word_bytes, data / wide_word_bytes);
  return file;
}

PpHeader copied_entry(const std::vector<std::byte>& message) {
  return PpHeader::read_lookup(std::span(message).last<lookup_bytes>());
}

TEST(FieldsFile, LookupsHave64BitsPerWord) {
  PpHeader header = lookup_header_of({3, 4});
  header[PpReal::bdx] = 0.1;
  header[I::lbuser4] = -7;
  std::vector<std::byte> bytes(lookup_bytes);
  header.write_lookup(std::span(bytes).first<lookup_bytes>());
  EXPECT_EQ(static_cast<std::int64_t>(load_wide_word(bytes.data() + 41 * 8)), -7);
  EXPECT_EQ(std::bit_cast<double>(load_wide_word(bytes.data() + 61 * 8)), 0.1);
  EXPECT_EQ(PpHeader::read_lookup(std::span<const std::byte>(bytes).first<lookup_bytes>()), header);
}

TEST(FieldsFile, MessagesEndAtSectorsWithACopyOfTheirEntry) {
  for (const std::size_t columns : {1u, 448u, 449u, 512u, 513u, 1024u}) {
    const std::vector<double> values(columns, 1.5);
    const auto message = message_of(lookup_header_of({1, columns}), values, {});
    ASSERT_TRUE(message) << message.error().text();
    EXPECT_EQ(message->size() % sector_bytes, 0u);
    const PpHeader copy = copied_entry(*message);
    EXPECT_EQ(copy[I::lblrec], static_cast<int>(columns));
    EXPECT_EQ(copy[I::lbnrec], static_cast<int>((columns + 511) / 512 * 512));
    EXPECT_EQ(copy[I::lbegin], static_cast<int>(message->size() / 8));
    EXPECT_EQ(message->size(), (columns * 8 + 512 + 4095) / 4096 * 4096);
  }
}

TEST(FieldsFile, ValuesAreExactUnlessTheyArePacked) {
  const std::vector<double> values{0.1, -2, um_missing * 2, 1e300, 5, 6};
  const auto message = message_of(lookup_header_of({2, 3}), values, {.missing = -2});
  ASSERT_TRUE(message) << message.error().text();
  const std::vector<std::byte> file = file_of(*message);
  const auto header = read_fixed_header(file);
  ASSERT_TRUE(header) << header.error().text();
  ASSERT_EQ(entries_of(*header), 1u);
  EXPECT_FALSE(is_unused(file, *header, 0));
  const auto field = read_field(file, *header, 0);
  ASSERT_TRUE(field) << field.error().text();
  std::vector<double> back(6);
  ASSERT_TRUE(decode_field(*field, back, -99));
  EXPECT_THAT(back, testing::ElementsAre(0.1, -99, um_missing * 2, 1e300, 5, 6));
  EXPECT_EQ(field->header[PpReal::bmdi], um_missing);
}

TEST(FieldsFile, RealsOf32BitsAreCountedAsSuch) {
  const std::vector<float> values{0.1F, 2, 3};
  const auto message = message_of(lookup_header_of({1, 3}), values, {.packing = PpPacking::bits32});
  ASSERT_TRUE(message);
  EXPECT_EQ(copied_entry(*message)[I::lblrec], 3);
  EXPECT_EQ(copied_entry(*message)[I::lbpack], 2);
  EXPECT_EQ(load_word(message->data()), std::bit_cast<std::uint32_t>(0.1F));
  const std::vector<double> large{1e300};
  EXPECT_THAT(message_of(lookup_header_of({1, 1}), large, {.packing = PpPacking::bits32}).error().text(),
              HasSubstr("range of float32"));
}

TEST(FieldsFile, PackedFieldsTakeWholeWords) {
  std::vector<float> values(30);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * i) / 3;
  const auto message =
      message_of(lookup_header_of({5, 6}), values, {.packing = PpPacking::wgdos, .accuracy = -4});
  ASSERT_TRUE(message);
  const auto packed = wgdos_header(*message);
  ASSERT_TRUE(packed);
  EXPECT_EQ(copied_entry(*message)[I::lblrec], static_cast<int>((packed->bytes + 7) / 8));
  EXPECT_EQ(copied_entry(*message)[PpReal::bacc], -4);
  const std::vector<std::byte> file = file_of(*message);
  std::vector<double> back(30);
  ASSERT_TRUE(decode_field(*read_field(file, *read_fixed_header(file), 0), back));
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(back[i], static_cast<double>(values[i]), 1.0 / 32);
}

TEST(FieldsFile, IntegersHave64Bits) {
  const auto message = message_of<double>(lookup_header_of({1, 3}, 2), {-8, 4294967295.0, um_missing}, {});
  ASSERT_TRUE(message) << message.error().text();
  EXPECT_EQ(static_cast<std::int64_t>(load_wide_word(message->data())), -8);
  EXPECT_EQ(load_wide_word(message->data() + 8), 4294967295u);
  EXPECT_THAT(message_of<double>(lookup_header_of({1, 1}, 2), {1e17}, {}).error().text(),
              HasSubstr("64-bit integer"));
  EXPECT_THAT(
      message_of<double>(lookup_header_of({1, 1}, 2), {1}, {.packing = PpPacking::bits32}).error().text(),
      HasSubstr("LBUSER1"));
}

TEST(FieldsFile, LandAndSeaPointsHaveNoShapeOfTheirOwn) {
  const std::vector<float> values{1, 2, 3, 4};
  const std::vector<std::uint8_t> mask{1, 0, 1, 1};
  for (const auto& [packing, bytes] : {std::pair{PpPacking::land, 24u},
                                       {PpPacking::land32, 12u},
                                       {PpPacking::sea, 8u},
                                       {PpPacking::sea32, 4u}}) {
    const auto message = message_of(lookup_header_of({2, 2}), values,
                                    {.packing = packing, .land_mask = mask, .drops_others = true});
    ASSERT_TRUE(message) << message.error().text();
    const PpHeader copy = copied_entry(*message);
    EXPECT_EQ(copy[I::lbrow], 0);
    EXPECT_EQ(copy[I::lbnpt], 0);
    EXPECT_EQ(copy[I::lblrec], static_cast<int>(bytes / (bytes == 24u || bytes == 8u ? 8 : 4)));
    const std::vector<std::byte> file = file_of(*message);
    std::vector<double> back(4);
    ASSERT_TRUE(decode_field(*read_field(file, *read_fixed_header(file), 0), back, -1, mask));
    if (packing == PpPacking::land || packing == PpPacking::land32)
      EXPECT_THAT(back, testing::ElementsAre(1, -1, 3, 4));
    else
      EXPECT_THAT(back, testing::ElementsAre(-1, 2, -1, -1));
  }
}

TEST(FieldsFile, TheFrontHasItsAddresses) {
  FileConstants constants;
  constants.reals[0] = 1.25;
  constants.levels.assign(level_constants, std::vector<double>{1, 2, 3});
  const std::vector<std::byte> front = front_of(constants, 10);
  const FixedHeader header = FixedHeader::read(std::span(front).first<fixed_header_bytes>());
  EXPECT_EQ(header[FileWord::version], 0);  // until the file is complete
  EXPECT_EQ(header[FileWord::integers], 257);
  EXPECT_EQ(header.get(101), 46);
  EXPECT_EQ(header[FileWord::reals], 257 + 46);
  EXPECT_EQ(std::bit_cast<double>(load_wide_word(front.data() + (256 + 46) * 8)), 1.25);
  EXPECT_EQ(header[FileWord::levels], 257 + 46 + 38);
  EXPECT_EQ(header.get(111), 3);
  EXPECT_EQ(header.get(112), 8);
  EXPECT_EQ(header[FileWord::rows], um_missing_integer);
  EXPECT_EQ(header[FileWord::lookup], 257 + 46 + 38 + 24);
  EXPECT_EQ(front.size(), static_cast<std::size_t>(256 + 46 + 38 + 24) * 8);
  EXPECT_EQ(header[FileWord::data], 1024 + 1);  // 364 + 640 words, and the next sector
}

TEST(FieldsFile, DamagedFilesAreRefused) {
  const std::vector<std::byte> sound = file_of(*message_of<double>(lookup_header_of({1, 2}), {1, 2}, {}));
  const auto refusal = [&](std::size_t word, std::int64_t value) {
    std::vector<std::byte> file = sound;
    store_wide_word(file.data() + (word - 1) * 8, static_cast<std::uint64_t>(value));
    const auto header = read_fixed_header(file);
    if (!header) return header.error().text();
    const auto field = read_field(file, *header, 0);
    return field ? std::string() : field.error().text();
  };
  const std::size_t lookup = 257 + 46 + 38;
  EXPECT_EQ(refusal(1, 20), "");
  EXPECT_THAT(refusal(1, 19), HasSubstr("the version of the format"));
  EXPECT_THAT(refusal(5, 1), HasSubstr("the kind of file"));
  EXPECT_THAT(refusal(151, 128), HasSubstr("words per entry"));
  for (const std::int64_t value :
       {std::int64_t{-1}, std::int64_t{1} << 62, std::numeric_limits<std::int64_t>::min()}) {
    EXPECT_THAT(refusal(152, value), HasSubstr("the lookup has"));
    EXPECT_THAT(refusal(150, value), HasSubstr("the lookup has"));
    EXPECT_THAT(refusal(lookup + 28, value), HasSubstr("LBNREC, LBEGIN"));
    EXPECT_THAT(refusal(lookup + 29, value), HasSubstr("LBNREC, LBEGIN"));
  }
  EXPECT_THAT(read_fixed_header(std::span(sound).first(2000)).error().text(), HasSubstr("cut off"));
}

TEST(FieldsFile, RefusedArguments) {
  std::vector<std::byte> small(4095);
  const std::vector<double> values{1};
  EXPECT_THAT(encode_message(lookup_header_of({1, 1}), std::span(values), {}, small).error().text(),
              HasSubstr("room for 4095"));
  EXPECT_THAT(message_of<double>(lookup_header_of({1, 2}), {1, 2, 3}, {}).error().text(), HasSubstr("LBROW"));
}

}  // namespace
}  // namespace afterbay::packing
