// SPDX-License-Identifier: Apache-2.0
// Reading files in whole sessions, in one process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "base/result.hpp"
#include "input_session.hpp"
#include "mutator.hpp"
#include "read_back.hpp"
#include "scratch_directory.hpp"
#include "unit/local_run.hpp"

namespace afterbay::test {
namespace {

using testing::HasSubstr;

LocalRun::Settings tight_input() {
  return {{"memory.server", "2MiB"}, {"memory.block", "64KiB"}, {"memory.small_block", "16KiB"},
          {"memory.input", "1MiB"},  {"chunk", "8KiB"},         {"deadline", "20s"}};
}

void input_expect_no_errors(const std::vector<std::optional<Error>>& errors) {
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
}

struct InputCase {
  const char* name;
  int mode;
  int models;
  int servers;
};

class ThreadSessionInput : public testing::TestWithParam<InputCase> {};

TEST_P(ThreadSessionInput, every_selection_is_read_right) {
  const Directory directory;
  inputs::write_file(directory.path / "input.nc", GetParam().mode);
  LocalRun run(GetParam().models, GetParam().servers, tight_input());
  input_expect_no_errors(run.run([&](Session& session, int) {
    inputs::expect_right(session, directory.path / "input.nc", GetParam().mode == NC_NETCDF4);
    session.finalize();
  }));
}

TEST_P(ThreadSessionInput, what_the_session_wrote_is_read_back_by_other_decompositions) {
  const Directory directory;
  LocalRun run(GetParam().models, GetParam().servers, tight_input());
  input_expect_no_errors(run.run([&](Session& session, int) {
    inputs::define(session);
    inputs::write_and_read(session, GetParam().mode == NC_NETCDF4 ? "netcdf4" : "cdf5", directory.path);
    session.finalize();
  }));
}

INSTANTIATE_TEST_SUITE_P(, ThreadSessionInput,
                         testing::Values(InputCase{"netcdf4", NC_NETCDF4, 4, 2},
                                         InputCase{"cdf5", NC_64BIT_DATA, 3, 1},
                                         InputCase{"cdf2", NC_64BIT_OFFSET, 1, 2},
                                         InputCase{"cdf1", 0, 5, 3}),
                         [](const auto& parameter) { return parameter.param.name; });

template <class Action>
Error refusal(Action&& action) {
  try {
    action();
  } catch (const Failure& failure) {
    return failure.error();
  }
  ADD_FAILURE() << "nothing was refused";
  return make_error(ErrorCode::internal, "");
}

// ---- damaged files

TEST(ThreadSessionInputDamage, damaged_netcdf4_inputs_do_not_end_the_server_and_its_output_is_published) {
  const Directory directory;
  inputs::write_file(directory.path / "whole.nc", NC_NETCDF4);
  const Mutator mutator(bytes_of_file(directory.path / "whole.nc"), 7);
  LocalRun run(1, 1, tight_input());
  input_expect_no_errors(run.run([&](Session& session, int) {
    Schema schema;
    schema.dimension("time", unlimited).dimension("x", 3);
    schema.variable("v", Type::int32, {"time", "x"});
    Collection c = session.collection("c", schema, {.file = "out.nc", .directory = directory.path.string()});
    OutputFile output = c.open();
    for (int number = 0; number < 60; ++number) {
      const std::string path = (directory.path / "damaged.nc").string();
      write_bytes(path, mutator.mutant(static_cast<std::uint64_t>(number)));
      try {
        InputFile input = session.open_input(path);
        if (input.schema().find_variable("names") != nullptr) static_cast<void>(input.get_strings("names"));
        const Dimension* const length = input.schema().find_dimension("cells");
        const Variable* const area = input.schema().find_variable("area");
        if (area != nullptr && area->dimensions.size() == 1 && length != nullptr &&
            length->length == inputs::cells) {
          std::vector<double> values(inputs::cells);
          input.get("area", values.data());
        }
        input.close();
      } catch (const Failure& failure) {
        EXPECT_NE(failure.code(), ErrorCode::internal) << failure.what();
        EXPECT_NE(failure.code(), ErrorCode::peer_lost) << failure.what();
      }
      const int values[]{number, number + 1, number + 2};
      output.put("v", static_cast<std::uint64_t>(number), values);
      session.end_step();
    }
    output.close();
    session.finalize();
  }));
  const std::vector<int> written = read<int>(directory.path / "out.nc", "v");
  ASSERT_EQ(written.size(), 180u);
  for (std::size_t number = 0; number < 60; ++number)
    EXPECT_EQ(written[3 * number + 1], static_cast<int>(number) + 1);
}

// ---- files that this session writes

Schema one_number() {
  Schema schema;
  schema.dimension("x", 3);
  schema.variable("v", Type::int32, {"x"});
  return schema;
}

void write_number(Session& session, Collection& collection, int number) {
  const int values[]{number, number + 1, number + 2};
  OutputFile file = collection.open();
  file.put("v", values);
  file.close();
  session.end_step();
}

int read_number(InputFile input) {
  int values[3]{};
  input.get("v", values);
  EXPECT_EQ(values[2], values[0] + 2);
  return values[0];
}

TEST(ThreadSessionInputOrder, a_file_that_was_closed_is_read_as_it_was_closed_last) {
  const Directory directory;
  LocalRun run(2, 2, tight_input());
  input_expect_no_errors(run.run([&](Session& session, int) {
    Collection c = session.collection(
        "c", one_number(), {.file = "c.nc", .directory = directory.path.string(), .existing = "replace"});
    for (int i = 0; i < 10; ++i) {
      write_number(session, c, 10 * i);
      EXPECT_EQ(read_number(session.open_input((directory.path / "c.nc").string())), 10 * i);
    }
    session.finalize();
  }));
}

TEST(ThreadSessionInputOrder, a_file_that_is_open_for_output_is_read_as_of_the_last_epoch) {
  const Directory directory;
  for (const char* const store : {"netcdf4", "cdf5"}) {
    auto settings = tight_input();
    settings.emplace_back("collections.readable_*.readable", "on");
    LocalRun run(2, 1, settings);
    input_expect_no_errors(run.run([&](Session& session, int) {
      Schema schema;
      schema.dimension("time", unlimited).dimension("x", 3);
      schema.variable("v", Type::int32, {"time", "x"});
      const auto open = [&](const char* collection) {
        return session
            .collection(std::string(collection) + store, schema,
                        {.directory = directory.path.string(), .store = store})
            .open(std::string(collection) + store + ".nc");
      };
      OutputFile file = open("readable_"), hidden = open("hidden_");
      const auto input = [&](const OutputFile& of) {
        return session.open_input(of.path(), {.as_of = AsOf::epoch});
      };
      const auto put = [&](std::uint64_t record) {
        const int values[]{static_cast<int>(record), 1, 2};
        for (OutputFile* it : {&file, &hidden}) it->put("v", record, values);
        session.end_step();
      };
      put(0);
      EXPECT_THAT(refusal([&] { (void)input(file); }).text(),
                  HasSubstr("there was no epoch since it was opened"));
      put(1);
      (void)session.epoch("two");  // it is waited for
      InputFile two = input(file);
      EXPECT_EQ(two.records(), 2U);
      int values[3]{};
      two.get("v", {.record = 1}, values);
      EXPECT_EQ(values[0], 1);
      EXPECT_THAT(refusal([&] { (void)input(hidden); }).text(), HasSubstr(".readable to on"));
      two.close();
      put(2);
      file.close();
      EXPECT_EQ(input(file).records(), 3U) << "as it was closed";
      session.finalize();
    }));
  }
}

/// Prefetched data are in the server's memory, whatever happens to the file.
TEST(ThreadSessionInputOrder, what_was_prefetched_is_not_read_again) {
  const Directory directory;
  LocalRun run(1, 1, tight_input());
  input_expect_no_errors(run.run([&](Session& session, int) {
    Collection c = session.collection(
        "c", one_number(), {.file = "c.nc", .directory = directory.path.string(), .store = "cdf5"});
    write_number(session, c, 40);
    const auto path = directory.path / "c.nc";
    InputFile input = session.open_input(path.string());
    input.prefetch("v", {});
    std::this_thread::sleep_for(std::chrono::seconds(2));
    const auto size = std::filesystem::file_size(path);
    std::fstream(path, std::ios::in | std::ios::out | std::ios::binary) << std::string(size, '\0');
    EXPECT_EQ(read_number(input), 40);
    session.finalize();
  }));
}

TEST(ThreadSessionInputOrder, however_the_name_of_what_was_closed_is_spelled) {
  const Directory directory;
  const auto real = directory.path / "real";
  std::filesystem::create_directory(real);
  std::filesystem::create_directory_symlink(real, directory.path / "link");
  const std::string spellings[]{(real / "c.nc").string(), (directory.path / "link" / "c.nc").string(),
                                (real / ".." / "link" / "." / "c.nc").string(),
                                std::filesystem::relative(real / "c.nc").string()};
  LocalRun run(2, 2, tight_input());
  input_expect_no_errors(run.run([&](Session& session, int) {
    Collection c = session.collection(
        "c", one_number(),
        {.file = "c.nc", .directory = (directory.path / "link").string(), .existing = "replace"});
    for (int i = 0; i < 12; ++i) {
      write_number(session, c, 10 * i);
      EXPECT_EQ(read_number(session.open_input(spellings[i % 4])), 10 * i) << spellings[i % 4];
    }
    session.finalize();
  }));
}

TEST(ThreadSessionInputOrder, a_file_that_is_open_for_output_is_refused_or_read_as_published_last) {
  const Directory directory;
  LocalRun run(2, 1, tight_input());
  input_expect_no_errors(run.run([&](Session& session, int) {
    const std::string path = (directory.path / "c.nc").string();
    Collection c = session.collection(
        "c", one_number(), {.file = "c.nc", .directory = directory.path.string(), .existing = "replace"});
    write_number(session, c, 10);
    (void)read_number(session.open_input(path));
    OutputFile again = c.open();
    try {
      (void)session.open_input(path);
      ADD_FAILURE() << "it was opened";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.error().code, ErrorCode::bad_state);
      EXPECT_THAT(failure.error().text(), HasSubstr("open for output, in collection 'c'"));
    }
    EXPECT_EQ(read_number(session.open_input(path, {.as_of = AsOf::published})), 10);
    const int values[]{20, 21, 22};
    again.put("v", values);
    again.close();
    EXPECT_EQ(read_number(session.open_input(path)), 20);
    session.finalize();
  }));
}

TEST(ThreadSessionInputOrder, what_was_opened_stays_what_it_was_when_the_file_is_replaced) {
  const Directory directory;
  LocalRun run(1, 1, tight_input());
  input_expect_no_errors(run.run([&](Session& session, int) {
    const std::string path = (directory.path / "c.nc").string();
    Collection c = session.collection(
        "c", one_number(), {.file = "c.nc", .directory = directory.path.string(), .existing = "replace"});
    write_number(session, c, 1);
    InputFile old = session.open_input(path);
    write_number(session, c, 2);
    EXPECT_EQ(read_number(session.open_input(path)), 2);
    EXPECT_EQ(read_number(old), 1);
    session.finalize();
  }));
}

// ---- memory

TEST(ThreadSessionInputMemory, more_is_read_ahead_than_the_memory_holds) {
  const Directory directory;
  inputs::write_file(directory.path / "input.nc", NC_64BIT_DATA);
  LocalRun run(3, 1, tight_input());  // 1 MiB; a record of `ocean` has 0.2 MB
  input_expect_no_errors(run.run([&](Session& session, int) {
    InputFile input = session.open_input((directory.path / "input.nc").string());
    for (int again = 0; again < 5; ++again)
      for (std::uint64_t r = 0; r < inputs::records; ++r) {
        input.prefetch("ocean", {.record = r});
        input.prefetch("T", {.record = r});
      }
    std::vector<double> values(inputs::levels * inputs::cells);
    for (int again = 0; again < 3; ++again)
      for (std::uint64_t r = inputs::records; r-- > 0;) {
        input.get("ocean", {.record = r}, values.data());
        ASSERT_EQ(values[7 * inputs::levels + 3], inputs::value(r, 3, 7));
        input.get("T", {.record = r}, values.data());
        ASSERT_EQ(values[3 * inputs::cells + 7], inputs::value(r, 3, 7));
      }
    session.finalize();
  }));
}

TEST(ThreadSessionInputMemory, one_rank_alone_may_read) {
  const Directory directory;
  inputs::write_file(directory.path / "input.nc", NC_NETCDF4);
  LocalRun run(3, 2, tight_input());
  input_expect_no_errors(run.run([&](Session& session, int rank) {
    InputFile input = session.open_input((directory.path / "input.nc").string());
    std::vector<double> values(inputs::levels * inputs::cells);
    for (int again = 0; rank == 1 && again < 4; ++again)
      for (std::uint64_t r = 0; r < inputs::records; ++r) {
        input.get("ocean", {.record = r}, values.data());
        ASSERT_EQ(values[7 * inputs::levels + 3], inputs::value(r, 3, 7));
      }
    session.finalize();
  }));
}

// ---- errors: returned to the rank that asked; the session continues

TEST(ThreadSessionInputErrors, each_names_what_is_wrong_and_the_session_goes_on) {
  const Directory directory;
  const std::string path = (directory.path / "input.nc").string();
  inputs::write_file(path, NC_NETCDF4);
  LocalRun run(2, 2, tight_input());
  input_expect_no_errors(run.run([&](Session& session, int rank) {
    std::vector<double> values(inputs::levels * inputs::cells);
    const auto missing = refusal([&] { (void)session.open_input(path + ".no"); });
    EXPECT_EQ(missing.native, ENOENT) << missing.text();
    EXPECT_EQ(missing.file, path + ".no");
    InputFile input = session.open_input(path);
    const auto expect = [&](const std::string& variable, const Selection& what, const std::string& text) {
      const Error error = refusal([&] { input.get(variable, what, values.data()); });
      EXPECT_THAT(error.text(), HasSubstr(text));
      EXPECT_EQ(error.variable, variable);
      EXPECT_EQ(error.file, path);
    };
    expect("ocaen", {.record = 0}, "did you mean \"ocean\"");
    expect("ocean", {.record = 3}, "1 records from number 3 on are requested, the file has 3");
    expect("ocean", {.record = 1, .records = 3}, "3 records from number 1 on are requested, the file has 3");
    expect("ocean", {}, "give the record (0 to 2) to read");
    expect("area", {.record = 2}, "has no unlimited dimension");
    expect("ocean", {.record = 0, .decomposition = "no"}, "decomposition 'no' has not been registered");
    expect("ocean", {.record = 0, .block = Block{{}, {600, 0}, {14, 1}}}, "613");
    expect("names", {}, "use get_strings");
    EXPECT_THAT(refusal([&] { (void)input.get_strings("area"); }).text(), HasSubstr("not of strings"));
    session.decomposition("other", Block{{77}, {0}, {rank == 0 ? 77U : 0U}});
    expect("area", {.decomposition = "other"},
           "dimension 'cells' has length 613, but dimension 0 of decomposition 'other' has 77");
    expect("area", {.block = Block{{600}, {0}, {9}}},
           "dimension 0 of decomposition '(the selection's block)'");
    input.get("ocean", {.record = 1}, values.data());
    EXPECT_EQ(values[7 * inputs::levels + 3], inputs::value(1, 3, 7));
    input.close();
    EXPECT_THAT(refusal([&] { input.get("area", values.data()); }).text(), HasSubstr("closed on this rank"));
    session.finalize();
  }));
}

TEST(ThreadSessionInputErrors, a_variable_of_a_group_is_refused_with_the_reason) {
  const Directory directory;
  const std::string path = (directory.path / "groups.nc").string();
  int nc = 0, group = 0, variable = 0;
  ASSERT_EQ(nc_create(path.c_str(), NC_NETCDF4, &nc), NC_NOERR);
  ASSERT_EQ(nc_def_grp(nc, "deep", &group), NC_NOERR);
  ASSERT_EQ(nc_def_var(group, "salt", NC_INT, 0, nullptr, &variable), NC_NOERR);
  ASSERT_EQ(nc_close(nc), NC_NOERR);
  LocalRun run(2, 1, tight_input());
  input_expect_no_errors(run.run([&](Session& session, int) {
    InputFile input = session.open_input(path);
    int value = 0;
    const Error error = refusal([&] { input.get("salt", &value); });
    EXPECT_EQ(error.code, ErrorCode::wrong_type);
    EXPECT_THAT(error.text(), HasSubstr("variable 'deep/salt' cannot be read"));
    EXPECT_THAT(error.text(), HasSubstr("group"));
    session.finalize();
  }));
}

TEST(ThreadSessionInputErrors, values_out_of_range_are_counted_and_the_rest_is_read) {
  const Directory directory;
  const std::string path = (directory.path / "input.nc").string();
  inputs::write_file(path, NC_64BIT_DATA);
  LocalRun run(1, 1, tight_input());
  input_expect_no_errors(run.run([&](Session& session, int) {
    std::vector<std::int8_t> area(inputs::cells);
    InputFile input = session.open_input(path);
    const Error error = refusal([&] { input.get("area", area.data()); });
    EXPECT_EQ(error.code, ErrorCode::wrong_type);
    EXPECT_THAT(error.text(), HasSubstr("486 values of the file's type float64 are out of range of int8"));
    EXPECT_EQ(area[100], 100);
    session.finalize();
  }));
}

TEST(ThreadSessionInputErrors, a_file_that_is_no_netcdf_and_a_truncated_one) {
  const Directory directory;
  const std::string foreign = (directory.path / "foreign.nc").string();
  const std::string cut = (directory.path / "cut.nc").string();
  std::ofstream(foreign) << "This is not what it is called.\n";
  inputs::write_file(cut, NC_64BIT_DATA);
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) / 2);
  LocalRun run(3, 2, tight_input());
  input_expect_no_errors(run.run([&](Session& session, int) {
    EXPECT_EQ(refusal([&] { (void)session.open_input(foreign); }).code, ErrorCode::format);
    const Error error = refusal([&] {
      std::vector<double> values(inputs::levels * inputs::cells);
      InputFile input = session.open_input(cut);
      input.get("ocean", {.record = 2}, values.data());
    });
    EXPECT_EQ(error.file, cut) << error.text();
    session.finalize();
  }));
}

}  // namespace
}  // namespace afterbay::test
