// SPDX-License-Identifier: Apache-2.0
#include "base/printable.hpp"

#include <gtest/gtest.h>

namespace afterbay {
namespace {

TEST(BasePrintable, text_of_any_script_stays_as_it_is) {
  for (const char* text : {"", "T2m [K] ~", "Größe", "気温", "\U0001F30D"}) EXPECT_EQ(printable(text), text);
}

TEST(BasePrintable, controls_are_written_out) {
  EXPECT_EQ(printable("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(printable("\x1b[31mred\x7f"), "\\x1b[31mred\\x7f");
  EXPECT_EQ(printable(std::string_view("\0x", 2)), "\\x00x");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");  // CSI as one control character
  EXPECT_EQ(printable("a\xe2\x80\xa8"
                      "b"),
            "a\\xe2\\x80\\xa8"
            "b");  // a line separator
}

TEST(BasePrintable, bytes_that_are_no_utf8_are_written_out) {
  EXPECT_EQ(printable("\xe4t"), "\\xe4t");                  // Latin-1
  EXPECT_EQ(printable("\xe6\xb0"), "\\xe6\\xb0");           // truncated
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a pair of UTF-16
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

TEST(BasePrintable, no_two_names_are_shown_alike) {
  EXPECT_EQ(printable("\\xe4"), "\\\\xe4");
  EXPECT_EQ(printable("\xe4"), "\\xe4");
  EXPECT_EQ(printable_message("\\xe4\n"), "\\xe4\\n");
}

TEST(BasePrintable, names_in_json_can_be_decoded) {
  EXPECT_EQ(utf8_name("Größe\n"), "Größe\n");
  EXPECT_EQ(utf8_name("a\xff"), "a\\xff");
  EXPECT_EQ(utf8_name("a\\xff"), "a\\\\xff");
  for (const std::string name :
       {"", "a\xff", "a\\xff", "\\", "\\\\", "\xc2\x9b\xff\xfe", "气温\xe6\\x", "\\x4"})
    EXPECT_EQ(name_from_utf8(utf8_name(name)), name);
  EXPECT_EQ(name_from_utf8("C:\\run\\x4"), "C:\\run\\x4");  // from journals that did not double them
}

}  // namespace
}  // namespace afterbay
