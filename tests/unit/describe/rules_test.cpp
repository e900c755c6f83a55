// SPDX-License-Identifier: Apache-2.0
// What is refused, with its place and what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "expression/units.hpp"
#include "unit/describe/reading.hpp"

namespace afterbay::describe {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Problems of a file with these keys besides `mean: tas`.
std::string file_with(const std::string& keys, const ReadOptions& options = no_variables()) {
  return refusal("files:\n  a: {mean: tas, " + keys + "}\n", options);
}

TEST(DescribeRules, AllProblemsAreReportedInTheOrderOfLines) {
  EXPECT_EQ(
      refusal(R"(defalts: {}
files:
  day: {evry: 1d, mean: [tas]}
  mon: {every: 1 fortnight, mean: [tas]}
  fx: {once: [orog], like: dya}
)"),
      R"(d.yaml:1:1: expected include:, case:, state:, defaults:, fields:, grids:, groups: or files:, found "defalts"; did you mean "defaults"?
d.yaml:3:3: files.day: every is missing; "mean" needs a period, for example "every: 1d"
d.yaml:3:9: unknown key "evry" of a file; did you mean "every"?
d.yaml:4:16: every: "1 fortnight" is not a period: "fortnight" is not a unit; units are y, mo, d, h, min, s, ms, us, ns or ts (time steps)
d.yaml:5:28: like: there is no "dya" under "files:"; did you mean "day"?)");
}

TEST(DescribeRules, AFieldsSummandMovesNoDifferences) {
  const auto added = [](const std::string& lists) {
    const Description description =
        described("fields: {tas: {add: -273.15, multiply: 2}}\nfiles: {a: {every: 1d, " + lists + "}}\n");
    if (description.files.empty()) return std::string("none");
    const auto& stages = description.files.front().variables.front().options.settings.stages;
    const auto add = stages.find("add");
    EXPECT_EQ(stages.at("multiply"), "2");
    return add == stages.end() ? std::string("none") : add->second;
  };
  for (const char* const moved : {"mean", "instant", "min", "max", "write"})
    EXPECT_EQ(added(std::string(moved) + ": tas"), "-273.15") << moved;
  for (const char* const kept : {"range", "stddev", "difference"})
    EXPECT_EQ(added(std::string(kept) + ": tas"), "none") << kept;
  EXPECT_EQ(added("range: [tas: {add: 5}]"), "5");
  const auto refused = [](const std::string& lists) {
    return refusal("fields: {tas: {add: -273.15}}\nfiles: {a: {every: 1d, " + lists + "}}\n");
  };
  for (const char* const sum : {"sum", "rate"})
    EXPECT_THAT(refused(std::string(sum) + ": [tas]"),
                AllOf(HasSubstr("d.yaml:2:"), HasSubstr("add: -273.15"), HasSubstr("moves its zero"),
                      HasSubstr("(at d.yaml:1:21)"), HasSubstr("write \"add: 0\"")))
        << sum;
  EXPECT_EQ(refused("sum: [tas: {add: 0}]"), "accepted");
}

TEST(DescribeRules, AFieldsNegativeFactorTurnsItsScaleAround) {
  const auto with = [](const std::string& lists) {
    return refusal("fields: {tas: {multiply: -1}}\nfiles: {a: {every: 1d, " + lists + "}}\n");
  };
  for (const char* const fine : {"mean", "instant", "sum", "rate", "difference"})
    EXPECT_EQ(with(std::string(fine) + ": tas"), "accepted") << fine;
  for (const char* const refused : {"min", "max", "range", "stddev"})
    EXPECT_THAT(with(std::string(refused) + ": [tas]"),
                AllOf(HasSubstr("d.yaml:2:"), HasSubstr("(at d.yaml:1:26)"),
                      HasSubstr("make a derived field"), HasSubstr("\"-1*tas\"")))
        << refused;
  EXPECT_EQ(with("max: [tas: {multiply: 1}]"), "accepted");
  EXPECT_EQ(with("max: [tas: {multiply: -2}]"), "accepted") << "what the entry itself says applies";
}

TEST(DescribeRules, NumbersThatMakeNoSense) {
  const auto field = [](const std::string& keys) {
    return refusal("fields: {tas: {" + keys + "}}\nfiles: {a: {every: 1d, mean: tas}}\n");
  };
  EXPECT_THAT(field("multiply: 0"),
              AllOf(HasSubstr("d.yaml:1:26: "), HasSubstr("finite number other than 0")));
  for (const char* const wrong :
       {"multiply: .nan", "multiply: .inf", "multiply: 1e999", "add: .inf", "add: x"})
    EXPECT_THAT(field(wrong), HasSubstr("d.yaml:1:")) << wrong;
  for (const char* const wrong : {"split: 0 records",
                                  "split: -3 records",
                                  "split: 1.5 records",
                                  "split: 0d",
                                  "split: -1mo",
                                  "split: 3",
                                  "every: 0d",
                                  "every: -6h",
                                  "every: 1h-6h",
                                  "every: 1e99d",
                                  "every: .inf",
                                  "sample: 0ts",
                                  "sample: -1d",
                                  "sample: 6h, sample_offset: -1h",
                                  "sample: 6h, sample_offset: -1ts",
                                  "sample: 6h, sample_offset: -1h+5ts",
                                  "sample: 6h, sample_offset: 6h",
                                  "sample: 6h, sample_offset: 1d",
                                  "sample: 4ts, sample_offset: 4ts",
                                  "sample: 4ts, sample_offset: 9ts",
                                  "sample_offset: 1h",
                                  "cycle: 0d, cycle_step: 1h",
                                  "cycle: 1d, cycle_step: 0h",
                                  "cycle: 1d, cycle_step: -1h",
                                  "epochs: 0d",
                                  "epochs: -1d",
                                  "detail: -1",
                                  "max_detail: -1",
                                  "missing: 0",
                                  "missing: -0.5",
                                  "missing: .nan",
                                  "align: 2000-13-01",
                                  "deflate: -1",
                                  "deflate: 99"})
    EXPECT_THAT(
        file_with((std::string(wrong).starts_with("every") ? "" : "every: 1d, ") + std::string(wrong)),
        testing::MatchesRegex("d.yaml:2:[0-9]+: .*"))
        << wrong;
}

TEST(DescribeRules, WordsOfOtherSystems) {
  EXPECT_EQ(file_with("output_freq: 1d"),
            "d.yaml:2:3: files.a: every is missing; \"mean\" needs a period, for example \"every: 1d\"\n"
            "d.yaml:2:18: unknown key \"output_freq\" of a file; here it is \"every\"");
  EXPECT_THAT(file_with("every: 1d, average: [pr]"), HasSubstr("here it is \"mean\""));
  EXPECT_THAT(refusal("fields: {ws: {expression: a, long_name: x}}"), HasSubstr("here it is \"attributes\""));
  EXPECT_THAT(refusal("grids: {g: {latitude: [0, 1]}}"), HasSubstr("here it is \"box\""));
  EXPECT_THAT(refusal("grids: {g: {output_freq: 1d}}"), Not(HasSubstr("here it is")));
}

TEST(DescribeRules, NamesThatExpressionsCannotMean) {
  EXPECT_THAT(refusal("fields:\n  pi: tas*2\n"),
              AllOf(HasSubstr("d.yaml:2:3: fields: \"pi\" is a constant"), HasSubstr("another name")));
  EXPECT_EQ(refusal("fields: {pi: {units: K}}"), "accepted") << "a field of the model may have any name";
  EXPECT_THAT(refusal("fields: {pi: {units: K}, x: 2*pi}"),
              AllOf(HasSubstr("d.yaml:1:29: expression: "), HasSubstr("\"pi\" is the constant")));
  EXPECT_EQ(refusal("fields: {x: 2*pi, y: pi2 + a.pi + _pi}"), "accepted");
  // A name before a parenthesis is a function, any other one a field.
  const Description functions = described("fields: {max: uas*2, e: tas, y: \"max + e + max(a, max)\"}");
  ASSERT_EQ(functions.fields.size(), 3U);
  EXPECT_THAT(functions.fields[2].operands, testing::ElementsAre("max", "e", "a"));
  EXPECT_THAT(refusal("fields: {a-b: a*2, c: a-b}"),
              AllOf(HasSubstr("d.yaml:1:23: expression: "), HasSubstr("\"a-b\" is the name of a field")));
  EXPECT_EQ(refusal("fields: {a-b: a*2, c: a - b, d: aa-b, e: a-b2}"), "accepted");
}

TEST(DescribeRules, NamesOfStates) {
  const auto state = [](const std::string& name, const std::string& keys = "epochs: 1d, ") {
    return refusal("state: " + name + "\nfiles: {a: {every: 1d, " + keys + "mean: tas}}\n");
  };
  EXPECT_EQ(state("s_{date}"), "accepted");
  EXPECT_EQ(state("'s_{date:%Y%m%d}_{member:02}'"), "accepted");
  EXPECT_EQ(state("s_{step:04}"), "accepted");
  EXPECT_EQ(state("s"), "d.yaml:1:8: state: all states would have the name \"s\"; add {date} or {step}");
  EXPECT_THAT(state("s_{start}"),
              AllOf(HasSubstr("'{start}' is unknown"), HasSubstr("{case}, {date}, {step}")));
  EXPECT_THAT(state("s_{date:%Q}"), HasSubstr("%Q"));
  EXPECT_THAT(state("s_{step:x}"), HasSubstr("state: "));
  EXPECT_THAT(state("s_{date}_{case}"), HasSubstr("{case} needs \"case:\" at the top"));
  EXPECT_THAT(state("[a]"), HasSubstr("state: expected a template of names of files"));
  EXPECT_THAT(state("s_{date}", ""), HasSubstr("no file has epochs"));
  EXPECT_THAT(state("s_{date}", "enabled: false, epochs: 1d, "), HasSubstr("no file has epochs"));
}

TEST(DescribeRules, TheFillValueIsNoAttribute) {
  EXPECT_THAT(refusal("fields: {tas: {attributes: {_FillValue: -1}}}"),
              AllOf(HasSubstr("d.yaml:1:41: attributes._FillValue: "), HasSubstr("option `fill`")));
  EXPECT_THAT(file_with("every: 1d, max: [pr: {attributes: {_FillValue: ~}}]"), HasSubstr("option `fill`"));
}

TEST(DescribeRules, ATextOfTheProgramIsJoinedWithFiles) {
  const auto joined = read_files_and_text({}, "files:\n\n  a: {every: 1d, maen: tas}\n", no_variables());
  ASSERT_FALSE(joined);
  EXPECT_THAT(joined.error().message,
              HasSubstr("text of the program, line 3, column 18: unknown key \"maen\""));
}

TEST(DescribeRules, KeysInTheWrongPlaceAreExplained) {
  EXPECT_THAT(file_with("every: 1d, expression: a"),
              HasSubstr("it is a key of fields and their entries in files"));
  EXPECT_THAT(refusal("split: 1mo"),
              HasSubstr("\"split\" belongs under \"defaults:\", or into a file under \"files:\""));
  EXPECT_THAT(refusal("grids: {g: {every: 1d}}"),
              HasSubstr("unknown key \"every\" of a grid; it is a key of files"));
  EXPECT_THAT(refusal("defaults: {mean: [tas]}"), HasSubstr("\"mean\" cannot stand under \"defaults:\""));
  EXPECT_THAT(refusal("defaults: {like: a}"), HasSubstr("\"like\" cannot stand under \"defaults:\""));
}

TEST(DescribeRules, ValuesOfAWrongKind) {
  EXPECT_THAT(refusal("files: {a: 3}"),
              HasSubstr("d.yaml:1:12: files.a: expected indented keys of a file, found the number 3"));
  EXPECT_THAT(refusal("files: [a]"), HasSubstr("files: expected indented lines \"name: ...\", found a list"));
  EXPECT_THAT(file_with("every: [1d]"),
              HasSubstr("every: expected a period longer than 0, for example 6h, 1d or 1mo, found a list"));
  EXPECT_THAT(file_with("every: 1"), HasSubstr("every: \"1\" is not a period: the number 1 has no unit"));
  EXPECT_THAT(file_with("every: 0d"), HasSubstr("expected a period longer than 0"));
  EXPECT_THAT(file_with("every: -1d"), HasSubstr("expected a period longer than 0"));
  EXPECT_THAT(file_with("every: 1d, at_start: on"),
              HasSubstr("at_start: expected true or false, found \"on\""));
  EXPECT_THAT(file_with("every: 1d, stamp: center"),
              HasSubstr("expected start, centre or end, found \"center\"; did you mean \"centre\"?"));
  EXPECT_THAT(file_with("every: 1d, type: float"), HasSubstr("type: expected auto, own, int8"));
  EXPECT_THAT(
      file_with("every: 1d, missing: 1.5"),
      HasSubstr("missing: expected ignore, poison or a number above 0 and up to 1, found the number 1.5"));
  EXPECT_THAT(file_with("every: 1d, missing: poisson"), HasSubstr("did you mean \"poison\"?"));
  EXPECT_THAT(file_with("every: 1d, split: 0 records"), HasSubstr("split: expected none, a period"));
  EXPECT_THAT(file_with("every: 1d, align: calender"), HasSubstr("did you mean \"calendar\"?"));
  EXPECT_THAT(file_with("every: 1d, detail: 2000"), HasSubstr("detail: expected an integer from 0 to 1000"));
  EXPECT_THAT(file_with("every: 1d, attributes: {a: true}"),
              HasSubstr("attributes.a: expected text, a number or a list of numbers, found the boolean true; "
                        "netCDF has no booleans"));
  EXPECT_THAT(refusal("files: {a: {every: 1d, mean: [[tas]]}}"),
              HasSubstr("mean: expected a list of fields, [tas, toce: tos, group(surface)], found a list"));
  EXPECT_THAT(refusal("files: {a: {every: 1d, mean: [\"t a s\"]}}"), HasSubstr("\"t a s\" is not a name"));
  EXPECT_THAT(refusal("files: {a: {every: 1d, mean: [tas: a/b]}}"), HasSubstr("\"a/b\" is not a name"));
  EXPECT_THAT(refusal("files: {a: {every: 1d, mean: [tas: [x]]}}"),
              HasSubstr("mean.tas: expected a new name, or keys of a variable, found a list"));
  EXPECT_THAT(refusal("case: a/b"), HasSubstr("case: expected text without slashes"));
}

TEST(DescribeRules, PeriodsMustFitTogether) {
  EXPECT_EQ(file_with("every: 1d, sample: 7h"),
            "d.yaml:2:37: files.a: every (1d) is not a multiple of sample (7h)");
  EXPECT_EQ(file_with("every: 1mo, sample: 1d"), "accepted");
  EXPECT_EQ(file_with("every: 6ts, sample: 4ts"),
            "d.yaml:2:38: files.a: every (6ts) is not a multiple of sample (4ts)");
  EXPECT_EQ(file_with("every: 1d, sample: 4ts"), "accepted") << "the step is not known";
  ReadOptions options = no_variables();
  options.step = Period::parse("50min");
  EXPECT_THAT(file_with("every: 1d", options),
              HasSubstr("every (1d) is not a multiple of the model's step (50min)"));
  EXPECT_THAT(file_with("every: 100min, sample: 4ts", options),
              HasSubstr("every (1h40min) is not a multiple of sample (4ts)"));
  EXPECT_EQ(file_with("every: 3ts", options), "accepted");
  EXPECT_THAT(file_with("every: 1mo, split: 1d"), HasSubstr("split (1d) is shorter than every (1mo)"));
  EXPECT_EQ(file_with("every: 30d, split: 1mo"), "accepted");
  EXPECT_EQ(file_with("every: 1mo, split: 1mo"), "accepted");
  EXPECT_THAT(file_with("every: 1d, sample_offset: 1h"), HasSubstr("sample_offset (1h) needs sample"));
  EXPECT_THAT(file_with("every: 1d, sample: 6h, sample_offset: 7h"),
              HasSubstr("sample_offset (7h) must be shorter than sample (6h)"));
  EXPECT_THAT(file_with("every: 1mo, cycle: 1d"), HasSubstr("cycle needs cycle_step"));
  EXPECT_THAT(file_with("every: 1mo, cycle_step: 1h"), HasSubstr("cycle_step needs cycle"));
  EXPECT_THAT(file_with("every: 1mo, cycle: 1d, cycle_step: 7h"),
              HasSubstr("cycle (1d) is not a multiple of cycle_step (7h)"));
  EXPECT_EQ(file_with("every: 30y, cycle: 1y, cycle_step: 1mo"), "accepted");
  for (const char* const key : {"every", "sample", "cycle", "cycle_step", "split", "epochs"})
    EXPECT_THAT(file_with(std::string(key) + ": 1mo1d"),
                HasSubstr(std::string(key) + ": 1mo1d mixes months or years with days or shorter units"));
  EXPECT_THAT(refusal("fields: {x: \"mean(max(tas, 1y6h))\"}"),
              HasSubstr("the period of max mixes months or years with days"));
}

TEST(DescribeRules, FilesOfOnceHaveNoPeriodsAndNoSplit) {
  const Description all = described(R"(
defaults: {every: 1mo, cycle: 1d, cycle_step: 6h, sample: 1h, split: 1mo, at_start: true, align: start,
           name: "{file}_{period}_{start}-{end}"}
files: {fx: {once: [orog]}, own: {once: [orog], name: "own_{start:%Y}"}, day: {mean: [tas], once: [orog]}}
)");
  for (const char* const name : {"fx", "own"}) {
    const File& file = file_of(all, name);
    EXPECT_FALSE(file.timing.every || file.timing.cycle || file.timing.cycle_step || file.timing.sample);
    EXPECT_FALSE(file.naming.split.any() || file.timing.at_start);
    EXPECT_EQ(file.timing.align.to, Align::To::start) << "epochs have it too";
  }
  EXPECT_EQ(file_of(all, "fx").naming.name, "{file}_{period}");
  EXPECT_EQ(file_of(all, "own").naming.name, "own_{start:%Y}");
  EXPECT_TRUE(file_of(all, "day").naming.split.any() && file_of(all, "day").timing.cycle);
  EXPECT_EQ(file_of(described("files: {fx: {split: 1mo, once: [orog]}}"), "fx").naming.name, "{file}");
  EXPECT_THAT(refusal("defaults: {split: 1mo}\nfiles: {fx: {once: orog, name: \"{file}_{end}\"}}"),
              HasSubstr("contains {end}, but a file of fields that are written once has no end"));
  for (const auto& [pattern, expected] :
       std::map<std::string, std::string>{{"{file}_{start}-{end}.nc", "{file}.nc"},
                                          {"{start:%Y}/{file}", "{file}"},
                                          {"out/{start:%Y}/{file}_{part:03}", "out/{file}"},
                                          {"{start}-{end}", "{file}"},
                                          {"a{{b}}_{file}-{start}", "a{{b}}_{file}"},
                                          {"_x", "_x"}})
    EXPECT_EQ(file_of(described("defaults: {name: \"" + pattern + "\"}\nfiles: {fx: {once: orog}}"), "fx")
                  .naming.name,
              expected);
}

TEST(DescribeRules, DatesAreThoseOfTheCalendar) {
  ReadOptions options = no_variables();
  options.calendar = Calendar("360_day");
  EXPECT_EQ(file_with("every: 1d, align: 2000-02-30", options), "accepted");
  EXPECT_THAT(file_with("every: 1d, align: 2000-02-30"),
              HasSubstr("align: expected calendar, seasons, start or a date: "));
  EXPECT_EQ(file_with("every: 1d, time_units: days since 1850-01-01"), "accepted");
  EXPECT_THAT(file_with("every: 1d, time_units: months since 1850-01-01"),
              HasSubstr("d.yaml:2:41: files.a: time_units: "));
}

TEST(DescribeRules, NamesOfFiles) {
  EXPECT_THAT(file_with("every: 1d, name: \"{fil}_{start}\""),
              HasSubstr("name: \"{fil}_{start}\": '{fil}' is unknown; did you mean \"file\"?"));
  EXPECT_THAT(file_with("every: 1d, name: \"{start:%Q}\""), HasSubstr("'{start:%Q}': "));
  EXPECT_THAT(file_with("every: 1d, name: \"{part:x}\""), HasSubstr("a number of places from 1 to 20"));
  EXPECT_THAT(file_with("every: 1d, name: \"{file:3}\""),
              HasSubstr("'{file:3}' has no format, write {file}"));
  EXPECT_THAT(file_with("every: 1d, name: \"a{\""), HasSubstr("is not closed"));
  EXPECT_THAT(file_with("every: 1d, name: \"{case}\""),
              HasSubstr("contains {case}, but the description has no \"case:\""));
  EXPECT_THAT(
      file_with("every: 1d, split: 1mo, name: \"{file}\""),
      HasSubstr("all files that split makes would have the name \"{file}\"; add {start}, {end} or {part}"));
  EXPECT_THAT(file_with("every: 1d, split: 3 records, name: \"{file}\""),
              HasSubstr("would have the name \"{file}\"; add {start} or {part}"));
  EXPECT_THAT(file_with("every: 1d, split: 3 records, name: \"{file}_{end}\""),
              HasSubstr("d.yaml:2:53: files.a: the name \"{file}_{end}\" contains {end}, which is only known "
                        "with \"split\" by a period"));
  EXPECT_THAT(file_with("every: 1d, name: \"{file}_{end}\""), HasSubstr("contains {end}"));
  EXPECT_EQ(file_with("every: 1d, enabled: false, name: \"{file}_{end}\""), "accepted") << "a pattern";
  EXPECT_EQ(refusal("defaults: {split: 1mo}\nfiles: {fx: {once: orog, name: \"{file}\"}}"), "accepted");
  EXPECT_THAT(
      refusal("defaults: {name: x}\nfiles:\n  a: {every: 1d, mean: tas}\n  b: {every: 2d, mean: tas}\n"),
      HasSubstr("d.yaml:4:3: the files \"a\" (at d.yaml:3:3) and \"b\" would have the same name, \"x.nc\""));
  EXPECT_EQ(refusal("defaults: {name: x}\nfiles:\n  a: {every: 1d, mean: tas}\n  b: {every: 2d, mean: tas, "
                    "enabled: false}\n"
                    "  c: {every: 1d, mean: tas, directory: other}\n"),
            "accepted");
  EXPECT_THAT(refusal("files: {a: {every: 1d, mean: tas, name: b.nc}, b: {every: 1d, mean: tas}}"),
              HasSubstr("same name, \"b.nc\""));
}

TEST(DescribeRules, NamesEndAsTheirStoreSays) {
  const auto both = [](const std::string& first, const std::string& second) {
    return refusal("files: {a: {every: 1d, mean: tas, " + first + "}, b: {every: 1d, mean: tas, " + second +
                   "}}");
  };
  EXPECT_EQ(both("name: x", "name: x, store: grib2"), "accepted");
  EXPECT_EQ(both("name: x, store: pp", "name: x, store: grib2"), "accepted");
  EXPECT_THAT(both("name: x.grib2", "name: x, store: grib2"), HasSubstr("same name, \"x.grib2\""));
  EXPECT_THAT(both("name: x, store: pp", "name: x.pp"), HasSubstr("same name, \"x.pp\""));
  EXPECT_THAT(both("name: x.nc, store: pp", "name: x"), HasSubstr("same name, \"x.nc\""))
      << "the name says so";
  EXPECT_EQ(both("name: x.nc4", "name: x"), "accepted");
  EXPECT_THAT(both("name: x.2000, store: cdf5", "name: x.2000.nc"), HasSubstr("same name, \"x.2000.nc\""));
}

TEST(DescribeRules, ReferencesMustExist) {
  EXPECT_THAT(file_with("every: 1d, grid: mde"), HasSubstr("grid: there is no \"mde\" under \"grids:\""));
  EXPECT_THAT(refusal("grids: {med: {stride: {x: 2}}}\nfields: {t: {grid: mde}}"),
              HasSubstr("did you mean \"med\"?"));
  EXPECT_THAT(refusal("groups: {surface: [tas]}\nfiles: {a: {every: 1d, mean: group(surfaec)}}"),
              HasSubstr("mean: there is no group \"surfaec\" under \"groups:\"; did you mean \"surface\"?"));
  EXPECT_THAT(refusal("files: {a: {every: 1d, mean: [tas, pr], without: [psl]}}"),
              HasSubstr("without: no list of the file \"a\" contains the field \"psl\""));
  EXPECT_THAT(refusal("files: {a: {every: 1d, mean: [tasmax, pr], without: [tasmx]}}"),
              HasSubstr("contains the field \"tasmx\"; did you mean \"tasmax\"?"));
  EXPECT_THAT(refusal("groups: {s: [tas]}\nfiles: {a: {every: 1d, mean: [group(s): x]}}"),
              HasSubstr("a group cannot be renamed"));
}

TEST(DescribeRules, CyclesAreShown) {
  EXPECT_THAT(refusal("files: {a: {like: b}, b: {like: c}, c: {like: a}}"),
              HasSubstr("files are like each other: a is like b is like c is like a"));
  EXPECT_THAT(refusal("fields: {a: {like: a}}"), HasSubstr("fields are like each other: a is like a"));
  EXPECT_THAT(refusal("groups: {a: [group(b)], b: [group(a)]}"),
              HasSubstr("groups contain each other: a contains b contains a"));
  EXPECT_EQ(
      refusal("fields:\n  a: b + 1\n  b: sqrt(c)\n  c: mean(a, 1d)\n  d: a\n"),
      "d.yaml:2:6: fields depend on themselves: a needs b needs c needs a; change one of the expressions");
  EXPECT_THAT(refusal("fields: {a: a + 1}"), HasSubstr("a needs a"));
  std::string chain;
  for (int i = 0; i < 40; ++i)
    chain += "  f" + std::to_string(i) + ": {like: f" + std::to_string(i + 1) + "}\n";
  EXPECT_THAT(refusal("files:\n" + chain + "  f40: {every: 1d, mean: tas}\n"),
              HasSubstr("more than 32 levels of inheritance"));
}

TEST(DescribeRules, Expressions) {
  const auto expression = [](const std::string& text) { return refusal("fields: {x: \"" + text + "\"}"); };
  EXPECT_EQ(expression("cond > 1e-5 ? a : -b^2*pi"), "accepted");
  EXPECT_THAT(
      refusal("fields: {x: max(tas, 1d)}"),
      HasSubstr("d.yaml:1:13: expression: column 4 of the expression: the \"(\" is not closed; within { } "
                "an expression with commas needs quotes"));
  EXPECT_EQ(expression("a + b)"),
            "d.yaml:1:13: expression: column 6 of the expression: the \")\" closes nothing");
  EXPECT_THAT(expression("a $ b"), HasSubstr("column 3 of the expression: \"$\" cannot occur"));
  EXPECT_THAT(expression("sqroot(a)"), HasSubstr("there is no function \"sqroot\"; did you mean \"sqrt\"?"));
  EXPECT_THAT(expression(" "), HasSubstr("the expression is empty"));
  EXPECT_THAT(refusal("fields: {x: true}"), HasSubstr("expression: expected an expression of other fields"));
  const Description it = described("fields:\n  x: max(tas, 1d) + 2e-3*pr/mean (q.850) - pi\n  one: 1\n");
  ASSERT_EQ(it.fields.size(), 2U);
  EXPECT_THAT(it.fields[0].operands, testing::ElementsAre("tas", "pr", "q.850"));
  EXPECT_TRUE(it.fields[1].operands.empty());
}

TEST(DescribeRules, Units) {
  EXPECT_EQ(refusal("fields: {a: {units: kg m-2 s-1}, b: {units: 1}, c: {units: 1e-3}, d: {units: \"%\"}}"),
            "accepted");
  EXPECT_EQ(described("fields: {a: {units: 1}}").fields[0].options.units, "1");
  EXPECT_THAT(refusal("fields: {a: {units: true}}"), HasSubstr("units: expected units that UDUNITS knows"));
  EXPECT_THAT(refusal("fields: {a: {units: \"\"}}"), HasSubstr("units: expected units that UDUNITS knows"));
  if (!expression::has_udunits()) GTEST_SKIP() << "this build has no UDUNITS";
  EXPECT_EQ(refusal("fields: {a: {units: smoots}}"),
            "d.yaml:1:21: units: UDUNITS does not know the units \"smoots\"");
}

TEST(DescribeRules, Grids) {
  const auto grid = [](const std::string& keys) { return refusal("grids: {g: " + keys + "}"); };
  EXPECT_THAT(
      grid("{}"),
      HasSubstr("grids.g: expected indented keys of a grid: box, outside, index, stride, levels, stations, "
                "max_distance, mask or reverse"));
  EXPECT_THAT(grid("{box: {lat: [60, 30]}}"), HasSubstr("box.lat: the range from 60 to 30 is empty"));
  EXPECT_EQ(grid("{box: {longitude: [350, 10]}}"), "accepted");
  EXPECT_THAT(grid("{box: {lat: [30]}}"), HasSubstr("box.lat: expected two numbers, [low, high]"));
  EXPECT_THAT(grid("{box: {lat: [a, b]}}"), HasSubstr("found \"a\""));
  EXPECT_THAT(grid("{index: {x: [-1, 3]}}"),
              HasSubstr("index.x: expected the first and the last index from 0"));
  EXPECT_THAT(grid("{index: {x: [5, 3]}}"), HasSubstr("index.x: expected"));
  EXPECT_THAT(grid("{stride: {x: 0}}"), HasSubstr("stride.x: expected an integer from 1"));
  EXPECT_THAT(grid("{levels: {lev: [1, 1]}}"), HasSubstr("levels.lev: the level 1 is given twice"));
  EXPECT_THAT(grid("{stations: {p: [0, 91]}}"), HasSubstr("stations.p: longitudes are from -360 to 360"));
  EXPECT_THAT(grid("{stations: {p: [0, 9]}, stride: {x: 2}}"), HasSubstr("stations cannot be combined"));
  EXPECT_THAT(grid("{mask: tmask, stride: {x: 2}}"), HasSubstr("mask belong to stations"));
  EXPECT_THAT(grid("{outside: keep, stride: {x: 2}}"), HasSubstr("outside belongs to a box"));
  EXPECT_THAT(grid("{box: {lat: [0, 1]}, outside: mask}"), HasSubstr("outside: expected keep or missing"));
  for (const char* wrong : {"100", "5 miles", "-3km", "km", "1e400km", ""})
    EXPECT_THAT(grid(std::string("{stations: {p: [0, 9]}, max_distance: \"") + wrong + "\"}"),
                HasSubstr("max_distance: expected a distance with its unit"));
  EXPECT_THAT(refusal("grids: {own: {stride: {x: 2}}}"),
              HasSubstr("\"own\" is the name of each field's own grid"));
}

TEST(DescribeRules, FilesMustWriteSomethingThatTheirFormatHolds) {
  EXPECT_THAT(refusal("files: {a: {every: 1d}}"), HasSubstr("the file \"a\" has no fields"));
  EXPECT_THAT(refusal("files: {a: {every: 1d, mean: tas, without: tas}}"),
              HasSubstr("the file \"a\" has no fields"));
  EXPECT_EQ(refusal("files: {a: {every: 1d, enabled: false}}"), "accepted");
  EXPECT_EQ(refusal("files: {a: {once: orog}}"), "accepted");
  EXPECT_THAT(refusal("files: {a: {once: orog, instant: tas}}"),
              HasSubstr("every is missing; \"instant\" needs a period"));
  EXPECT_THAT(file_with("every: 1d, store: cdf2, type: uint64"),
              AllOf(HasSubstr("the variable \"tas\" has the type uint64, which the format cdf2"),
                    HasSubstr("netcdf4")));
}

TEST(DescribeRules, AProblemThatManyFilesInheritIsReportedOnce) {
  EXPECT_EQ(refusal("defaults: {stamp: middle}\nfiles: {a: {every: 1d, mean: t}, b: {every: 1d, mean: t}}"),
            "d.yaml:1:19: stamp: expected start, centre or end, found \"middle\"");
}

}  // namespace
}  // namespace afterbay::describe
