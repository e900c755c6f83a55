// SPDX-License-Identifier: Apache-2.0
// YAML 1.2's core schema, and what of YAML is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "unit/describe/reading.hpp"

namespace afterbay::describe {
namespace {

using testing::HasSubstr;

ScalarKind kind(std::string_view text) { return scalar_kind(text); }

TEST(DescribeYaml, ScalarsHaveTheMeaningOfTheCoreSchema) {
  for (const char* text : {"", "~", "null", "Null", "NULL"}) EXPECT_EQ(kind(text), ScalarKind::null) << text;
  for (const char* text : {"true", "True", "TRUE", "false", "False", "FALSE"})
    EXPECT_EQ(kind(text), ScalarKind::boolean) << text;
  for (const char* text : {"0", "-12", "+7", "007", "0o17", "0x1F"})
    EXPECT_EQ(kind(text), ScalarKind::integer) << text;
  for (const char* text : {"1.", ".5", "-1.5e-3", "1e5", ".inf", "-.Inf", "+.INF", ".nan"})
    EXPECT_EQ(kind(text), ScalarKind::real) << text;
  for (const char* text :
       {"NO",    "no", "No",  "yes", "on", "off", "y",  "n",   "tRUE", "nULL",  "0b1",        "1_000",
        "12:30", "0x", "0o8", "1e",  ".",  "-",   "e5", "inf", "nan",  "-.nan", "2000-01-01", "1d"})
    EXPECT_EQ(kind(text), ScalarKind::text) << text;
}

TEST(DescribeYaml, NumbersHaveTheirValues) {
  std::int64_t value = 0;
  EXPECT_TRUE(integer_of("0o17", value));
  EXPECT_EQ(value, 15);
  EXPECT_TRUE(integer_of("0xff", value));
  EXPECT_EQ(value, 255);
  EXPECT_TRUE(integer_of("+12", value));
  EXPECT_EQ(value, 12);
  EXPECT_FALSE(integer_of("9223372036854775808", value));
  EXPECT_EQ(real_of("-1.5e3"), -1500);
  EXPECT_EQ(real_of("+.5"), 0.5);
  EXPECT_EQ(real_of("1e999"), HUGE_VAL);
  EXPECT_EQ(real_of("1e-999"), 0);
  EXPECT_EQ(real_of("-.inf"), -HUGE_VAL);
  EXPECT_TRUE(std::isnan(real_of(".nan")));
}

TEST(DescribeYaml, AFieldMayBeCalledNO) {
  const Description it = described("files: {chem: {every: 1d, mean: [NO, on, yes, \"true\", NO2: no]}}");
  EXPECT_EQ(names_in(file_of(it, "chem")), "NO on yes true NO2>no");
}

TEST(DescribeYaml, QuotedScalarsAreText) {
  EXPECT_EQ(refusal("files: {a: {every: 1d, mean: tas, bounds: \"true\"}}"),
            "d.yaml:1:43: bounds: expected true or false, found \"true\"");
  EXPECT_EQ(refusal("files: {a: {every: 1d, mean: tas, detail: '1'}}"),
            "d.yaml:1:43: detail: expected an integer from 0 to 1000, found \"1\"");
  EXPECT_EQ(
      refusal("files: {a: {every: 1d, mean: [true, 3]}}"),
      "d.yaml:1:31: mean: expected the name of a field, found the boolean true; put it in quotes if it is "
      "one\n"
      "d.yaml:1:37: mean: expected the name of a field, found the number 3; put it in quotes if it is one");
  EXPECT_EQ(refusal("files: {true: {every: 1d, mean: tas}}"),
            "d.yaml:1:9: files: \"true\" is not text in YAML; put it in quotes");
}

TEST(DescribeYaml, KeysThatOccurTwiceAreRefusedAtEveryDepth) {
  EXPECT_EQ(refusal("files:\n  a: {every: 1d, mean: tas, every: 2d}\n"),
            "d.yaml:2:29: \"every\" is given twice, first at d.yaml:2:7; remove one");
  EXPECT_EQ(refusal("case: a\ncase: b\n"),
            "d.yaml:2:1: \"case\" is given twice, first at d.yaml:1:1; remove one");
}

TEST(DescribeYaml, AnchorsAliasesMergeKeysAndTagsAreRefused) {
  EXPECT_THAT(refusal("defaults: &a {split: 1mo}\n"),
              HasSubstr("YAML anchors (&name) are not accepted; use like:"));
  EXPECT_THAT(refusal("defaults: &a {split: 1mo}\nfiles: {b: *a}\n"),
              HasSubstr("YAML aliases (*name) are not accepted"));
  EXPECT_THAT(refusal("files: {a: {<<: {every: 1d}}}"), HasSubstr("YAML merge keys (<<) are not accepted"));
  EXPECT_THAT(refusal("case: !!int 3\n"),
              HasSubstr("the YAML tag \"tag:yaml.org,2002:int\" is not accepted"));
  EXPECT_EQ(described("case: !!str 3\n").case_name, "3");
}

TEST(DescribeYaml, WhatIsNotOneDocumentIsRefusedWithItsPlace) {
  EXPECT_THAT(refusal("files: [\n"), HasSubstr("d.yaml:2:1: this is not YAML: "));
  EXPECT_THAT(refusal("files:\n\ta: 1\n"), HasSubstr("d.yaml:2:1: the line is indented with a tab"));
  EXPECT_THAT(refusal("case: a\n---\ncase: b\n"), HasSubstr("expected one YAML document"));
  EXPECT_THAT(refusal("[a, b]"),
              HasSubstr("expected include:, case:, state:, defaults:, fields:, grids:, groups: or files:"));
  EXPECT_THAT(refusal("case: \"a\xff\"\n"),
              HasSubstr("d.yaml:1:9: the file is not UTF-8: found the byte 0xff"));
  EXPECT_THAT(refusal(std::string("case: a\0b\n", 10)), HasSubstr("control character 0x00"));
  EXPECT_THAT(refusal("files: {[a]: b}"), HasSubstr("expected a name before the colon, found a list"));
  EXPECT_EQ(refusal(""), "accepted");
  EXPECT_EQ(refusal("# nothing\n"), "accepted");
}

TEST(DescribeYaml, HostileTextsEndQuickly) {
  EXPECT_THAT(refusal(std::string(100'000, '[')), HasSubstr("nested more than 50 deep"));
  EXPECT_THAT(refusal("a: " + std::string(100'000, '{')), HasSubstr("nested more than 50 deep"));
  EXPECT_THAT(refusal(std::string(5 << 20, ' ')), HasSubstr("more than 4 MiB"));
  std::string many = "case: [";
  for (int i = 0; i < 600'000; ++i) many += "a,";
  EXPECT_THAT(refusal(many + "a]"), HasSubstr("more than 500000 values"));
  // 2^40 fields by groups of groups
  std::string bomb = "groups:\n  g0: [a, b]\n";
  for (int i = 1; i < 30; ++i)
    bomb += "  g" + std::to_string(i) + ": [group(g" + std::to_string(i - 1) + "), group(g" +
            std::to_string(i - 1) + ")]\n";
  EXPECT_THAT(refusal(bomb), HasSubstr("more than 500000 variables and keys"));
}

TEST(DescribeYaml, WritingAndReadingGivesTheSameText) {
  for (const std::string text :
       {"plain",      "NO",          "true", "3",  "1.5", "~",     "",          " a",          "a ",
        "a: b",       "a # b",       "[a",   "-",  "- a", "\"q\"", "tab\there", "back\\slash", "Zürich",
        "{x}",        "%",           "*a",   "&a", "!a",  "|",     ">",         "a,b",         "1d",
        "2000-01-01", "line\nbreak", "<<",   "?",  "@a",  "`a",    "0x1F",      ".inf"}) {
    Node node;
    node.add("key", Node::text(text));
    node.add("list", Node::sequence({Node::text(text), Node::text(text)}));
    Problems problems;
    for (const std::string& written : {write_yaml(node), write_json(node)}) {
      const auto read = parse_yaml(written, "w", problems);
      ASSERT_TRUE(read && problems.empty()) << written << (problems.empty() ? "" : problems.error().message);
      EXPECT_EQ(read->find("key")->characters(), text) << written;
      EXPECT_EQ(read->find("key")->kind(), ScalarKind::text) << written;
      EXPECT_EQ(read->find("list")->items().at(1).characters(), text) << written;
    }
  }
}

}  // namespace
}  // namespace afterbay::describe
