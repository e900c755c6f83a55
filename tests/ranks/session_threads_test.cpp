// SPDX-License-Identifier: Apache-2.0
// Which threads may call the session, at each level of MPI_Init_thread: mistakes are refused, the
// session goes on, and the contents are right. The suites that begin with Thread also run with the
// thread sanitizer.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>
#include <vector>

#include "ranks/session_run.hpp"
#include "read_back.hpp"

namespace afterbay::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint64_t threads_cells = 24, threads_steps = 3;

/// What another thread gets for the call.
Error error_elsewhere(const std::function<void()>& call) {
  Error error(ErrorCode::internal, "nothing was refused");
  std::thread([&] {
    try {
      call();
    } catch (const Failure& failure) {
      error = failure.error();
    }
  }).join();
  return error;
}

std::string own_rank() { return "rank " + std::to_string(rank()); }

auto names(const std::string& call, const std::string& level) {
  return AllOf(HasSubstr(call + " uses MPI, and was called by another thread than the main one"),
               HasSubstr(level + "."), HasSubstr("or initialise MPI with MPI_THREAD_SERIALIZED"),
               HasSubstr(own_rank()));
}

SessionOptions over_mpi() { return small_session(1).set("nodes", "0,0,1").set("isolate_nodes", "off"); }

struct ThreadLine {
  std::uint64_t first = 0, count = 0;
  Collection collection;
  std::vector<double> values(std::uint64_t step) const {
    std::vector<double> some;
    for (std::uint64_t i = first; i < first + count; ++i)
      some.push_back(static_cast<double>(step * threads_cells + i));
    return some;
  }
};

ThreadLine threads_define(Session& session) {
  ThreadLine line;
  std::tie(line.first, line.count) = share(threads_cells, session.model_size(), session.model_rank());
  session.decomposition("line", Block{{threads_cells}, {line.first}, {line.count}});
  Schema schema;
  schema.dimension("time", unlimited).dimension("x", threads_cells);
  schema.variable("v", Type::float64, {"time", "x"}).on("line");
  line.collection = session.collection("c", schema, {.existing = "replace"});
  return line;
}

void expect_contents(const std::string& file) {
  if (rank() != 0) return;
  const auto v = test::read<double>(file, "v");
  ASSERT_EQ(v.size(), threads_steps * threads_cells);
  for (std::size_t i = 0; i < v.size(); ++i) EXPECT_EQ(v[i], static_cast<double>(i));
}

// ---- MPI_THREAD_FUNNELED

RANK_TEST(SessionThreads, calls_that_may_use_mpi_come_from_the_main_thread, 3) {
  run_session(over_mpi(), [](Session& session) {
    const std::string level = "MPI_THREAD_FUNNELED";
    const auto refused = [&](const std::string& name, const std::function<void()>& call) {
      const Error error = error_elsewhere(call);
      EXPECT_EQ(error.code, ErrorCode::bad_state) << name;
      EXPECT_THAT(error.text(), names(name, level));
    };
    const ThreadLine line = threads_define(session);
    refused("open", [&] { (void)Collection(line.collection).open("v.nc"); });
    OutputFile file = Collection(line.collection).open("v.nc");
    for (std::uint64_t step = 0; step < threads_steps; ++step) {
      const auto values = line.values(step);
      refused("put", [&] { file.put("v", step, values.data()); });
      refused("acquire", [&] { (void)file.acquire("v", step, Type::float64); });
      file.put("v", step, values.data());
      refused("end_step", [&] { session.end_step(); });
      session.end_step();
    }
    refused("flush", [&] { (void)session.flush(); });
    refused("wait", [&] { session.wait({}); });
    refused("progress", [&] { session.progress(); });
    refused("close", [&] { (void)file.close(); });
    session.wait(file.close());
    refused("open_input", [&] { (void)session.open_input("v.nc"); });
    auto input = std::make_unique<InputFile>(session.open_input("v.nc"));
    std::vector<double> values(line.count);
    const Selection part{.record = 1, .decomposition = "line"};
    refused("get", [&] { input->get("v", part, values.data()); });
    input->get("v", part, values.data());
    EXPECT_EQ(values, line.values(1));
    std::thread([&] { input.reset(); }).join();  // finalize closes it
    refused("finalize", [&] { session.finalize(); });
  });
  expect_contents("v.nc");
}

RANK_TEST(ThreadsOverMpi, endpoints_put_from_any_thread, 3) {
  run_session(over_mpi(), [](Session& session) {
    const ThreadLine line = threads_define(session);
    OutputFile file = Collection(line.collection).open("e.nc");
    Endpoint endpoint = session.endpoint("all");
    endpoint.whole("line");
    std::thread([&] {
      for (std::uint64_t step = 0; step < threads_steps; ++step) {
        endpoint.put(file, "v", step, line.values(step).data());
        endpoint.end_step();
      }
    }).join();
    EXPECT_THAT(error_elsewhere([&] { session.end_step(); }).text(),
                names("end_step", "MPI_THREAD_FUNNELED"));
    for (std::uint64_t step = 0; step < threads_steps; ++step) session.end_step();
  });
  expect_contents("e.nc");
}

// Calls of the session use no MPI on the servers' node, except the first and the last.
RANK_TEST(ThreadEndpoints, with_shared_memory_only_the_first_and_the_last_call_are_the_main_threads, 2) {
  const std::string level = "MPI_THREAD_FUNNELED";
  EXPECT_THAT(error_elsewhere([] { (void)open_session(comm(), small_session(1)); }).text(),
              names("open_session", level));
  run_session(small_session(1), [&](Session& session) {
    const ThreadLine line = threads_define(session);
    OutputFile file = Collection(line.collection).open("s.nc");
    std::thread([&] {
      for (std::uint64_t step = 0; step < threads_steps; ++step) {
        file.put("v", step, line.values(step).data());
        session.end_step();
      }
    }).join();
    EXPECT_THAT(error_elsewhere([&] { session.finalize(); }).text(), names("finalize", level));
  });
  expect_contents("s.nc");
}

RANK_TEST(SessionThreads, serve_is_the_main_threads, 2) {
  Session session = open_session(comm(), small_session(1));
  if (session.is_server()) {
    EXPECT_THAT(error_elsewhere([&] { session.serve(); }).text(), names("serve", "MPI_THREAD_FUNNELED"));
    session.serve();
  } else {
    session.finalize();
  }
}

// Ranks meet over MPI at the end of each step.
RANK_TEST(SessionThreads, steps_of_synchronous_inline_servers_are_ended_by_the_main_thread, 2) {
  run_session(small_session(0), [](Session& session) {
    const ThreadLine line = threads_define(session);
    OutputFile file = Collection(line.collection).open("i.nc");
    for (std::uint64_t step = 0; step < threads_steps; ++step) {
      file.put("v", step, line.values(step).data());
      EXPECT_THAT(error_elsewhere([&] { session.end_step(); }).text(),
                  names("end_step", "MPI_THREAD_FUNNELED"));
      session.end_step();
    }
  });
  expect_contents("i.nc");
}

RANK_TEST(SessionThreads, a_finalized_session_may_be_destroyed_by_any_thread, 3) {
  auto session = std::make_unique<Session>(open_session(comm(), over_mpi()));
  if (session->is_server())
    session->serve();
  else
    session->finalize();
  std::thread([&] { session.reset(); }).join();
}

// ---- Higher levels: one thread at a time

/// Threads end the steps of the session in turn; then two are in calls of it at once.
void take_turns(const std::string& level, const std::string& file_name, bool calls_mpi) {
  run_session(over_mpi(), [&](Session& session) {
    const ThreadLine line = threads_define(session);
    OutputFile file = Collection(line.collection).open(file_name);
    Endpoint endpoint = session.endpoint("all");
    endpoint.whole("line");
    std::atomic<bool> ended{false};
    std::thread of_mpi([&] {
      for (int i = 0; calls_mpi && (!ended || i < 10); ++i) {
        int sum = 0;
        MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
        EXPECT_EQ(sum, i);
      }
    });
    for (std::uint64_t step = 0; step < threads_steps; ++step)
      std::thread([&] {
        endpoint.put(file, "v", step, line.values(step).data());
        if (step + 1 < threads_steps) endpoint.end_step();
        session.end_step();
      }).join();
    // Meanwhile this thread waits in close for the endpoint.
    std::thread second([&] {
      Error error(ErrorCode::internal, "");
      while (error.message.find("(close)") == std::string::npos) {
        try {
          session.progress();
        } catch (const Failure& failure) {
          error = failure.error();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      EXPECT_EQ(error.code, ErrorCode::bad_state);
      EXPECT_THAT(
          error.text(),
          AllOf(HasSubstr("progress was called while another thread is in a call of the session (close)"),
                HasSubstr("here it is " + level), HasSubstr("Let the threads take turns"),
                HasSubstr(own_rank())));
      endpoint.end_step();
    });
    for (bool closed = false; !closed;) {  // refused while the other thread is in `progress`
      try {
        (void)file.close();
        closed = true;
      } catch (const Failure& failure) {
        if (failure.error().message.find("(progress)") == std::string::npos) throw;
      }
    }
    second.join();
    ended = true;
    of_mpi.join();
    std::thread([&] { session.finalize(); }).join();
  });
  expect_contents(file_name);
}

RANK_TEST(ThreadsOverMpiSerialized, one_thread_at_a_time_calls_the_session, 3) {
  take_turns("MPI_THREAD_SERIALIZED", "serialized.nc", false);
}

RANK_TEST(ThreadsOverMpiMultiple, one_thread_at_a_time_calls_the_session, 3) {
  take_turns("MPI_THREAD_MULTIPLE", "multiple.nc", true);
}

}  // namespace
}  // namespace afterbay::testing
