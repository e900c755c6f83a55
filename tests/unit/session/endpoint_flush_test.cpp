// SPDX-License-Identifier: Apache-2.0
// What flush and epoch cover on ranks whose teams of endpoints differ. In one process.
#include <gmock/gmock.h>

#include <chrono>
#include <future>
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
