// SPDX-License-Identifier: Apache-2.0
// Inheritance, groups, names, includes and variables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "scratch_directory.hpp"
#include "unit/describe/reading.hpp"

namespace afterbay::describe {
namespace {

using testing::HasSubstr;

TEST(DescribeResolve, TheSketchOfTheIssue) {
  const Description it = described(R"(
case: control
defaults: {name: "{case}_{period}_{file}_{start}-{end}", split: 1mo, type: float32}
fields:
  ws: sqrt(uas^2 + vas^2)
  thetao: mean(toce*e3t) / mean(e3t)
  tasmax: mean(max(tas, 1d))
grids:
  med: {box: {lon: [-6, 36], lat: [30, 46]}}
files:
  day: {every: 1d, mean: [tas, pr, toce: tos], max: [tas]}
  mon: {every: 1mo, split: 1y, mean: [tas, ws], write: [thetao, tasmax]}
  snap: {every: 6h, instant: [tas, psl], at_start: true, grid: med}
  fx: {once: [orog, area]}
)");
  ASSERT_EQ(it.files.size(), 4U);
  const File& day = file_of(it, "day");
  EXPECT_EQ(names_in(day, true), "mean:tas mean:pr mean:toce>tos max:tas>tas_max");
  EXPECT_EQ(day.timing.every, Period{.days = 1});
  EXPECT_EQ(day.naming.split.period, Period{.months = 1});
  EXPECT_EQ(day.type, Type::float32);
  EXPECT_EQ(day.naming.name, "{case}_{period}_{file}_{start}-{end}");
  EXPECT_EQ(file_of(it, "mon").naming.split.period, Period{.years = 1});
  EXPECT_TRUE(file_of(it, "snap").timing.at_start);
  EXPECT_EQ(file_of(it, "snap").grid, "med");
  EXPECT_EQ(names_in(file_of(it, "fx"), true), "once:orog once:area");
  ASSERT_EQ(it.fields.size(), 3U);
  EXPECT_THAT(it.fields[0].operands, testing::ElementsAre("uas", "vas"));
  EXPECT_THAT(it.fields[1].operands, testing::ElementsAre("toce", "e3t"));
  EXPECT_THAT(it.fields[2].operands, testing::ElementsAre("tas"));
  EXPECT_EQ(it.grids.at(0).box.at(1).high, 46);
  EXPECT_EQ(day.at.text(), "d.yaml:11:3");
  EXPECT_EQ(day.variables[2].at.text(), "d.yaml:11:36");
}

TEST(DescribeResolve, DefaultsOfAFile) {
  const File file = file_of(described("files: {a: {every: 1d, mean: tas}}"), "a");
  EXPECT_TRUE(file.enabled);
  EXPECT_FALSE(file.timing.at_start);
  EXPECT_EQ(file.timing.align, Align{});
  EXPECT_EQ(file.timing.partial, Partial::write);
  EXPECT_EQ(file.time.stamp, Stamp::centre);
  EXPECT_EQ(file.missing, Missing{});
  EXPECT_EQ(file.type, OutputType());
  EXPECT_FALSE(file.naming.split.any());
  EXPECT_EQ(file.naming.name, "{file}");
  EXPECT_EQ(file.naming.end_date, EndDate::inclusive);
  EXPECT_EQ(file_of(described("files: {a: {every: 1d, mean: tas, split: 1mo}}"), "a").naming.name,
            "{file}_{start}-{end}");
  EXPECT_EQ(file_of(described("files: {a: {every: 1d, mean: tas, split: 12 records}}"), "a").naming.name,
            "{file}_{start}");
}

TEST(DescribeResolve, LikeInheritsAllButEnabled) {
  const Description it = described(R"(
defaults: {type: float32, attributes: {source: model, title: all}}
files:
  pattern: {enabled: false, every: 1d, type: float64, deflate: 3, mean: [tas, pr], attributes: {title: daily}}
  a: {like: pattern, mean: [psl], attributes: {note: x}}
  b: {like: a, type: ~, attributes: {source: ~}}
)");
  const File& a = file_of(it, "a");
  EXPECT_TRUE(a.enabled);
  EXPECT_FALSE(file_of(it, "pattern").enabled);
  EXPECT_EQ(names_in(a), "psl");
  EXPECT_EQ(a.type, Type::float64);
  EXPECT_EQ(a.settings.filters.size(), 1U);
  const Attributes joined{{"source", "model"}, {"title", "daily"}, {"note", "x"}};
  EXPECT_EQ(a.attributes, joined);
  const File& b = file_of(it, "b");
  EXPECT_EQ(names_in(b), "psl");
  EXPECT_EQ(b.type, OutputType()) << "null restores the built-in default";
  const Attributes left{{"title", "daily"}, {"note", "x"}};
  EXPECT_EQ(b.attributes, left);
}

TEST(DescribeResolve, DefaultsMaySwitchFilesOff) {
  const Description it = described(
      "defaults: {enabled: false}\nfiles: {a: {every: 1d, mean: tas}, b: {every: 1d, mean: tas, enabled: "
      "true}}");
  EXPECT_FALSE(file_of(it, "a").active());
  EXPECT_TRUE(file_of(it, "b").active());
}

TEST(DescribeResolve, KeysOfAVariableComeFromItsEntryThenItsFieldThenTheFile) {
  const Description it = described(R"(
fields:
  base: {units: K, type: float64, attributes: {long_name: base, note: a}}
  tas: {like: base, attributes: {long_name: air temperature}}
files:
  a: {every: 1d, type: float32, mean: [tas, pr, tas: {name: t32, type: float32, attributes: {note: ~}}]}
)");
  const File& file = file_of(it, "a");
  EXPECT_EQ(names_in(file), "tas pr tas>t32");
  EXPECT_EQ(file.variables[0].options.units, "K");
  EXPECT_EQ(file.variables[0].options.type, OutputType(Type::float64));
  EXPECT_EQ(file.variables[1].options.type, std::nullopt) << "the file's";
  EXPECT_EQ(file.variables[2].options.type, OutputType(Type::float32));
  const Attributes left{{"long_name", "air temperature"}};
  EXPECT_EQ(file.variables[2].options.attributes, left);
}

TEST(DescribeResolve, LikeOfFieldsTakesNoExpression) {
  const Description it = described("fields: {a: {expression: x + y, units: K}, b: {like: a}}");
  EXPECT_EQ(it.fields[1].expression, "");
  EXPECT_EQ(it.fields[1].options.units, "K");
}

TEST(DescribeResolve, GroupsAreReplacedByTheirMembers) {
  const Description it = described(R"(
groups:
  winds: [uas, vas: v10]
  surface: [group(winds), tas, uas]
files:
  a: {every: 1d, mean: [group(surface), tas: t2m], without: [uas]}
  b: {every: 1d, mean: group(winds), instant: {tas: , psl: slp}}
)");
  EXPECT_EQ(names_in(file_of(it, "a")), "vas>v10 tas>t2m");
  EXPECT_EQ(names_in(file_of(it, "b"), true), "mean:uas mean:vas>v10 instant:tas instant:psl>slp");
}

TEST(DescribeResolve, AFieldMayBeInGroupsUnderSeveralNames) {
  const auto names = [](const std::string& groups, const std::string& list) {
    return names_in(
        file_of(described("groups: {" + groups + "}\nfiles: {a: {every: 1d, mean: " + list + "}}"), "a"));
  };
  EXPECT_EQ(names("s: [tas, tas: {name: tas_c, units: degC}]", "group(s)"), "tas tas>tas_c");
  EXPECT_EQ(names("s: [tas: a, pr], t: [tas: b, pr]", "[group(s), group(t)]"), "tas>a pr tas>b");
  EXPECT_EQ(names("s: [tas, pr: rain], t: [tas: tas, pr: rain, uas]", "[group(s), group(t), group(s)]"),
            "tas pr>rain uas")
      << "equal entries count once";
  EXPECT_EQ(names("s: [tas, tas: b]", "[group(s), tas: t2m]"), "tas>t2m") << "an entry outside replaces them";
  EXPECT_THAT(
      refusal("groups: {s: [tas], t: [tas: {type: float64}]}\n"
              "files: {a: {every: 1d, mean: [group(s), group(t)]}}"),
      HasSubstr("d.yaml:1:24: the file \"a\" has two variables \"tas\", the other one at d.yaml:1:14"));
}

TEST(DescribeResolve, NamesOfAFieldWithSeveralOperations) {
  const auto names = [](const std::string& lists) {
    return names_in(file_of(described("files: {a: {every: 1d, " + lists + "}}"), "a"));
  };
  EXPECT_EQ(names("max: tas, mean: tas, min: tas"), "tas tas>tas_min tas>tas_max");
  EXPECT_EQ(names("mean: {tas: t}, max: tas"), "tas>t tas");
  EXPECT_EQ(names("mean: tas, max: {pr: tas}"), "tas>tas_mean pr>tas") << "given names come first";
  EXPECT_EQ(refusal("files: {a: {every: 1d, mean: [tas, tas]}}"),
            "d.yaml:1:36: the file \"a\" has two variables \"tas\", the other one at d.yaml:1:31; rename "
            "one, as in "
            "\"tas: NAME\"");
  EXPECT_THAT(refusal("files: {a: {every: 1d, mean: [tas: x, pr: x]}}"), HasSubstr("two variables \"x\""));
}

TEST(DescribeResolve, LevelsOfDetail) {
  const Description it = described(R"(
defaults: {max_detail: 2}
fields: {rare: {detail: 3}}
files:
  a: {every: 1d, mean: [tas, rare, rare: {name: r, detail: 0}]}
  b: {every: 1d, mean: tas, detail: 3}
  c: {every: 1d, mean: rare, detail: 3, max_detail: 3}
)");
  const File& a = file_of(it, "a");
  EXPECT_TRUE(a.active());
  EXPECT_TRUE(a.active(a.variables[0]));
  EXPECT_FALSE(a.active(a.variables[1]));
  EXPECT_TRUE(a.active(a.variables[2]));
  EXPECT_FALSE(file_of(it, "b").active());
  EXPECT_TRUE(file_of(it, "c").active());
  EXPECT_TRUE(file_of(it, "c").active(file_of(it, "c").variables[0]));
}

TEST(DescribeResolve, SettingsOfCollectionsAreKeysOfFiles) {
  const File file = file_of(described(R"(
files:
  a:
    every: 1d
    mean: [tas: {deflate: 0, access: series}]
    store: netcdf4
    stripe: {count: 4}
    pool: [fast, slow]
    existing: append
    shuffle: on
)"),
                            "a");
  EXPECT_EQ(file.settings.store, Format::netcdf4);
  EXPECT_EQ(file.settings.stripe_count, 4);
  EXPECT_EQ(file.settings.pools->size(), 2U);
  EXPECT_EQ(file.settings.existing, Existing::append);
  EXPECT_EQ(file.variables[0].options.settings.access, model::Access::series);
  EXPECT_THAT(refusal("files: {a: {every: 1d, mean: tas, stripe: {cuont: 4}}}"),
              HasSubstr("unknown key \"stripe.cuont\" of a file; did you mean \"stripe.count\"?"));
  EXPECT_THAT(refusal("files: {a: {every: 1d, mean: tas, store: netcdf}}"),
              HasSubstr("store: expected netcdf4"));
}

TEST(DescribeResolve, Grids) {
  const Description it = described(R"(
grids:
  a: {box: {lon: [350, 10]}, levels: {lev: [0, 10.5]}, reverse: [lev]}
  b: {index: {x: [0, 99]}, stride: {x: 2}}
  c: {stations: {papa: [-145, 50], here: [0, 90]}, max_distance: 12.5 km, mask: tmask}
  d: {box: {nav_lon: [350, 10]}, outside: missing}
)");
  EXPECT_EQ(it.grids[0].box[0].low, 350);
  EXPECT_EQ(it.grids[0].levels[0].values, (std::vector<double>{0, 10.5}));
  EXPECT_EQ(it.grids[1].index[0].last, 99);
  EXPECT_EQ(it.grids[1].stride[0].step, 2);
  EXPECT_EQ(it.grids[2].stations[0].name, "papa");
  EXPECT_EQ(it.grids[2].stations[0].lat, 50);
  EXPECT_EQ(it.grids[2].stations[1].at.line, 5);
  EXPECT_EQ(it.grids[2].max_distance_m, 12'500);
  EXPECT_EQ(it.grids[2].mask, "tmask");
  EXPECT_EQ(it.grids[3].outside, Outside::missing);
}

TEST(DescribeResolve, VariablesComeFromTheProgramThenTheEnvironment) {
  ReadOptions options = no_variables();
  options.environment = {{"A", "env"}, {"LEVEL", "7"}, {"EMPTY", ""}};
  options.variables = {{"A", "given"}, {"SELF", "${A}"}};
  EXPECT_EQ(described("case: ${A}_${NONE:-none}_${EMPTY:-empty}_$${A}\n", options).case_name,
            "given_none_empty_${A}");
  EXPECT_EQ(described("case: ${SELF}\n", options).case_name, "${A}") << "values are not searched again";
  const std::string file = "files:\n  a:\n    every: 1d\n    mean: tas\n    detail: ";
  EXPECT_EQ(file_of(described(file + "${LEVEL}\n", options), "a").detail, 7);
  EXPECT_THAT(refusal(file + "\"${LEVEL}\"\n", options), HasSubstr("found \"7\"")) << "quoted: text";
  EXPECT_EQ(
      refusal("case: ${LEVLE}\n", options),
      "d.yaml:1:7: the variable LEVLE has no value; did you mean \"LEVEL\"?: set it in the environment, "
      "write ${LEVLE:-fallback}, or, for afterbay describe, give --set LEVLE=VALUE");
  EXPECT_THAT(refusal("case: ${A\n", options), HasSubstr("is not closed by \"}\""));
  EXPECT_THAT(refusal("case: ${A B}\n", options), HasSubstr("expected ${NAME} or ${NAME:-fallback}"));
}

class DescribeIncludes : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = directory_.path / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }
  std::string refused(const std::string& path) {
    const auto result = read_files({path}, no_variables());
    if (result) return "accepted";
    std::string text = result.error().message;
    const std::string prefix = directory_.path.string() + "/";
    for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix))
      text.erase(at, prefix.size());
    return text;
  }
  afterbay::test::Directory directory_;
};

TEST_F(DescribeIncludes, AreRelativeToTheIncludingFile) {
  write("sub/fields.yaml", "include: more/grids.yaml\nfields: {ws: u + v}\n");
  write("sub/more/grids.yaml", "grids: {g: {stride: {x: 2}}}\n");
  const std::string main =
      write("main.yaml",
            "include: [sub/fields.yaml, sub/more/grids.yaml]\nfiles: {a: {every: 1d, mean: ws, grid: g}}\n");
  const auto it = read_files({main}, no_variables());
  ASSERT_TRUE(it) << it.error().message;
  EXPECT_EQ(it->fields.size(), 1U);
  EXPECT_EQ(it->grids.size(), 1U) << "a file that is included twice is read once";
  EXPECT_THAT(it->grids[0].at.file, HasSubstr("sub/more/grids.yaml"));
}

TEST_F(DescribeIncludes, DuplicatesNameBothPlaces) {
  write("b.yaml", "fields:\n  ws: u + v\n");
  EXPECT_THAT(refused(write("a.yaml", "include: b.yaml\nfields:\n  ws: u\n")),
              HasSubstr("a.yaml:3:3: fields.ws is defined twice, first at b.yaml:2:3; remove or rename one"));
  write("d.yaml", "defaults: {split: 1mo}\n");
  EXPECT_THAT(refused(write("c.yaml", "include: d.yaml\ndefaults: {split: 1y}\n")),
              HasSubstr("c.yaml:2:12: defaults.split is defined twice, first at d.yaml:1:12"));
}

TEST_F(DescribeIncludes, CyclesAreShown) {
  write("b.yaml", "include: c.yaml\n");
  write("c.yaml", "include: ./a.yaml\n");
  EXPECT_THAT(
      refused(write("a.yaml", "include: b.yaml\n")),
      HasSubstr("the files include each other: a.yaml includes b.yaml includes c.yaml includes ./a.yaml"));
  EXPECT_THAT(
      refused(write("self.yaml", "include: self.yaml\n")),
      HasSubstr("self.yaml:1:10: include: the files include each other: self.yaml includes self.yaml"));
}

TEST_F(DescribeIncludes, AFileThatIsMissingIsNamed) {
  const std::string text = refused(write("a.yaml", "include: none.yaml\n"));
  EXPECT_THAT(text, HasSubstr("a.yaml:1:10: include: \"none.yaml\": cannot read it: No such file"));
  EXPECT_EQ(read_files({directory_.path / "none.yaml"}, no_variables()).error().code, ErrorCode::io);
}

}  // namespace
}  // namespace afterbay::describe
