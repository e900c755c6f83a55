// SPDX-License-Identifier: Apache-2.0
#include "base/units.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace afterbay {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(Bytes, ReadsUnits) {
  EXPECT_EQ(parse_bytes("0").value(), 0U);
  EXPECT_EQ(parse_bytes("4096").value(), 4096U);
  EXPECT_EQ(parse_bytes("4096B").value(), 4096U);
  EXPECT_EQ(parse_bytes("4MiB").value(), std::uint64_t{4} << 20);
  EXPECT_EQ(parse_bytes(" 4 mib ").value(), std::uint64_t{4} << 20);
  EXPECT_EQ(parse_bytes("2kB").value(), 2000U);
  EXPECT_EQ(parse_bytes("1TB").value(), 1'000'000'000'000U);
  EXPECT_EQ(parse_bytes("1.5GiB").value(), std::uint64_t{3} << 29);
  EXPECT_EQ(parse_bytes("18446744073709551615").value(), ~std::uint64_t{0});
}

TEST(Bytes, RefusesWhatIsNoSize) {
  for (const char* text :
       {"", "MiB", "four", "4 bananas", "4M", "-1", "1e3", "0x10", "4MiB4", "1.2.3", "."}) {
    const auto result = parse_bytes(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().code, ErrorCode::wrong_type) << text;
    EXPECT_THAT(result.error().message, HasSubstr("is not a size")) << text;
    EXPECT_THAT(result.error().message, HasSubstr("as in 4MiB")) << text;
  }
}

TEST(Bytes, RefusesFractionsAndOverflow) {
  for (const char* text :
       {"0.3B", "1.0000001KiB", "18446744073709551616", "16777216TiB", "99999999999.5TiB"}) {
    const auto result = parse_bytes(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().code, ErrorCode::invalid_argument) << text;
    EXPECT_THAT(result.error().message, HasSubstr("whole number of bytes")) << text;
  }
}

TEST(Bytes, PrintsExactly) {
  EXPECT_EQ(print_bytes(0), "0B");
  EXPECT_EQ(print_bytes(1000), "1000B");
  EXPECT_EQ(print_bytes(1024), "1KiB");
  EXPECT_EQ(print_bytes(1536), "1536B");
  EXPECT_EQ(print_bytes(std::uint64_t{3} << 29), "1536MiB");
  EXPECT_EQ(print_bytes(std::uint64_t{512} << 20), "512MiB");
  for (const std::uint64_t bytes :
       {std::uint64_t{1}, std::uint64_t{7168}, std::uint64_t{5} << 30, ~std::uint64_t{0}}) {
    EXPECT_EQ(parse_bytes(print_bytes(bytes)).value(), bytes);
  }
}

TEST(Bytes, PrintsRounded) {
  EXPECT_EQ(print_about(0), "0 B");
  EXPECT_EQ(print_about(1023), "1023 B");
  EXPECT_EQ(print_about(1536), "1.5 KiB");
  EXPECT_EQ(print_about(std::uint64_t{512} << 20), "512.0 MiB");
  EXPECT_EQ(print_about(std::uint64_t{3} << 60), "3.0 EiB");
  EXPECT_EQ(in_binary_unit(1e30).unit, "EiB") << "there is no larger unit";
}

TEST(Durations, ReadsUnits) {
  EXPECT_EQ(parse_duration("500ms").value(), 500ms);
  EXPECT_EQ(parse_duration("60s").value(), 60s);
  EXPECT_EQ(parse_duration("1.5 s").value(), 1500ms);
  EXPECT_EQ(parse_duration("2min").value(), 2min);
  EXPECT_EQ(parse_duration("3h").value(), 3h);
  EXPECT_EQ(parse_duration("0").value(), 0ms);
}

TEST(Durations, RefusesWhatIsNoDuration) {
  for (const char* text : {"", "60", "s", "60 seconds", "-1s", "1m", "forever"}) {
    const auto result = parse_duration(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().code, ErrorCode::wrong_type) << text;
    EXPECT_THAT(result.error().message, HasSubstr("500ms or 60s")) << text;
  }
  EXPECT_EQ(parse_duration("0.5ms").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(parse_duration("99999999999999999h").error().code, ErrorCode::invalid_argument);
}

TEST(Durations, PrintsExactly) {
  EXPECT_EQ(print_duration(0ms), "0s");
  EXPECT_EQ(print_duration(1500ms), "1500ms");
  EXPECT_EQ(print_duration(90s), "90s");
  EXPECT_EQ(print_duration(60s), "1min");
  EXPECT_EQ(print_duration(24h), "24h");
}

}  // namespace
}  // namespace afterbay
