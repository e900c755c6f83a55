// SPDX-License-Identifier: Apache-2.0
// Refused calls of a session: reported at once on the calling rank; the session continues.
#include <gtest/gtest.h>

#include "model/record_set.hpp"
#include "read_back.hpp"
#include "scratch_directory.hpp"
#include "unit/local_run.hpp"

namespace afterbay::test {
namespace {

Schema small_schema() {
  Schema schema;
  schema.dimension("time", unlimited).dimension("x", 4).dimension("name", 2);
  schema.variable("t", Type::float32, {"time", "x"}).attribute("units", "K");
  schema.variable("mask", Type::int32, {"x"});
  schema.variable("label", Type::string, {"time", "name"});
  return schema;
}

/// The error of `call`.
std::string refusal(const std::function<void()>& call, ErrorCode code) {
  try {
    call();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, code) << failure.what();
    return failure.what();
  }
  ADD_FAILURE() << "it was accepted";
  return {};
}

/// Runs `model` with a file of `small_schema` on one rank; the session must end successfully.
void with_file(const std::function<void(Session&, Collection&, OutputFile&)>& model) {
  LocalRun run(1, 1, {{"memory.server", "1MiB"}, {"memory.block", "64KiB"}, {"deadline", "20s"}});
  const auto errors = run.run([&](Session& session, int) {
    Collection collection = session.collection("c", small_schema(), {.file = "{step}.nc", .store = "memory"});
    OutputFile file = collection.open({.step = 0});
    model(session, collection, file);
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
}

const std::vector<float> field{1, 2, 3, 4};
const std::vector<int> mask{1, 0, 1, 0};

/// Before, netCDF stored them in normal form C, in which they were not found at the end of the run,
/// or collided with another name.
TEST(SessionRefusals, names_that_netcdf_would_store_as_other_ones) {
  const std::string decomposed = "temp\u0065\u0301rature";
  const std::string composed = "temp\u00e9rature";
  const auto with = [](const std::function<void(Schema&)>& change) {
    Schema schema;
    schema.dimension("x", 4);
    change(schema);
    return schema;
  };
  for (const char* store : {"netcdf4", "cdf5", "memory"})
    with_file([&](Session& session, Collection&, OutputFile&) {
      const auto define = [&](const Schema& schema) {
        session.collection("d", schema, {.file = "names.nc", .store = store});
      };
      for (const Schema& schema :
           {with([&](Schema& s) { s.variable(decomposed, Type::int8, {"x"}); }),
            with([&](Schema& s) { s.dimension(decomposed, 2); }),
            with([&](Schema& s) { s.attribute(decomposed, "y"); }),
            with([&](Schema& s) { s.variable("v", Type::int8, {"x"}).attribute(decomposed, "y"); }),
            with([&](Schema& s) {
              s.variable(composed, Type::int8, {"x"});
              s.variable(decomposed, Type::int8, {"x"});
            })}) {
        const auto text = refusal([&] { define(schema); }, ErrorCode::invalid_argument);
        EXPECT_NE(text.find("normal form C"), std::string::npos) << text;
        EXPECT_NE(text.find("65 cc 81"), std::string::npos) << text;
        EXPECT_NE(text.find("c3 a9"), std::string::npos) << text;
      }
      define(with([&](Schema& s) { s.variable(composed, Type::int8, {"x"}).attribute(composed, "y"); }));
    });
}

// Before, the server found changes of one file to be impossible, which ended the session, or stored
// them under another name.
TEST(SessionRefusals, changes_that_cannot_be_written_are_found_by_open) {
  const std::string decomposed = "temp\u0065\u0301rature";
  LocalRun run(1, 1, {{"memory.server", "1MiB"}, {"memory.block", "64KiB"}, {"deadline", "20s"}});
  const Directory directory;
  const auto errors = run.run([&](Session& session, int) {
    Schema schema;
    schema.dimension("time", unlimited).dimension("x", 4).variable("t", Type::float32, {"time", "x"});
    Collection collection = session.collection(
        "c", schema, {.file = "{step}.nc", .directory = directory.path.string(), .store = "netcdf4"});
    const auto refused = [&](const SchemaChanges& changes, ErrorCode code, const std::string& part) {
      const auto text = refusal([&] { collection.open({.step = 1}, changes); }, code);
      EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    const ErrorCode bad = ErrorCode::invalid_argument;
    refused(SchemaChanges().attribute("_NCProperties", "mine"), bad, "netCDF-4 reserves this name");
    refused(SchemaChanges().attribute("t", "DIMENSION_LIST", "mine"), bad, "variable 't': attribute");
    refused(SchemaChanges().attribute("a/b", 1), bad, "contains '/'");
    refused(SchemaChanges().attribute(decomposed, "y"), bad, "normal form C");
    refused(SchemaChanges().attribute("t", decomposed, "y"), bad, "65 cc 81");
    refused(SchemaChanges().attribute("t", "_FillValue", "x"), ErrorCode::wrong_type, "_FillValue");
    refused(SchemaChanges().attribute("t", "_FillValue", -1), ErrorCode::conflict,
            "all files of collection 'c' have the same one");
    OutputFile file = collection.open({.step = 1}, SchemaChanges().attribute("t", "valid_min", -1));
    file.put("t", 0, field.data());
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  EXPECT_EQ(read<float>(directory.path / "1.nc", "t"), field);
}

TEST(SessionRefusals, a_record_variable_wants_a_record) {
  with_file([](Session&, Collection&, OutputFile& file) {
    const auto text = refusal([&] { file.put("t", field.data()); }, ErrorCode::invalid_argument);
    EXPECT_NE(text.find("variable 't' has the unlimited dimension"), std::string::npos) << text;
    refusal([&] { file.put("t", static_cast<std::uint64_t>(-3), field.data()); },
            ErrorCode::invalid_argument);
    file.put("t", 0, field.data());
  });
}

TEST(SessionRefusals, a_fixed_variable_has_no_records) {
  with_file([](Session&, Collection&, OutputFile& file) {
    const auto text = refusal([&] { file.put("mask", 7, mask.data()); }, ErrorCode::invalid_argument);
    EXPECT_NE(text.find("no unlimited dimension"), std::string::npos) << text;
    file.put("mask", mask.data());
  });
}

TEST(SessionRefusals, a_record_is_put_once_while_a_file_is_open) {
  with_file([](Session& session, Collection& collection, OutputFile& file) {
    file.put("t", 0, field.data());
    file.put("mask", mask.data());
    session.end_step();
    const auto text = refusal([&] { file.put("t", 0, field.data()); }, ErrorCode::conflict);
    EXPECT_NE(text.find("record 0 of the variable was put already"), std::string::npos) << text;
    EXPECT_NE(text.find("0.nc"), std::string::npos) << text;
    refusal([&] { file.put("mask", mask.data()); }, ErrorCode::conflict);
    file.put("t", 1, field.data());
    OutputFile other = collection.open({.step = 1});
    other.put("t", 0, field.data());
  });
}

TEST(SessionRefusals, strings_are_put_once_per_record) {
  with_file([](Session& session, Collection&, OutputFile& file) {
    const std::vector<std::string> labels{"a", "b"};
    file.put_strings("label", 0, labels);
    session.end_step();
    refusal([&] { file.put_strings("label", 0, labels); }, ErrorCode::conflict);
    file.put_strings("label", 1, labels);
  });
}

TEST(SessionRefusals, changes_of_unknown_variables_are_found_by_open) {
  with_file([](Session&, Collection& collection, OutputFile& file) {
    SchemaChanges changes;
    changes.attribute("tt", "units", "degC");
    const auto text = refusal([&] { collection.open({.step = 2}, changes); }, ErrorCode::unknown_name);
    EXPECT_NE(text.find("did you mean \"t\""), std::string::npos) << text;
    file.put("t", 0, field.data());
  });
}

TEST(SessionRefusals, a_step_does_not_end_while_a_slot_is_out) {
  with_file([](Session& session, Collection&, OutputFile& file) {
    Slot slot = file.acquire("t", 0, Type::float32);
    const auto text = refusal([&] { session.end_step(); }, ErrorCode::bad_state);
    EXPECT_NE(text.find("variable t, record 0"), std::string::npos) << text;
    refusal([&] { session.flush(); }, ErrorCode::bad_state);
    refusal([&] { file.close(); }, ErrorCode::bad_state);
    for (const auto& part : slot.parts()) std::fill_n(static_cast<float*>(part.data), part.count[0], 1.0F);
    slot.commit();
    session.end_step();
    { const Slot given_up = file.acquire("t", 1, Type::float32); }
    session.end_step();
  });
}

TEST(SessionRefusals, an_empty_handle) {
  LocalRun run(1, 1, {{"memory.server", "1MiB"}, {"memory.block", "64KiB"}});
  run.run([&](Session& session, int) {
    Session moved = std::move(session);
    refusal([&] { session.end_step(); }, ErrorCode::bad_state);
    moved.finalize();
    session = std::move(moved);
  });
}

TEST(SessionRefusals, a_ticket_that_nobody_gave) {
  with_file([](Session& session, Collection&, OutputFile&) {
    refusal([&] { session.wait(Ticket{999}); }, ErrorCode::invalid_argument);
    refusal([&] { static_cast<void>(session.is_complete(Ticket{})); }, ErrorCode::invalid_argument);
    session.wait(session.flush());
  });
}

TEST(RecordSet, runs_grow_and_join) {
  model::RecordSet set;
  for (const std::uint64_t record : {5u, 7u, 6u, 0u, 1u, 9u}) set.insert(record);
  for (const std::uint64_t record : {0u, 1u, 5u, 6u, 7u, 9u}) EXPECT_TRUE(set.contains(record)) << record;
  for (const std::uint64_t record : {2u, 4u, 8u, 10u}) EXPECT_FALSE(set.contains(record)) << record;
  EXPECT_EQ(set.end(), 10u);
}

TEST(RecordSet, of_one_run_takes_records_at_its_end_and_elsewhere) {
  model::RecordSet set;
  EXPECT_FALSE(set.contains(0));
  EXPECT_EQ(set.end(), 0u);
  for (const std::uint64_t record : {3u, 4u, 4u, 5u}) set.insert(record);
  EXPECT_EQ(set.end(), 6u);
  EXPECT_FALSE(set.contains(2));
  EXPECT_TRUE(set.contains(5));
  set.insert(2);
  set.insert(7, 9);
  for (std::uint64_t record = 0; record < 12; ++record)
    EXPECT_EQ(set.contains(record), (record >= 2 && record < 6) || record == 7 || record == 8) << record;
  EXPECT_EQ(set.end(), 9u);
  model::RecordSet range;
  range.insert(7, 9);
  range.insert(9);
  range.insert(1, 3);
  for (std::uint64_t record = 0; record < 12; ++record)
    EXPECT_EQ(range.contains(record), (record >= 7 && record < 10) || record == 1 || record == 2) << record;
}

}  // namespace
}  // namespace afterbay::test
