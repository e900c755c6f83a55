// SPDX-License-Identifier: Apache-2.0
// What messages say if ranks and their endpoints disagree. In one process.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "unit/session/endpoint_model.hpp"

namespace afterbay::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(ThreadEndpointMessages, records_in_another_order_are_named_with_their_file) {
  const Directory directory;
  LocalRun run(2, 1, {{"deadline", "4s"}});
  const auto errors = run.run([&](Session& session, int rank) {
    const Band mine = band(rows, 2, static_cast<std::uint64_t>(rank));
    session.decomposition("grid", Block{{rows, columns}, {mine.first, 0}, {mine.count, columns}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("y", rows).dimension("x", columns);
    schema.variable("s", Type::float64, {"time", "y", "x"}).on("grid");
    schema.variable("height", Type::float64, {"y", "x"}).on("grid");
    OutputFile file = session.collection("c", schema, {.directory = directory.path.string()}).open("c.nc");
    Endpoint endpoint = session.endpoint();
    endpoint.whole("grid");
    const std::vector<double> values(mine.count * columns, 1.0);
    const auto put = [&](bool fixed) {
      if (fixed)
        endpoint.put(file, "height", no_record, values.data());
      else
        endpoint.put(file, "s", 0, values.data());
    };
    put(rank == 0);
    put(rank != 0);
    endpoint.end_step();
    session.end_step();
    session.finalize();
  });
  const auto failed = std::ranges::find_if(errors, [](const auto& error) { return error.has_value(); });
  ASSERT_NE(failed, errors.end()) << "nothing was reported";
  EXPECT_EQ((*failed)->code, ErrorCode::conflict);
  const std::string path = (directory.path / "c.nc").string();
  EXPECT_THAT((*failed)->text(),
              AllOf(HasSubstr("record 0 of " + path), HasSubstr("the variables without records of " + path),
                    HasSubstr("collection 'c'"), HasSubstr("begin the same records in the same order")));
  const int rank = (*failed)->rank;
  ASSERT_TRUE(rank == 0 || rank == 1) << (*failed)->text();
  const std::string order =
      rank == 0 ? "the variables without records by endpoint 1 in step 0, record 0 by endpoint 1"
                : "record 0 by endpoint 1 in step 0, the variables without records by endpoint 1";
  const auto& of_rank = errors[static_cast<std::size_t>(rank)];
  ASSERT_TRUE(of_rank);
  EXPECT_THAT(of_rank->text(), HasSubstr("begun on this rank, in this order: " + order + " in step 0"));
}

// The servers know ranks only; the rank knows which of its endpoints have points of the variable.
TEST(ThreadEndpointMessages, a_variable_that_no_endpoint_of_a_rank_has_put_names_those_with_parts) {
  const Directory directory;
  LocalRun run(2, 1, {{"deadline", "4s"}});
  const auto errors = run.run([&](Session& session, int rank) {
    const Band mine = band(rows, 2, static_cast<std::uint64_t>(rank));
    OutputFile file = define(session, "netcdf4", directory, 2, rank).open("c.nc");
    Endpoint upper = session.endpoint("upper"), lower = session.endpoint("lower");
    Endpoint none = session.endpoint("none");
    upper.part("grid", Block{{rows, columns}, {mine.first, 0}, {5, columns}});
    lower.part("grid", Block{{rows, columns}, {mine.first + 5, 0}, {mine.count - 5, columns}});
    const std::vector<double> values(levels * rows * columns, 1.0);
    for (Endpoint* const it : {&upper, &lower}) {
      it->put(file, "t", 0, values.data());
      if (rank == 0) it->put(file, "s", 0, values.data());
    }
    for (Endpoint* const it : {&upper, &lower, &none}) it->end_step();
    session.end_step();
    session.finalize();
  });
  for (const auto& error : errors) {
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, ErrorCode::conflict) << error->text();
    EXPECT_THAT(error->text(), HasSubstr("model rank 1 did not put variable 's' of record 0"));
  }
  EXPECT_THAT(errors[1]->text(), HasSubstr("endpoint 1 ('upper') and endpoint 2 ('lower') have parts of the "
                                           "points of variable 's' on this rank"));
}

/// One rank with a file and an endpoint that has rows [0, 10).
void with_upper(const std::string& deadline,
                const std::function<void(Session&, OutputFile&, Endpoint&)>& model) {
  const Directory directory;
  LocalRun run(1, 1, {{"deadline", deadline}});
  bool has_ended = false;
  (void)run.run([&](Session& session, int) {
    OutputFile file = define(session, "netcdf4", directory, 1, 0).open("c.nc");
    Endpoint upper = session.endpoint("upper");
    upper.part("grid", Block{{rows, columns}, {0, 0}, {10, columns}});
    model(session, file, upper);
    has_ended = true;
  });
  EXPECT_TRUE(has_ended) << "a call of the model threw";
}

Endpoint lower_of(Session& session, const std::string& name = "lower") {
  Endpoint lower = session.endpoint(name);
  lower.part("grid", Block{{rows, columns}, {10, 0}, {rows - 10, columns}});
  return lower;
}

const std::vector<double> any(levels* rows* columns, 1.0);

TEST(ThreadEndpointMessages, an_endpoint_that_is_opened_after_the_step) {
  with_upper("20s", [](Session& session, OutputFile& file, Endpoint& upper) {
    upper.put(file, "s", 0, any.data());
    session.end_step();
    Endpoint late = lower_of(session, "late");
    EXPECT_THAT(error_of([&] { late.put(file, "s", 0, any.data()); }).text(),
                AllOf(HasSubstr("record 0 of "),
                      HasSubstr("was begun in step 0, but endpoint 2 ('late') is in "
                                "step 1"),
                      HasSubstr("opened before the session ends the step")));
    EXPECT_THAT(
        error_of([&] { upper.end_step(); }).text(),
        HasSubstr("not handed over by endpoint 2 ('late'), which was opened after the session had ended "
                  "the step"));
  });
}

TEST(ThreadEndpointMessages, only_the_slowest_endpoint_is_late) {
  with_upper("1s", [](Session& session, OutputFile& file, Endpoint& upper) {
    Endpoint lower = lower_of(session);
    for (std::uint64_t step = 0; step < 2; ++step) {
      upper.put(file, "s", step, any.data());
      upper.end_step();
    }
    for (int step = 0; step < 3; ++step) session.end_step();
    EXPECT_THAT(
        error_of([&] { session.flush(); }).text(),
        HasSubstr("endpoint 2 ('lower') has ended 0 of 3 steps and made 0 puts; others are ahead of it: "
                  "endpoint 1 ('upper') (2 steps)"));
  });
}

TEST(ThreadEndpointMessages, a_slot_that_was_destroyed) {
  with_upper("20s", [](Session& session, OutputFile& file, Endpoint& upper) {
    Endpoint lower = lower_of(session);
    { const Slot slot = upper.acquire(file, "s", 0, Type::int32); }
    EXPECT_THAT(
        error_of([&] { upper.put(file, "s", 0, any.data()); }).text(),
        HasSubstr("a slot of record 0 of the variable was acquired by this caller and destroyed without "
                  "commit"));
    lower.put(file, "s", 0, any.data());
    for (Endpoint* const it : {&upper, &lower}) it->end_step();
    EXPECT_THAT(error_of([&] { session.end_step(); }).text(),
                HasSubstr("not handed over by endpoint 1 ('upper')"));
  });
}

TEST(ThreadEndpointMessages, a_part_of_an_unknown_decomposition) {
  with_upper("20s", [](Session&, OutputFile&, Endpoint& upper) {
    EXPECT_THAT(error_of([&] { upper.part("gird", Block{{1}, {0}, {1}}); }).text(),
                AllOf(HasSubstr("gird"), HasSubstr("by endpoint 1 ('upper')"), HasSubstr("rank 0")));
  });
}

// The other rank waits for longer than the server.
TEST(ThreadEndpointMessages, an_error_of_the_server_about_a_rank_names_the_endpoint) {
  const Directory directory;
  LocalRun run(2, 1, {{"deadline", "1s"}});
  run.settings_of_rank = [](int rank) {
    return rank == 1 ? LocalRun::Settings{{"deadline", "10s"}} : LocalRun::Settings();
  };
  std::optional<Error> error;
  (void)run.run([&](Session& session, int rank) {
    const Band mine = band(rows, 2, static_cast<std::uint64_t>(rank));
    OutputFile file = define(session, "netcdf4", directory, 2, rank).open("c.nc");
    Endpoint upper = session.endpoint("upper"), lower = session.endpoint("lower");
    upper.part("grid", Block{{rows, columns}, {mine.first, 0}, {5, columns}});
    lower.part("grid", Block{{rows, columns}, {mine.first + 5, 0}, {mine.count - 5, columns}});
    upper.put(file, "t", 0, any.data());
    upper.end_step();
    if (rank == 1) {
      lower.put(file, "t", 0, any.data());
      lower.end_step();
      session.end_step();
      session.finalize();
    } else {
      std::this_thread::sleep_for(std::chrono::seconds(4));
      error = error_of([&] { session.end_step(); });
    }
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, ErrorCode::timed_out);
  EXPECT_THAT(error->text(), AllOf(HasSubstr("model rank 0 did not put variable 't'"),
                                   HasSubstr("not handed over by endpoint 2 ('lower')")));
}

}  // namespace
}  // namespace afterbay::test
