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
  EXPECT_EQ(printable("\xe6\xb0"), "\\xe6\\xb0");           // cut off
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a pair of UTF-16
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

}  // namespace
}  // namespace afterbay
