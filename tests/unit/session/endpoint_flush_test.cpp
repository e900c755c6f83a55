// SPDX-License-Identifier: Apache-2.0
// What flush and epoch cover on ranks whose teams of endpoints differ. In one process.
#include <gmock/gmock.h>

#include <chrono>
#include <future>
#include <thread>
#include <type_traits>

#include "unit/session/endpoint_model.hpp"

namespace afterbay::test {
namespace {

/// The rank's rows.
Band rows_of(int rank) { return band(rows, 2, static_cast<std::uint64_t>(rank)); }

Endpoint endpoint_of(Session& session) {
  Endpoint endpoint = session.endpoint();
  endpoint.whole("grid");
  return endpoint;
}

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Runs a model of two ranks, which must not fail; `directory` has its file.
void with_two_ranks(const Directory& directory,
                    const std::function<void(Session&, OutputFile&, int rank)>& model) {
  LocalRun run(2, 1, {{"deadline", "4s"}});
  expect_no_errors(run.run([&](Session& session, int rank) {
    OutputFile file = define(session, "netcdf4", directory, 2, rank).open("c.nc");
    model(session, file, rank);
    session.finalize();
  }));
}

void put_time(OutputFile& file, std::uint64_t step) {
  const auto now = static_cast<double>(step);
  file.put("time", step, &now);
}

template <class Caller>
void put_t(Caller& caller, OutputFile& file, std::uint64_t step, int rank) {
  const auto values = values_of(step, rows_of(rank), 0, levels);
  if constexpr (std::is_same_v<Caller, Endpoint>)
    caller.put(file, "t", step, values.data());
  else
    file.put("t", step, values.data());
}

template <class Caller>
void put_s(Caller& caller, OutputFile& file, std::uint64_t step, int rank) {
  const auto values = values_of(step, rows_of(rank), 0, 1);
  if constexpr (std::is_same_v<Caller, Endpoint>)
    caller.put(file, "s", step, values.data());
  else
    file.put("s", step, values.data());
}

// The endpoint of rank 1 has put two steps and is closed when its session has ended one.
void run_ahead_and_close(const std::function<void(Session&)>& between) {
  const Directory directory;
  std::promise<void> has_waited;
  with_two_ranks(directory, [&](Session& session, OutputFile& file, int rank) {
    Endpoint endpoint = endpoint_of(session);
    const auto put = [&](std::uint64_t step) {
      put_t(endpoint, file, step, rank);
      put_s(endpoint, file, step, rank);
      endpoint.end_step();
    };
    put(0);
    if (rank == 1) {
      put(1);
      endpoint.close();
    }
    put_time(file, 0);
    session.end_step();
    between(session);
    if (rank == 0) {
      (void)has_waited.get_future().wait_for(std::chrono::seconds(10));
      put(1);
    } else {
      has_waited.set_value();
    }
    put_time(file, 1);
    session.end_step();
  });
  expect_contents(directory.path / "c.nc", 2);
}

TEST(ThreadEndpointFlush, an_epoch_does_not_wait_for_records_of_later_steps) {
  run_ahead_and_close([](Session& session) { session.wait(session.epoch("e")); });
}

TEST(ThreadEndpointFlush, a_flush_does_not_wait_for_records_of_later_steps) {
  run_ahead_and_close([](Session& session) { session.wait(session.flush()); });
}

TEST(ThreadEndpointFlush, a_rank_may_change_its_team_in_the_middle_of_a_step) {
  constexpr std::uint64_t steps = 3;
  const Directory directory;
  with_two_ranks(directory, [&](Session& session, OutputFile& file, int rank) {
    for (std::uint64_t step = 0; step < steps; ++step) {
      Endpoint endpoint = endpoint_of(session);
      put_s(endpoint, file, step, rank);
      if (rank == 0) endpoint.close();
      session.wait(session.flush());
      if (rank == 0) endpoint = endpoint_of(session);
      put_t(endpoint, file, step, rank);
      endpoint.end_step();
      put_time(file, step);
      session.end_step();
      endpoint.close();
    }
  });
  expect_contents(directory.path / "c.nc", steps);
}

TEST(ThreadEndpointFlush, between_two_steps_it_covers_the_same_on_ranks_without_endpoints) {
  constexpr std::uint64_t steps = 3;
  const Directory directory;
  with_two_ranks(directory, [&](Session& session, OutputFile& file, int rank) {
    std::optional<Endpoint> endpoint;
    if (rank == 1) endpoint = endpoint_of(session);
    for (std::uint64_t step = 0; step < steps; ++step) {
      if (endpoint) {
        put_s(*endpoint, file, step, rank);
        put_t(*endpoint, file, step, rank);
        endpoint->end_step();
      } else {
        put_s(session, file, step, rank);
        put_t(session, file, step, rank);
      }
      put_time(file, step);
      session.end_step();
      session.wait(session.flush());
    }
  });
  expect_contents(directory.path / "c.nc", steps);
}

// ---- In the middle of a step, if only rank 1 has an endpoint

/// Runs a model of two ranks, whose deadline is 60 s; `model` gets the endpoint of rank 1. Returns
/// the errors of the ranks and the server.
std::vector<std::optional<Error>> with_one_endpoint(
    const Directory& directory,
    const std::function<void(Session&, OutputFile&, std::optional<Endpoint>&, int rank)>& model,
    const char* deadline_of_server = "2s") {
  LocalRun run(2, 1, {{"deadline", deadline_of_server}});
  run.settings_of_rank = [](int) { return LocalRun::Settings{{"deadline", "60s"}}; };
  return run.run([&](Session& session, int rank) {
    OutputFile file = define(session, "netcdf4", directory, 2, rank).open("c.nc");
    std::optional<Endpoint> endpoint;
    if (rank == 1) endpoint = endpoint_of(session);
    model(session, file, endpoint, rank);
    session.finalize();
  });
}

template <class Call>
void by_caller(std::optional<Endpoint>& endpoint, OutputFile& file, const Call& call) {
  if (endpoint)
    call(*endpoint);
  else
    call(file);
}

void put_s_of(std::optional<Endpoint>& endpoint, OutputFile& file, std::uint64_t step, int rank) {
  by_caller(endpoint, file, [&](auto& caller) { put_s(caller, file, step, rank); });
}

void put_t_of(std::optional<Endpoint>& endpoint, OutputFile& file, std::uint64_t step, int rank) {
  by_caller(endpoint, file, [&](auto& caller) { put_t(caller, file, step, rank); });
}

const std::string advice =
    "called flush or epoch in the middle of a step, which ended the records that it had begun. A rank that "
    "has opened endpoints ends them only with the step. Call flush and epoch on all ranks between two steps";

// What comes after it is in other records of the servers on rank 0 only.
TEST(ThreadEndpointFlush, in_the_middle_of_a_step_with_endpoints_on_some_ranks_is_refused) {
  for (const std::uint64_t last_steps : {1, 3}) {
    const Directory directory;
    const auto start = std::chrono::steady_clock::now();
    const auto errors =
        with_one_endpoint(directory, [&](Session& session, OutputFile& file, auto& endpoint, int rank) {
          for (std::uint64_t step = 0; step < last_steps; ++step) {
            put_s_of(endpoint, file, step, rank);
            (void)session.flush();
            put_t_of(endpoint, file, step, rank);
            if (endpoint) endpoint->end_step();
            put_time(file, step);
            session.end_step();
          }
        });
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(50))
        << "it is the server that reports";
    for (const auto& error : errors) {
      ASSERT_TRUE(error);
      EXPECT_EQ(error->code, ErrorCode::conflict) << error->text();
      EXPECT_THAT(error->text(), HasSubstr("model rank 0 " + advice));
    }
  }
}

// A rank that did not call flush is not said to have called it.
TEST(ThreadEndpointFlush, is_not_blamed_for_another_order_of_records) {
  const Directory directory;
  std::promise<void> has_flushed;
  const auto errors =
      with_one_endpoint(directory, [&](Session& session, OutputFile& file, auto& endpoint, int rank) {
        if (rank == 0) {
          put_s(file, file, 0, rank);
          (void)session.flush();
          has_flushed.set_value();
        } else {
          has_flushed.get_future().wait();
          std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the server hears of it
          put_s_of(endpoint, file, 1, rank);
          endpoint->end_step();
        }
        session.end_step();
      });
  for (const auto& error : errors) {
    ASSERT_TRUE(error);
    EXPECT_THAT(error->text(), AllOf(HasSubstr("in the same order"), Not(HasSubstr("called flush"))));
  }
}

// Nothing comes after it: the ticket of rank 0 waits for the end of the step on rank 1.
TEST(ThreadEndpointFlush, at_the_end_of_a_step_waits_for_the_endpoints_of_other_ranks) {
  constexpr std::uint64_t steps = 3;
  const Directory directory;
  expect_no_errors(with_one_endpoint(
      directory,
      [&](Session& session, OutputFile& file, auto& endpoint, int rank) {
        for (std::uint64_t step = 0; step < steps; ++step) {
          put_s_of(endpoint, file, step, rank);
          put_t_of(endpoint, file, step, rank);
          put_time(file, step);
          session.wait(session.flush());
          if (endpoint) endpoint->end_step();
          session.end_step();
        }
      },
      "60s"));
  expect_contents(directory.path / "c.nc", steps);
}

// As with a barrier of the model between flush and the end of the step.
TEST(ThreadEndpointFlush, a_rank_that_waits_for_one_whose_flush_waits_for_it_is_told_why) {
  const Directory directory;
  std::promise<void> has_waited;
  const auto start = std::chrono::steady_clock::now();
  const auto errors =
      with_one_endpoint(directory, [&](Session& session, OutputFile& file, auto& endpoint, int rank) {
        put_s_of(endpoint, file, 0, rank);
        try {
          session.wait(session.flush());
        } catch (const Failure&) {
          has_waited.set_value();
          throw;
        }
        if (rank == 1) (void)has_waited.get_future().wait_for(std::chrono::seconds(50));
        if (endpoint) endpoint->end_step();
        session.end_step();
      });
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(50))
      << "it is the server that reports";
  ASSERT_TRUE(errors[0]);
  EXPECT_EQ(errors[0]->code, ErrorCode::timed_out);
  EXPECT_THAT(errors[0]->text(),
              AllOf(HasSubstr("model rank 1 did not end the step"), HasSubstr("model rank 0 " + advice)));
}

/// A file with "s".
OutputFile open_s(Session& session, const Directory& directory, const std::string& existing, int rank) {
  const Band mine = rows_of(rank);
  session.decomposition("grid", Block{{rows, columns}, {mine.first, 0}, {mine.count, columns}});
  Schema schema;
  schema.dimension("time", unlimited).dimension("y", rows).dimension("x", columns);
  schema.variable("s", Type::int32, {"time", "y", "x"}).on("grid");
  return session.collection("c", schema, {.directory = directory.path.string(), .existing = existing})
      .open("c.nc");
}

// The epoch of rank 0 has the record, which rank 1 begins after its own. Writes into a file that is
// appended to would wait for the epoch, and the epoch for the writes.
TEST(ThreadEndpointFlush, an_epoch_in_the_middle_of_a_step_with_endpoints_on_some_ranks_is_refused) {
  const auto write_before = [](const Directory& directory) {
    LocalRun before(2, 1);
    expect_no_errors(before.run([&](Session& session, int rank) {
      OutputFile file = open_s(session, directory, "refuse", rank);
      file.put("s", 0, values_of(0, rows_of(rank), 0, 1).data());
      session.end_step();
      session.finalize();
    }));
  };
  const Directory inputs;
  write_before(inputs);
  for (const std::string existing : {"replace", "append"}) {
    const Directory directory;
    if (existing == "append") write_before(directory);
    std::promise<void> has_begun;
    LocalRun run(2, 1, {{"deadline", "2s"}});
    run.settings_of_rank = [](int) { return LocalRun::Settings{{"deadline", "60s"}}; };
    const auto errors = run.run([&](Session& session, int rank) {
      OutputFile file = open_s(session, directory, existing, rank);
      InputFile input = session.open_input((inputs.path / "c.nc").string());
      auto values = values_of(0, rows_of(rank), 0, 1);
      if (rank == 1) {
        Endpoint endpoint = endpoint_of(session);
        (void)session.epoch("e");
        endpoint.put(file, "s", 0, values.data());
        // Its answer shows that the server has received what was sent before.
        input.get("s", {.record = 0, .decomposition = "grid"}, values.data());
        has_begun.set_value();
        endpoint.end_step();
      } else {
        (void)has_begun.get_future().wait_for(std::chrono::seconds(50));
        file.put("s", 0, values.data());
        session.wait(session.epoch("e"));
      }
      session.end_step();
      session.finalize();
    });
    for (const auto& error : errors) {
      ASSERT_TRUE(error) << existing;
      EXPECT_EQ(error->code, ErrorCode::conflict) << error->text();
      EXPECT_THAT(error->text(),
                  AllOf(HasSubstr("model rank 0 has put record 0 of collection 'c' before epoch 'e', model "
                                  "rank 1 after it"),
                        HasSubstr("model rank 0 " + advice)));
    }
  }
}

// Sections alone do not change it.
TEST(ThreadEndpointFlush, covers_the_current_step_of_a_session_that_never_had_endpoints) {
  const Directory directory;
  with_two_ranks(directory, [&](Session& session, OutputFile& file, int rank) {
    const Band mine = rows_of(rank);
    const auto level = [&](std::uint64_t l) {
      file.put_section("t", 0, Section{{l, 0, 0}, {1, mine.count, columns}}, values_of(0, mine, l, 1).data());
    };
    if (rank == 0)
      for (std::uint64_t l = 0; l < levels; ++l) level(l);
    else
      put_t(session, file, 0, rank);
    session.wait(session.flush());
    put_s(session, file, 0, rank);
    put_time(file, 0);
    session.end_step();
  });
  expect_contents(directory.path / "c.nc", 1);
}

}  // namespace
}  // namespace afterbay::test
