// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "output/model_definitions.hpp"

namespace afterbay::output {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Something of every kind.
FieldDefinitions example() {
  FieldDefinitions made;
  CoordinateOptions of_lat{.units = "degrees_north", .standard_name = "latitude"};
  of_lat.bounds = std::vector<double>{-90, -30, -30, 30, 30, 90};
  made.add(Dimension{"lat", 3, Values(std::vector<double>{-60, 0.1, 60}), of_lat});
  made.add(
      Dimension{"lev", 2, Values(std::vector<float>{0.1F, 2.5F}), {.attributes = {{"positive", "down"}}}});
  made.add(Dimension{"cell", 10, {}, {}});
  made.add(Dimension{"nv", 4, {}, {}});
  made.add(Grid{"atm", {"lat"}, "blocks"});
  made.add(Grid{"mesh", {"cell"}, "maps"});
  made.add(Grid{"all", {"lat"}, ""});
  made.add(Coordinate{"height", {}, {}, Values(2.0), {.units = "m", .long_name = "a \"quoted\": name"}});
  made.add(Coordinate{"label", {"lev"}, {}, Values(std::vector<std::string>{"a", "b"}), {}});
  CoordinateOptions with_vertices;
  with_vertices.vertices = "nv";
  made.add(Coordinate{"corners", {}, "mesh", Values(std::vector<double>{1, 2, 3, 4}), with_vertices});
  made.add(Field{"tas", {.grid = "atm", .units = "1", .fill = Values(-999.5F)}});
  made.add(Field{"large",
                 {.grid = "mesh",
                  .axes = {"lev"},
                  .type = Type::uint64,
                  .fill = Values(std::numeric_limits<std::uint64_t>::max())}});
  made.add(Field{"least", {.type = Type::int64, .fill = Values(std::numeric_limits<std::int64_t>::min())}});
  made.add(
      Field{"nan",
            {.type = Type::float64,
             .fill = Values(std::numeric_limits<double>::quiet_NaN()),
             .attributes = {{"flags", Values(std::vector<std::int32_t>{1, 2})}, {"scale", Values(0.5)}}}});
  return made;
}

const GridKinds kinds{{"atm", "block"}, {"mesh", "map"}, {"all", "whole"}};

OutputOptions example_time() {
  OutputOptions options;
  options.calendar = Calendar("noleap");
  options.start = options.calendar.parse("2000-01-01T06:30");
  options.step = Period::parse("90s");
  return options;
}

TEST(OutputDefinitions, TextsAreUtf8) {
  const auto message_of = [](auto item) -> std::string {
    FieldDefinitions made = example();
    try {
      made.add(std::move(item));
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), ErrorCode::invalid_argument);
      return failure.error().message;
    }
    return "none";
  };
  EXPECT_EQ(message_of(Field{"t", {.units = "\u00b0C"}}), "none");
  EXPECT_THAT(message_of(Field{"t",
                               {.units = "\xb0"
                                         "C"}}),
              HasSubstr("field 't': its units must be UTF-8, but \"\\xb0C\" has the byte 0xb0 at 0"));
  EXPECT_THAT(message_of(Field{"t\xfc", {}}), HasSubstr("field 't\\xfc': its name"));
  EXPECT_THAT(message_of(Field{"t", {.long_name = "t\xfc"}}), HasSubstr("its long_name"));
  EXPECT_THAT(message_of(Field{"t", {.attributes = {{"comment", "t\xfc"}}}}),
              HasSubstr("its attribute comment"));
  EXPECT_THAT(message_of(Coordinate{"x", {}, {}, Values(1.0), {.standard_name = "t\xfc"}}),
              HasSubstr("coordinate 'x': its standard_name"));
  EXPECT_THAT(message_of(Dimension{"x", 2, {}, {.units = "\xb5m"}}), HasSubstr("dimension 'x'"));
}

TEST(OutputDefinitions, WhatIsReadIsWrittenAlike) {
  OutputOptions options = example_time();
  options.reference = options.calendar.parse("1850-01-01");
  options.member = -3;
  const std::string text = write_definitions(example(), options, kinds, {7, 2});
  const auto read = read_definitions_text(text, "m.yaml");
  ASSERT_TRUE(read) << read.error().message << "\n" << text;
  EXPECT_EQ(write_definitions(read->definitions, read->options, kinds, read->processes), text);
  EXPECT_EQ(read->processes, (Processes{7, 2}));
  EXPECT_EQ(read->options.start, options.start);
  EXPECT_EQ(read->options.reference, options.reference);
  EXPECT_EQ(read->options.member, options.member);
  EXPECT_EQ(read->options.step, options.step);
  EXPECT_EQ(read->options.calendar.name(), "noleap");
  const FieldDefinitions given = example();
  const FieldDefinitions& found = read->definitions;
  EXPECT_EQ(found.dimension("lat").values, given.dimension("lat").values);
  EXPECT_EQ(found.dimension("lev").values, given.dimension("lev").values) << "float32, exactly";
  EXPECT_EQ(found.dimension("lat").options.bounds.count(), 6U);
  EXPECT_EQ(found.find_field("large")->options.fill, given.find_field("large")->options.fill);
  EXPECT_EQ(found.find_field("least")->options.fill, given.find_field("least")->options.fill);
  EXPECT_TRUE(found.grid("all").decomposition.empty());
  EXPECT_FALSE(found.grid("mesh").decomposition.empty());
  EXPECT_EQ(found.coordinates()[1].values.count(), 2U);
  EXPECT_EQ(found.coordinates()[2].values.count(), 0U) << "of a rank without points";
}

TEST(OutputDefinitions, KeepRulesOfCalendars) {
  OutputOptions options;
  options.calendar = Calendar(CalendarRules{{10, 20, 30}, 3, 2, 50'000});
  options.step = Period::parse("1h");
  const std::string text = write_definitions({}, options, {}, {});
  EXPECT_THAT(text, HasSubstr("month_lengths: [10, 20, 30]"));
  const auto read = read_definitions_text(text, "m.yaml");
  ASSERT_TRUE(read) << read.error().message;
  for (std::int64_t year = 1; year <= 4; ++year)
    EXPECT_EQ(read->options.calendar.days_in_year(year), year == 3 ? 61 : 60);
  EXPECT_EQ(read->options.calendar.days_in_month(3, 2), 21);
  EXPECT_EQ(read->options.calendar.day_seconds(), 50'000);
}

TEST(OutputDefinitions, LeaveOutManyValues) {
  const auto with_values = [](std::size_t count) {
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = 0.1 * static_cast<double>(i);
    FieldDefinitions made;
    made.add(Dimension{"x", count, Values(values), {}});
    return made;
  };
  const FieldDefinitions fits = with_values(most_values_on_file);
  const auto all = read_definitions_text(write_definitions(fits, example_time(), {}, {}), "m.yaml");
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->definitions.dimension("x").values, fits.dimension("x").values);
  const std::string text = write_definitions(with_values(most_values_on_file + 1), example_time(), {}, {});
  EXPECT_LT(text.size(), 1000U);
  const auto none = read_definitions_text(text, "m.yaml");
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_FALSE(none->definitions.dimension("x").has_known_values);
  EXPECT_EQ(none->definitions.dimension("x").values.count(), most_values_on_file + 1);
}

constexpr const char* head = "version: 1\ntime: {start: 2000-01-01, step: 6h}\n";

std::string problems_of(const std::string& text) {
  const auto read = read_definitions_text(text, "m.yaml");
  return read ? "" : read.error().message;
}

TEST(OutputDefinitions, NeedVersionAndTimeOnly) { EXPECT_EQ(problems_of(head), ""); }

TEST(OutputDefinitions, ReportPlacesOfProblems) {
  const auto expect = [](const std::string& text, const std::string& problem) {
    EXPECT_THAT(problems_of(text), HasSubstr("m.yaml:" + problem)) << text;
  };
  expect("", "1:1: expected the definitions of a model");
  expect("[1]", "1:1: expected the definitions of a model, the keys version");
  expect("files: {}\n", "1:1: unknown key \"files\"");
  expect("version: 2\ntime: {start: 2000-01-01, step: 6h}\n",
         "1:10: version: expected 1, found the number 2");
  expect("version: 1\n", "1:1: time: missing");
  expect("version: 1\ntime: {step: 6h}\n", "2:7: time: start is missing");
  expect("version: 1\ntime: {start: 2000-01-01}\n", "2:7: time: step is missing");
  expect("version: 1\ntime: {start: 2000-02-30, step: 6h}\n", "2:7: ");
  expect("version: 1\ntime: {start: 2000-01-01, step: 6x}\n", "2:33: step: \"6x\" is not a period");
  expect("version: 1\ntime: {start: 2000-01-01, step: 1mo1d}\n",
         "2:33: step: 1mo1d mixes months or years with days");
  expect("version: 1\ntime: {calendar: maya, start: 2000-01-01, step: 6h}\n", "2:7: ");
  const auto expect_after = [&](const std::string& line, const std::string& problem) {
    expect(std::string(head) + line + "\n", "3:" + problem);
  };
  expect_after("dimensions: {x: {lenght: 3}}",
               "18: unknown key \"lenght\" of a dimension; did you mean \"length\"?");
  expect_after("dimensions: {x: 3}", "17: x: expected indented keys of a dimension, found the number 3");
  expect_after("dimensions: {x: {length: 0}}", "26: length: expected an integer from 1 to");
  expect_after("dimensions: {x: {}}", "14: dimension 'x': give its length");
  expect_after("dimensions: {x: {length: 3, type: float64, values: [1, 2]}}",
               "14: dimension 'x' has the length 3");
  expect_after("dimensions: {x: {values: [1, 2]}}", "14: dimension 'x': give the type of its values");
  expect_after("dimensions: {x: {type: int8, values: [1, 200]}}",
               "14: 'x' has a value that int8 cannot hold");
  expect_after("dimensions: {x: {type: float64, values: [1, 1]}}", "14: dimension 'x': values 1 and 2");
  expect_after("dimensions: {x: {type: float64, length: 900000000000}}",
               "14: dimension 'x': a coordinate can have");
  expect_after("grids: {g: {dimensions: [x], kind: block}}", "9: there is no dimension 'x'");
  expect(std::string(head) + "dimensions: {x: {length: 3}}\ngrids: {g: {dimensions: [x]}}\n",
         "4:9: grid 'g': say how it is distributed");
  expect(std::string(head) +
             "dimensions: {x: {length: 3}}\ngrids: {g: {dimensions: [x], lengths: [4], kind: map}}\n",
         "4:9: grid 'g': its lengths are 4, but its dimensions have 3");
  expect_after("coordinates: {c: {grid: atm, type: float32}}", "15: there is no grid 'atm'");
  expect_after("coordinates: {c: {}}", "15: coordinate 'c': its type is missing");
  expect_after("fields: {tas: {grid: atm}}", "10: there is no grid 'atm'");
  expect_after("fields: {tas: {type: float}}", "22: type: expected");
  expect_after("fields: {tas: {type: int16, fill: 1e9}}", "10: 'tas' has a value that int16 cannot hold");
  expect_after("fields: {tas: {fill: none}}", "22: fill: expected a number, found \"none\"");
  expect_after("fields: {tas: {}, tas: {}}", "19: ");
  expect_after("fields: {'a/b': {}}", "10: 'a/b' cannot be the name of a field");
}

TEST(OutputDefinitions, ReportAllProblemsAtOnce) {
  const std::string found =
      problems_of(std::string(head) +
                  "dimensions: {x: {length: -1}}\nfields: {a: {typ: int8}, b: {grid: g}, c: {axes: [x]}}\n");
  EXPECT_THAT(found, HasSubstr("the file of definitions has 3 problems:"));
  EXPECT_THAT(found, HasSubstr("m.yaml:3:26: length"));
  EXPECT_THAT(found, HasSubstr("m.yaml:4:14: unknown key \"typ\""));
  EXPECT_THAT(found, HasSubstr("m.yaml:4:26: there is no grid 'g'"));
}

TEST(OutputDefinitions, TakeNoMemoryForWhatTheyClaim) {
  EXPECT_THAT(
      problems_of(std::string(head) +
                  "dimensions: {x: {length: 1000000000000}, y: {length: 1000000000000}}\n"
                  "coordinates: {c: {dimensions: [x, y], type: float64}}\nfields: {f: {axes: [x, y]}}\n"),
      testing::AllOf(HasSubstr("m.yaml:4:15: 'c' has more than"),
                     HasSubstr("m.yaml:5:10: 'f' has more than")));
}

}  // namespace
}  // namespace afterbay::output
