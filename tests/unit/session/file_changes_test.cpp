// SPDX-License-Identifier: Apache-2.0
// Changes of the schema for one file that would break what was promised of packed and rounded
// values: the servers apply them, and wrote wrong values or larger errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "read_back.hpp"
#include "scratch_directory.hpp"
#include "unit/local_run.hpp"
#include "unit/storage/messages/message_schema.hpp"

namespace afterbay::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const LocalRun::Settings changes_settings{
    {"memory.server", "4MiB"}, {"memory.block", "256KiB"}, {"deadline", "20s"}};

/// Opens files with changes; what is refused is a conflict with file and variable.
class ChangedFiles {
 public:
  explicit ChangedFiles(Collection& collection, std::string variable)
      : collection_(collection), variable_(std::move(variable)) {}

  std::string opened(const SchemaChanges& changes) {
    try {
      OutputFile file = collection_.open({.name = fmt::format("{}.out", ++files_)}, changes);
      file.close();
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.error().code, ErrorCode::conflict) << failure.what();
      EXPECT_EQ(failure.error().variable, variable_);
      EXPECT_THAT(failure.error().file, HasSubstr(fmt::format("{}.out", files_)));
      return failure.error().text();
    }
    return "accepted";
  }
  std::string with(const std::string& attribute, const Values& values) {
    return opened(SchemaChanges().attribute(variable_, attribute, values));
  }
  /// Expects that the attribute is named with what to do.
  void expect_refused(const std::string& attribute, const Values& values) {
    EXPECT_THAT(
        with(attribute, values),
        AllOf(HasSubstr(fmt::format("a file cannot have its own {} for variable '{}'", attribute, variable_)),
              testing::AnyOf(HasSubstr("give it in the schema of the collection"),
                             HasSubstr("remove the change"))));
  }

 private:
  Collection& collection_;
  std::string variable_;
  int files_ = 0;
};

/// Defines `ta` (float32) in `store` and lets `model` open files of it.
void with_temperature(const char* store, const LocalRun::Settings& of_variable,
                      const std::function<void(Variable&)>& change,
                      const std::function<void(ChangedFiles&)>& model) {
  const Directory directory;
  LocalRun::Settings settings = changes_settings;
  for (const auto& [name, value] : of_variable)
    settings.emplace_back("collections.c.variables.ta." + name, value);
  LocalRun run(1, 1, settings);
  const auto errors = run.run([&](Session& session, int) {
    Schema schema = temperature_on("plev");
    change(*schema.find_variable("ta"));
    try {
      Collection collection =
          session.collection("c", schema, {.directory = directory.path.string(), .store = store});
      ChangedFiles files(collection, "ta");
      model(files);
    } catch (const Failure& failure) {
      if (failure.error().text().find("has no ecCodes") == std::string::npos) throw;
    }
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
}

const auto as_it_is = [](Variable&) {};

TEST(ThreadSessionFileChanges, of_packed_variables_cannot_change_what_integers_mean) {
  with_temperature(
      "netcdf4", {{"pack", "int16"}, {"pack_range", "180,340"}},
      [](Variable& ta) { ta.attribute("valid_max", 330.0F); },
      [](ChangedFiles& files) {
        for (const char* const attribute :
             {"valid_max", "valid_min", "scale_factor", "add_offset", "missing_value", "largest_error"})
          files.expect_refused(attribute, Values(320.0));
        files.expect_refused("valid_range", Values({200.0, 320.0}));
        files.expect_refused("valid_max", Values());  // removed
        files.expect_refused("largest_error", Values());
        EXPECT_EQ(files.with("long_name", "temperature"), "accepted");
        EXPECT_EQ(files.opened(SchemaChanges().attribute("title", "one file")), "accepted");
      });
}

TEST(ThreadSessionFileChanges, of_rounded_variables_cannot_make_values_invalid_or_scale_them) {
  with_temperature("netcdf4", {{"absolute_error", "1"}}, as_it_is, [](ChangedFiles& files) {
    files.expect_refused("valid_max", Values(299.5F));
    files.expect_refused("valid_min", Values(200.5F));
    files.expect_refused("valid_range", Values({200.5F, 299.5F}));
    files.expect_refused("scale_factor", Values(100.0));
    files.expect_refused("add_offset", Values(1.0));
    files.expect_refused("largest_error", Values(0.0));
    EXPECT_EQ(files.with("long_name", "temperature"), "accepted");
  });
  // Without a stated accuracy, scaled values may be rounded.
  with_temperature("netcdf4", {{"bitround", "9"}}, as_it_is, [](ChangedFiles& files) {
    files.expect_refused("valid_max", Values(299.5F));
    files.expect_refused("quantization_nsb", Values(12));
    files.expect_refused("quantization", Values());
    EXPECT_EQ(files.with("scale_factor", Values(100.0)), "accepted");
  });
  with_temperature("netcdf4", {{"add", "-273.15"}}, as_it_is, [](ChangedFiles& files) {
    EXPECT_EQ(files.with("valid_max", Values(40.0F)), "accepted");
  });
  with_temperature("netcdf4", {}, as_it_is, [](ChangedFiles& files) {
    EXPECT_EQ(files.with("valid_max", Values(299.5F)), "accepted");
    EXPECT_EQ(files.with("largest_error", Values(0.5)), "accepted");
  });
}

TEST(ThreadSessionFileChanges, of_pp_fields_keep_the_stated_accuracy) {
  with_temperature("pp", {{"absolute_error", "0.01"}}, as_it_is, [](ChangedFiles& files) {
    files.expect_refused("PP_accuracy", Values(3));
    EXPECT_THAT(files.with("PP_accuracy", Values(3)), HasSubstr("let it be -6"));
    files.expect_refused("PP_accuracy", Values());
    EXPECT_THAT(
        files.opened(
            SchemaChanges().attribute("ta", "PP_accuracy", Values()).attribute("ta", "PP_packing", "none")),
        HasSubstr("a file cannot have its own PP_accuracy for variable 'ta'"));
    EXPECT_THAT(files.opened(SchemaChanges().attribute("ta", "units", "K").attribute("ta", "PP_accuracy", 3)),
                HasSubstr("its own PP_accuracy for"));
    EXPECT_EQ(files.with("PP_accuracy", Values(-10)), "accepted");
    EXPECT_EQ(files.with("valid_max", Values(299.5F)), "accepted");  // before packing
  });
  with_temperature(
      "pp", {{"absolute_error", "0.01"}}, [](Variable& ta) { ta.attribute("PP_packing", "none"); },
      [](ChangedFiles& files) {
        for (const int accuracy : {3, -10})
          EXPECT_THAT(files.opened(SchemaChanges()
                                       .attribute("ta", "PP_packing", "wgdos")
                                       .attribute("ta", "PP_accuracy", accuracy)),
                      HasSubstr("a file cannot have its own PP_packing for variable 'ta'"));
        files.expect_refused("valid_max", Values(299.5F));
      });
  // Nothing was stated but the attribute.
  with_temperature(
      "pp", {}, [](Variable& ta) { ta.attribute("PP_accuracy", -6); },
      [](ChangedFiles& files) { EXPECT_EQ(files.with("PP_accuracy", Values(3)), "accepted"); });
}

TEST(ThreadSessionFileChanges, of_grib2_messages_keep_the_stated_accuracy) {
  with_temperature("grib2", {{"absolute_error", "0.01"}}, as_it_is, [](ChangedFiles& files) {
    files.expect_refused("GRIB_decimalScaleFactor", Values(0));
    EXPECT_THAT(files.with("GRIB_decimalScaleFactor", Values(0)), HasSubstr("let it be 2"));
    files.expect_refused("GRIB_decimalScaleFactor", Values());
    EXPECT_THAT(files.opened(SchemaChanges()
                                 .attribute("ta", "GRIB_decimalScaleFactor", Values())
                                 .attribute("ta", "GRIB_bitsPerValue", 8)),
                HasSubstr("GRIB_bitsPerValue, whose error depends on the range of values"));
    EXPECT_EQ(files.with("GRIB_decimalScaleFactor", Values(4)), "accepted");
    EXPECT_EQ(files.with("GRIB_packingType", "grid_ccsds"), "accepted");
    EXPECT_EQ(files.opened(SchemaChanges().attribute("GRIB_bitsPerValue", 8)), "accepted");  // does not apply
  });
}

/// A refusal takes no place among the files, so that ranks and servers agree on those that follow.
TEST(ThreadSessionFileChanges, are_refused_alike_on_all_ranks_and_the_session_goes_on) {
  const Directory directory;
  LocalRun::Settings settings = changes_settings;
  settings.emplace_back("collections.c.variables.v.absolute_error", "1");
  settings.emplace_back("placement", "file");
  LocalRun run(3, 2, settings);
  std::mutex mutex;
  std::set<std::string> said;
  const auto errors = run.run([&](Session& session, int rank) {
    Schema schema;
    schema.dimension("time", unlimited)
        .dimension("x", 3)
        .variable("v", Type::float32, {"time", "x"})
        .on("grid");
    session.decomposition("grid", Block{{3}, {static_cast<std::uint64_t>(rank)}, {1}});
    Collection collection = session.collection("c", schema, {.directory = directory.path.string()});
    for (const char* const name : {"a.nc", "b.nc", "c.nc"}) {
      try {
        collection.open(name, SchemaChanges().attribute("v", "valid_max", 299.5F));
        ADD_FAILURE() << "not refused";
      } catch (const Failure& failure) {
        const std::lock_guard lock(mutex);
        said.insert(failure.error().message);
      }
      OutputFile file = collection.open(name, SchemaChanges().attribute("v", "long_name", "values"));
      const float value = 100.0F * static_cast<float>(rank);
      file.put("v", 0, &value);
      session.end_step();
      session.wait(file.close());
    }
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  EXPECT_EQ(said.size(), 1u);
  for (const char* const name : {"a.nc", "b.nc", "c.nc"})
    EXPECT_EQ(read<float>(directory.path / name, "v"), (std::vector<float>{0, 100, 200}));
}

}  // namespace
}  // namespace afterbay::test
