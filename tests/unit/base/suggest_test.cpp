// SPDX-License-Identifier: Apache-2.0
#include "base/suggest.hpp"

#include <gtest/gtest.h>

namespace afterbay {
namespace {

TEST(EditDistance, CountsEditsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("servers", "servers"), 0U);
  EXPECT_EQ(edit_distance("sever", "server"), 1U);             // insertion
  EXPECT_EQ(edit_distance("servrer", "server"), 1U);           // deletion
  EXPECT_EQ(edit_distance("survey", "server"), 2U);            // replacements
  EXPECT_EQ(edit_distance("tempreature", "temperature"), 1U);  // a swap counts once
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);           // the example from the literature after
                                                               // Wagner and Fischer
}

TEST(EditDistance, IgnoresCase) { EXPECT_EQ(edit_distance("Temperature", "temperATURE"), 0U); }

TEST(Nearest, FindsWhatWasMeant) {
  const std::vector<std::string> names{"temperature", "pressure", "u", "v"};
  EXPECT_EQ(nearest("temprature", names), "temperature");
  EXPECT_EQ(nearest("presure", names), "pressure");
  EXPECT_EQ(nearest("TEMPERATURE", names), "temperature");
}

TEST(Nearest, KeepsQuietWhenNothingIsNear) {
  const std::vector<std::string> names{"temperature", "u"};
  EXPECT_EQ(nearest("salinity", names), std::nullopt);
  EXPECT_EQ(nearest("w", names), std::nullopt);  // one edit from "u", but nothing in common
  EXPECT_EQ(nearest("temperature", {}), std::nullopt);
}

TEST(Nearest, TakesTheFirstOfEquals) {
  const std::vector<std::string> names{"salt", "sale"};
  EXPECT_EQ(nearest("sal", names), "salt");
}

TEST(DidYouMean, GoesBehindAMessage) {
  const std::vector<std::string> names{"servers"};
  EXPECT_EQ(did_you_mean("serves", names), "; did you mean \"servers\"?");
  EXPECT_EQ(did_you_mean("placement", names), "");
}

TEST(OneOf, ReadsAsASentence) {
  EXPECT_EQ(one_of({}), "");
  EXPECT_EQ(one_of(std::vector<std::string>{"a"}), "a");
  EXPECT_EQ(one_of(std::vector<std::string>{"a", "b"}), "a or b");
  EXPECT_EQ(one_of(std::vector<std::string>{"a", "b", "c"}), "a, b or c");
}

}  // namespace
}  // namespace afterbay
