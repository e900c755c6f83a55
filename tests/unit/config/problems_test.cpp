// SPDX-License-Identifier: Apache-2.0
// Errors: the place, the finding, the accepted values, the closest name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include "base/suggest.hpp"
#include "config/config.hpp"
#include "config/settings.hpp"
#include "model/format.hpp"
#include "unit/config/config_sources.hpp"

namespace afterbay::config {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Error error_of(const Sources& sources) {
  auto config = load(sources);
  EXPECT_FALSE(config) << "accepted";
  return config ? Error() : config.error();
}

Error error_of_yaml(const std::string& text) { return error_of(YamlFile(text).sources()); }

Error error_of_flags(std::vector<std::string> flags) {
  Sources sources = no_environment();
  sources.arguments = std::move(flags);
  return error_of(sources);
}

TEST(ConfigProblems, UnknownNamesSayWhichWasMeant) {
  const Error error = error_of_yaml("afterbay:\n  memory:\n    sever: 1GiB\n");
  EXPECT_EQ(error.code, ErrorCode::unknown_name);
  EXPECT_THAT(error.message,
              HasSubstr(".yaml:3:5: unknown setting \"memory.sever\"; did you mean \"memory.server\"?"));
}

TEST(ConfigProblems, UnknownNamesFromEverySource) {
  Sources sources = no_environment();
  sources.settings = {{"writer", "2"}};
  sources.environment->emplace("AFTERBAY_SERVRES", "2");
  sources.arguments = {"--afterbay.toplogy=inline"};
  const std::string text = error_of(sources).message;
  EXPECT_THAT(text, HasSubstr("the configuration has 3 problems:"));
  EXPECT_THAT(text, HasSubstr("\n  set in code: unknown setting \"writer\"; did you mean \"writers\"?"));
  EXPECT_THAT(text, HasSubstr("\n  AFTERBAY_SERVRES: no setting has this environment variable; "
                              "did you mean \"AFTERBAY_SERVERS\"?"));
  EXPECT_THAT(text,
              HasSubstr("\n  --afterbay.toplogy: unknown setting \"toplogy\"; did you mean \"topology\"?"));
}

TEST(ConfigProblems, NothingNearSendsToTheList) {
  EXPECT_THAT(error_of_flags({"--afterbay.colour=red"}).message,
              HasSubstr("unknown setting \"colour\"; `afterbay settings` lists all settings"));
}

TEST(ConfigProblems, GroupsNameTheirMembers) {
  EXPECT_THAT(
      error_of_yaml("afterbay:\n  report: full\n").message,
      HasSubstr(":2:3: unknown setting \"report\"; it is a group of report.table, report.json, report.trace, "
                "report.progress, report.html or report.prometheus"));
}

TEST(ConfigProblems, WrongTypesAndRanges) {
  const Error error = error_of_yaml(R"(afterbay:
  servers: two
  writers: 0
  deadline: 60
  memory:
    server: 3 bananas
    small_share: 1.5
  topology: dedicate
)");
  EXPECT_EQ(error.code, ErrorCode::wrong_type);
  EXPECT_THAT(error.message, HasSubstr("the configuration has 6 problems:"));
  EXPECT_THAT(error.message, HasSubstr(":2:12: servers: expected an integer from 1 to 65536, found \"two\""));
  EXPECT_THAT(error.message, HasSubstr(":3:12: writers: expected an integer from 1 to 256, found \"0\""));
  EXPECT_THAT(error.message,
              HasSubstr(":4:13: deadline: expected a duration from 100ms to 24h: \"60\" is not a duration; "
                        "write a number and a unit (ms, s, min or h), as in 500ms or 60s"));
  EXPECT_THAT(error.message,
              HasSubstr(":6:13: memory.server: expected a size from 1MiB to 16TiB, a multiple of 4KiB: "
                        "\"3 bananas\" is not a size"));
  EXPECT_THAT(error.message,
              HasSubstr(":7:18: memory.small_share: expected a number from 0 to 0.9, found \"1.5\""));
  EXPECT_THAT(
      error.message,
      HasSubstr(":8:13: topology: expected dedicated, inline or tiered, found \"dedicate\"; did you mean "
                "\"dedicated\"?"));
}

TEST(ConfigProblems, NumbersAreWhole) {
  EXPECT_THAT(error_of_flags({"--afterbay.servers=2.5"}).message, HasSubstr("found \"2.5\""));
  EXPECT_THAT(error_of_flags({"--afterbay.servers=2x"}).message, HasSubstr("found \"2x\""));
  EXPECT_THAT(error_of_flags({"--afterbay.servers="}).message, HasSubstr("found \"\""));
  EXPECT_THAT(error_of_flags({"--afterbay.servers=99999999999999999999"}).message,
              HasSubstr("from 1 to 65536"));
  EXPECT_THAT(error_of_flags({"--afterbay.memory.block=100001"}).message,
              HasSubstr("a multiple of 4KiB, found"));
  EXPECT_THAT(error_of_flags({"--afterbay.nodes=0,-1"}).message,
              HasSubstr("nodes: expected a list of integers from 0, as in 0,0,1,1, found \"0,-1\""));
  EXPECT_THAT(error_of_flags({"--afterbay.nodes=0,,1"}).message, HasSubstr("found \"0,,1\""));
  EXPECT_THAT(error_of_flags({"--afterbay.memory.small_share=nan"}).message, HasSubstr("found \"nan\""));
  EXPECT_THAT(error_of_flags({"--afterbay.report.json="}).message, HasSubstr("report.json: expected a path"));
}

TEST(ConfigProblems, ShapesOfValues) {
  const std::string text = error_of_yaml(R"(afterbay:
  servers: [1, 2]
  writers:
  log: {level: info}
  nodes: [[0], 1]
)")
                               .message;
  EXPECT_THAT(text, HasSubstr(":2:12: servers: expected an integer from 1 to 65536, found a list"));
  EXPECT_THAT(text, HasSubstr(":3:3: writers: expected an integer from 1 to 256, found nothing"));
  EXPECT_THAT(text, HasSubstr(":4:8: log: expected error, warning, info or debug, found nested settings"));
  EXPECT_THAT(
      text,
      HasSubstr(":5:10: nodes: expected a list of integers from 0, as in 0,0,1,1, found nested settings"));
}

TEST(ConfigProblems, FlagsWithoutAValue) {
  EXPECT_THAT(error_of_flags({"--afterbay.servers"}).message,
              HasSubstr("--afterbay.servers: expected a value, as in --afterbay.servers=VALUE"));
  EXPECT_THAT(error_of_flags({"--afterbay.servers", "--steps"}).message, HasSubstr("expected a value"));
}

TEST(ConfigProblems, Sections) {
  EXPECT_THAT(error_of_yaml("aferbay: {servers: 2}").message,
              HasSubstr(":1:1: expected \"afterbay:\", \"pools:\", \"triggers:\" or \"collections:\", found "
                        "\"aferbay\"; did you mean "
                        "\"afterbay\"?"));
  EXPECT_THAT(error_of_yaml("servers: 2").message,
              HasSubstr("\"servers\" belongs under \"afterbay:\", indented"));
  EXPECT_THAT(error_of_yaml("memory: {server: 1GiB}").message,
              HasSubstr("\"memory\" belongs under \"afterbay:\""));
  EXPECT_THAT(error_of_yaml("- servers").message,
              HasSubstr(":1:1: expected \"afterbay:\", \"pools:\", \"triggers:\" and \"collections:\""));
  EXPECT_THAT(
      error_of_yaml("afterbay: 3").message,
      HasSubstr(":1:11: expected settings of the session (indented lines \"name: value\"), found \"3\""));
  EXPECT_THAT(error_of_yaml("collections: [a]").message, HasSubstr("settings of collections"));
  EXPECT_THAT(error_of_yaml("collections: {a: }").message, HasSubstr("settings of the collection \"a\""));
}

TEST(ConfigProblems, NamesGivenTwice) {
  const Error error = error_of_yaml("afterbay:\n  servers: 2\n  servers: 3\n");
  EXPECT_EQ(error.code, ErrorCode::conflict);
  EXPECT_THAT(error.message,
              AllOf(HasSubstr(".yaml:3:3: \"servers\" is given twice, first at "), HasSubstr(".yaml:2:3")));
}

TEST(ConfigProblems, FilesThatAreNoYaml) {
  const Error error = error_of_yaml("afterbay:\n  servers: [1\n");
  EXPECT_EQ(error.code, ErrorCode::format);
  EXPECT_THAT(error.message, testing::ContainsRegex("\\.yaml:[0-9]+:[0-9]+: this is not YAML: "));
  EXPECT_THAT(error_of_yaml("afterbay: {}\n---\nafterbay: {}\n").message,
              HasSubstr("expected one YAML document"));
}

TEST(ConfigProblems, TabsInTheIndentation) {
  EXPECT_THAT(error_of_yaml("afterbay:\n\tservers: 2\n").message,
              HasSubstr(".yaml:2: the line is indented with a tab, which YAML does not allow: use spaces"));
  EXPECT_THAT(error_of_yaml("afterbay:\n  servers: 2\n  \tdeadline: 2s\n").message,
              HasSubstr(".yaml:3: the line is indented with a tab"));
  EXPECT_THAT(error_of_yaml("afterbay:\n  report:\n\t\ttable: on\n").message,
              HasSubstr(".yaml:3: the line is indented with a tab"));
}

TEST(ConfigProblems, FilesThatCannotBeRead) {
  Sources sources = no_environment();
  sources.config_file = "/nowhere/run.yaml";
  EXPECT_EQ(error_of(sources).code, ErrorCode::io);
  EXPECT_THAT(error_of(sources).message,
              HasSubstr("/nowhere/run.yaml: cannot read it: No such file or directory"));
  sources.config_file = "/tmp";
  EXPECT_THAT(error_of(sources).message, HasSubstr("/tmp: cannot read it: Is a directory"));
}

TEST(ConfigProblems, Collections) {
  const std::string text = error_of_yaml(R"(collections:
  history:
    stor: cdf5
    deflate: 10
    existing: overwrite
    file: "{stepp}.nc"
    variables:
      t: {chunk: [0, 4], deflat: 1}
)")
                               .message;
  EXPECT_THAT(text, HasSubstr("has 6 problems"));
  EXPECT_THAT(text, HasSubstr(":3:5: unknown setting \"collections.history.stor\"; did you mean \"store\"?"));
  EXPECT_THAT(text,
              HasSubstr(":4:14: collections.history.deflate: expected an integer from 0 to 9, found \"10\""));
  EXPECT_THAT(text,
              HasSubstr(":5:15: collections.history.existing: expected refuse, replace or append, found "
                        "\"overwrite\""));
  EXPECT_THAT(text,
              HasSubstr(":6:11: collections.history.file: expected a file name with {collection}, {step}, "
                        "{member} and {date:FORMAT}: "));
  EXPECT_THAT(text,
              HasSubstr(":8:18: collections.history.variables.t.chunk: expected a list of integers from 1"));
  EXPECT_THAT(text,
              HasSubstr(":8:26: unknown setting \"collections.history.variables.t.deflat\"; did you mean "
                        "\"deflate\"?"));
}

TEST(ConfigProblems, CollectionsElsewhere) {
  EXPECT_THAT(error_of_flags({"--afterbay.collections.history=cdf5"}).message,
              HasSubstr("expected collections.NAME.SETTING or collections.NAME.variables.NAME.SETTING"));
  EXPECT_THAT(
      error_of_flags({"--afterbay.collections.history.colour=red"}).message,
      AllOf(
          HasSubstr("unknown setting \"collections.history.colour\"; expected store, existing, directory, "),
          HasSubstr(" deflate, "), HasSubstr(one_of(names_of(collection_settings())))));
  Sources sources = no_environment();
  sources.environment->emplace("AFTERBAY_COLLECTIONS", "{h: {store: hdf}}");
  EXPECT_THAT(error_of(sources).message,
              HasSubstr("AFTERBAY_COLLECTIONS:1:13: collections.h.store: expected " + one_of(format_names()) +
                        ", found \"hdf\""));
  sources.environment = Variables{{"AFTERBAY_COLLECTIONS", "[h]"}};
  EXPECT_THAT(error_of(sources).message,
              HasSubstr("AFTERBAY_COLLECTIONS:1:1: expected settings of collections"));
}

TEST(ConfigProblems, OneProblemIsNotCounted) {
  const std::string text = error_of_flags({"--afterbay.servers=0"}).message;
  EXPECT_EQ(
      text,
      "the configuration is wrong:\n  --afterbay.servers: servers: expected an integer from 1 to 65536, "
      "found \"0\"");
}

}  // namespace
}  // namespace afterbay::config
