// SPDX-License-Identifier: Apache-2.0
// Stages in a whole session: the same converted values in every format, placement and way of
// handing over, read back by netCDF; and what is refused, in the caller's language.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "read_back.hpp"
#include "scratch_directory.hpp"
#include "unit/local_run.hpp"

namespace afterbay::test {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t stage_points = 3000;  ///< length of the dimension
constexpr std::uint64_t covered = 2800;       ///< points that ranks hold; the others are gaps
constexpr std::uint64_t put_records = 4;      ///< records of a file before more are appended
constexpr std::uint64_t stages_hole = 77;     ///< every so many points, the model puts a missing value

LocalRun::Settings staged(const LocalRun::Settings& more) {
  LocalRun::Settings settings{{"memory.server", "2MiB"},
                              {"memory.block", "64KiB"},
                              {"chunk", "4KiB"},
                              {"memory.small_block", "16KiB"},
                              {"deadline", "30s"}};
  for (const char* const name : {"c", "longer"}) {
    const std::string prefix = fmt::format("collections.{}.variables.", name);
    settings.emplace_back(prefix + "f.multiply", "0.5");
    settings.emplace_back(prefix + "f.add", "-16");
    settings.emplace_back(prefix + "d.multiply", "-4");
    settings.emplace_back(prefix + "s.add", "3");
    settings.emplace_back(prefix + "m.multiply", "2");
    settings.emplace_back(prefix + "one.add", "100");
  }
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

/// Variables with and without stages, on blocks and on a map whose points the servers put in order.
Schema staged_schema(bool netcdf4) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("x", stage_points);
  schema.variable("f", Type::float32, {"time", "x"}).on("line");
  if (netcdf4) schema.variables.back().with_deflate(1);
  schema.variable("plain", Type::float32, {"time", "x"}).on("line");
  schema.variable("d", Type::float64, {"time", "x"}).on("line").attribute("missing_value", Values(-5.0));
  schema.variable("s", Type::int16, {"time", "x"}).on("line").with_fill(Values(std::int16_t{-1}));
  schema.variable("m", Type::float32, {"time", "x"}).on("scattered");
  schema.variable("one", Type::int32, {"time"});
  schema.variable("word", Type::text, {"x"});
  return schema;
}

float before(std::uint64_t record, std::uint64_t point) {
  return static_cast<float>(record * stage_points + point) + 0.25F;
}

struct Way {
  const char* name;
  const char* store;
  int servers;
  LocalRun::Settings more;
  bool slots = false;
};

class ThreadSessionStages : public testing::TestWithParam<Way> {
 protected:
  Collection define(Session& session, const char* name, const char* existing) const {
    const auto rank = static_cast<std::uint64_t>(session.model_rank());
    if (std::string_view(name) == "c") {
      const std::uint64_t mine = covered / 2;
      session.decomposition("line", Block{{stage_points}, {rank * mine}, {mine}}, {.gaps_allowed = true});
      Map map;
      map.global = {stage_points};
      for (std::uint64_t i = rank; i < covered; i += 2) map.indices.push_back(static_cast<std::int64_t>(i));
      session.decomposition("scattered", map, {.gaps_allowed = true});
    }
    const std::string store = GetParam().store;
    return session.collection(
        name, staged_schema(store == "netcdf4"),
        {.file = "c.nc", .directory = directory_.path.string(), .store = store, .existing = existing});
  }

  void put_records_of(Session& session, OutputFile& file, std::uint64_t from, std::uint64_t to) const {
    const std::uint64_t mine = covered / 2, first = mine * static_cast<std::uint64_t>(session.model_rank());
    if (from == 0) file.put("word", std::string(stage_points, 'w').data());
    for (std::uint64_t r = from; r < to; ++r) {
      std::vector<float> f(mine), m(mine);
      std::vector<double> d(mine);
      std::vector<std::int16_t> s(mine);
      for (std::uint64_t i = 0; i < mine; ++i) {
        const std::uint64_t point = first + i;
        f[i] = point % stages_hole == 0 ? std::numeric_limits<float>::quiet_NaN() : before(r, point);
        d[i] = point % stages_hole == 0 ? -5.0 : static_cast<double>(before(r, point));
        s[i] = static_cast<std::int16_t>(point % stages_hole == 0 ? -1 : static_cast<int>(point));
        m[i] = before(r, 2 * i + static_cast<std::uint64_t>(session.model_rank()));
      }
      if (GetParam().slots)
        put_by_slot(file, r, f);
      else
        file.put("f", r, f.data());
      file.put("plain", r, f.data());
      file.put("d", r, d.data());
      file.put("s", r, s.data());
      file.put("m", r, m.data());
      const int one = static_cast<int>(r);
      file.put("one", r, &one);
      session.end_step();
    }
  }

  static void put_by_slot(OutputFile& file, std::uint64_t record, const std::vector<float>& values) {
    Slot slot = file.acquire("f", record, Type::float32);
    std::size_t at = 0;
    for (const Slot::Part& part : slot.parts()) {
      std::copy_n(values.data() + at, part.count[0], static_cast<float*>(part.data));
      at += part.count[0];
    }
    slot.commit();
  }

  void expect_values(std::uint64_t records) const {
    const auto path = directory_.path / "c.nc";
    const auto f = read<float>(path, "f"), plain = read<float>(path, "plain"), m = read<float>(path, "m");
    const auto d = read<double>(path, "d");
    const auto s = read<int>(path, "s"), one = read<int>(path, "one");
    ASSERT_EQ(f.size(), records * stage_points);
    const float no_float = 9.9692099683868690e+36F;
    for (std::uint64_t r = 0; r < records; ++r) {
      ASSERT_EQ(one[r], static_cast<int>(r) + 100);
      for (std::uint64_t p = 0; p < stage_points; ++p) {
        const std::uint64_t at = r * stage_points + p;
        const float value = before(r, p);
        ASSERT_EQ(m[at], p < covered ? 2 * value : no_float) << at;
        if (p >= covered) {
          ASSERT_EQ(f[at], no_float) << at;
          ASSERT_EQ(d[at], 9.9692099683868690e+36) << at;
          ASSERT_EQ(s[at], -1) << at;
        } else if (p % stages_hole == 0) {
          ASSERT_TRUE(std::isnan(f[at])) << at;
          ASSERT_EQ(d[at], -5.0) << at;
          ASSERT_EQ(s[at], -1) << at;
        } else {
          ASSERT_EQ(f[at], 0.5F * value - 16) << at;
          ASSERT_EQ(plain[at], value) << at;
          ASSERT_EQ(d[at], -4 * static_cast<double>(value)) << at;
          ASSERT_EQ(s[at], static_cast<int>(p) + 3) << at;
        }
      }
    }
  }

  Directory directory_;
};

TEST_P(ThreadSessionStages, convert_the_values_of_every_way_to_the_file) {
  LocalRun run(2, GetParam().servers, staged(GetParam().more));
  const auto errors = run.run([&](Session& session, int) {
    OutputFile file = define(session, "c", "refuse").open();
    put_records_of(session, file, 0, put_records);
    session.wait(file.close());
    OutputFile longer = define(session, "longer", "append").open();
    EXPECT_EQ(longer.records(), put_records);
    put_records_of(session, longer, put_records, put_records + 2);
    session.wait(longer.close());
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  expect_values(put_records + 2);
}

INSTANTIATE_TEST_SUITE_P(
    , ThreadSessionStages,
    testing::Values(Way{"netcdf4", "netcdf4", 1, {}}, Way{"cdf5", "cdf5", 1, {}}, Way{"cdf2", "cdf2", 1, {}},
                    Way{"netcdf4_slab", "netcdf4", 2, {{"placement", "slab"}}},
                    Way{"cdf5_slab", "cdf5", 2, {{"placement", "slab"}}},
                    Way{"cdf5_variable", "cdf5", 3, {{"placement", "variable"}}},
                    Way{"netcdf4_slots", "netcdf4", 1, {}, true}, Way{"cdf5_slots", "cdf5", 1, {}, true},
                    Way{"netcdf4_one_writer", "netcdf4", 1, {{"writers", "1"}, {"memory.server", "1MiB"}}}),
    [](const auto& parameter) { return parameter.param.name; });

// ---- what is refused

Schema refused_schema() {
  Schema schema;
  schema.dimension("time", unlimited).dimension("x", 4);
  schema.variable("t", Type::int16, {"time", "x"});
  schema.variable("word", Type::text, {"x"});
  schema.variable("label", Type::string, {"x"});
  schema.variable("lon", Type::float64, {"x"}).with_constant(Values{0.0, 1.0, 2.0, 3.0});
  return schema;
}

/// The errors of a run in which one rank puts 10, 20, 30, 40 to record 1.
std::vector<std::optional<Error>> errors_with(const LocalRun::Settings& more, Terms terms = Terms::c) {
  const Directory directory;
  LocalRun::Settings settings{{"memory.server", "1MiB"}, {"memory.block", "64KiB"}, {"deadline", "20s"}};
  settings.insert(settings.end(), more.begin(), more.end());
  LocalRun run(1, 1, settings);
  run.terms = terms;
  return run.run([&](Session& session, int) {
    Collection collection =
        session.collection("c", refused_schema(), {.file = "c.nc", .directory = directory.path.string()});
    OutputFile file = collection.open();
    file.put("t", 1, std::vector<int>{10, 20, 30, 40}.data());
    session.wait(file.close());
    session.finalize();
  });
}

std::string text_of(const std::optional<Error>& error) { return error ? error->text() : "no error"; }

TEST(ThreadSessionStagesRefusals, of_variables_that_are_not_there_or_hold_no_numbers) {
  EXPECT_THAT(text_of(errors_with({{"collections.c.variables.tt.multiply", "2"}})[0]),
              HasSubstr("the collection \"c\" has no variable \"tt\"; did you mean \"t\"?"));
  EXPECT_THAT(text_of(errors_with({{"collections.c.variables.word.multiply", "2"}})[0]),
              HasSubstr("multiply is set for variable 'word', which holds text"));
  EXPECT_THAT(text_of(errors_with({{"collections.c.variables.label.add", "2"}})[0]),
              HasSubstr("add is set for variable 'label', which holds strings"));
  EXPECT_THAT(text_of(errors_with({{"collections.c.variables.lon.add", "2"}})[0]),
              HasSubstr("add is set for variable 'lon', which is constant"));
}

TEST(ThreadSessionStagesRefusals, of_results_that_the_type_cannot_hold_name_the_record_as_the_caller_counts) {
  const LocalRun::Settings too_much{{"collections.c.variables.t.multiply", "1000"}};
  const auto in_c = errors_with(too_much);
  for (const auto& error : in_c) {  // the rank and the server
    EXPECT_THAT(
        text_of(error),
        HasSubstr("after multiply 1000, add 0, 1 values of the part [0:4] of record 1 of variable 't' "
                  "are out of range of its type int16"));
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, ErrorCode::wrong_type);
    EXPECT_EQ(error->variable, "t");
    EXPECT_THAT(error->file, HasSubstr("c.nc"));
  }
  EXPECT_THAT(text_of(errors_with(too_much, Terms::fortran)[0]),
              HasSubstr("of the part (1:4) of record 2 of variable 't'"));
}

std::string refusal_of(Collection& collection, const SchemaChanges& changes) {
  try {
    collection.open(FileName{}, changes);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, ErrorCode::conflict) << failure.what();
    EXPECT_EQ(failure.error().variable, "t");
    return failure.what();
  }
  return "accepted";
}

/// Stages keep the missing values of the collection, and servers fill gaps with its fill value.
TEST(ThreadSessionStagesRefusals, of_missing_values_of_one_file) {
  const Directory directory;
  for (const bool with_stage : {true, false}) {
    LocalRun::Settings settings{{"memory.server", "1MiB"}, {"memory.block", "64KiB"}, {"deadline", "20s"}};
    if (with_stage) settings.emplace_back("collections.c.variables.t.add", "5");
    LocalRun run(1, 1, settings);
    const auto errors = run.run([&](Session& session, int) {
      Collection collection =
          session.collection("c", refused_schema(), {.file = "c.nc", .directory = directory.path.string()});
      const std::string all = "all files of collection 'c' have the same one";
      EXPECT_THAT(refusal_of(collection, SchemaChanges().attribute("t", "_FillValue", std::int16_t{-999})),
                  AllOf(HasSubstr("own _FillValue for variable 't'"), HasSubstr(all)));
      const auto missing = SchemaChanges().attribute("t", "missing_value", std::int16_t{-998});
      if (with_stage) {
        EXPECT_THAT(refusal_of(collection, missing), HasSubstr("own missing_value for variable 't'"));
      } else {
        collection.open(FileName{}, missing);
      }
      session.finalize();
    });
    for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
    std::filesystem::remove(directory.path / "c.nc");
  }
}

/// Ranks and servers lay frames out alike only if they know of the same stages.
TEST(ThreadSessionStagesRefusals, of_settings_that_differ_between_ranks) {
  LocalRun run(2, 1, {{"memory.server", "1MiB"}, {"memory.block", "64KiB"}, {"deadline", "20s"}});
  run.settings_of_rank = [](int rank) {
    return rank == 1 ? LocalRun::Settings{{"collections.c.variables.t.add", "1"}} : LocalRun::Settings{};
  };
  const auto errors = run.run([&](Session& session, int) {
    Collection collection = session.collection("c", refused_schema(), {.file = "c.nc", .store = "memory"});
    collection.open();
    session.finalize();
  });
  EXPECT_THAT(text_of(errors[0]), HasSubstr("settings of variables must be equal on all ranks"));
}

}  // namespace
}  // namespace afterbay::test
