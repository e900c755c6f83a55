// SPDX-License-Identifier: Apache-2.0
// Endpoints over every topology and transport: threads hand over their parts, and read them back.
// Only the session's thread calls MPI. The suites that begin with Thread also run with the thread
// sanitizer.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "ranks/session_run.hpp"
#include "read_back.hpp"

namespace afterbay::testing {
namespace {

constexpr std::uint64_t endpoint_rows = 60, endpoint_columns = 40, endpoint_levels = 3, endpoint_steps = 4;

double endpoint_value(std::uint64_t step, std::uint64_t level, std::uint64_t point) {
  return static_cast<double>((step * endpoint_levels + level) * endpoint_rows * endpoint_columns + point);
}

/// Runs `body(thread)` in threads, while this one calls the session until they have ended.
void in_threads(Session& session, int threads, const std::function<void(int)>& body) {
  std::atomic<int> running{threads};
  std::vector<std::jthread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      try {
        body(t);
      } catch (const Failure& failure) {
        ADD_FAILURE() << failure.what();
      }
      --running;
    });
  while (running != 0) {
    session.progress();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// Blocks "t" and points "p" (of a map), put by threads, and what they read from it.
void run_endpoints(const SessionOptions& options, const std::string& file_name, bool reads = true,
                   int threads = 3) {
  run_session(options, [&](Session& session) {
    const auto [first, mine] = share(endpoint_rows, session.model_size(), session.model_rank());
    session.decomposition("grid",
                          Block{{endpoint_rows, endpoint_columns}, {first, 0}, {mine, endpoint_columns}});
    Map map;
    map.global = {endpoint_rows, endpoint_columns};
    for (std::uint64_t i = 0; i < endpoint_rows * endpoint_columns; ++i)
      if (i % static_cast<std::uint64_t>(session.model_size()) ==
          static_cast<std::uint64_t>(session.model_rank()))
        map.indices.push_back(static_cast<std::int64_t>(i * 7 % (endpoint_rows * endpoint_columns)));
    session.decomposition("cells", map);
    Schema schema;
    schema.dimension("time", unlimited)
        .dimension("level", endpoint_levels)
        .dimension("y", endpoint_rows)
        .dimension("x", endpoint_columns);
    schema.variable("t", Type::float64, {"time", "level", "y", "x"}).on("grid");
    schema.variable("p", Type::float32, {"time", "y", "x"}).on("cells");
    schema.variable("time", Type::float64, {"time"});
    OutputFile file = session.collection("c", schema, {.existing = "replace"}).open(file_name);
    std::vector<Endpoint> endpoints;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> bands;
    std::vector<Map> lists;
    for (int t = 0; t < threads; ++t) {
      const auto [from, count] = share(mine, threads, t);
      bands.emplace_back(first + from, count);
      Map& list = lists.emplace_back();
      list.global = map.global;
      for (std::size_t i = 0; i < map.indices.size(); ++i)
        if (static_cast<int>(i) % threads == t) list.indices.push_back(map.indices[i]);
      Endpoint& endpoint = endpoints.emplace_back(session.endpoint("band " + std::to_string(t)));
      endpoint.part("grid",
                    Block{{endpoint_rows, endpoint_columns}, {first + from, 0}, {count, endpoint_columns}});
      endpoint.part("cells", list);
    }
    in_threads(session, threads, [&](int thread) {
      const auto t = static_cast<std::size_t>(thread);
      const auto [from, count] = bands[t];
      for (std::uint64_t step = 0; step < endpoint_steps; ++step) {
        for (std::uint64_t level = 0; level < endpoint_levels; ++level) {
          std::vector<double> values;
          for (std::uint64_t i = from * endpoint_columns; i < (from + count) * endpoint_columns; ++i)
            values.push_back(endpoint_value(step, level, i));
          endpoints[t].put(file, "t", step, values.data(), {},
                           Section{{level, 0, 0}, {1, count, endpoint_columns}});
        }
        std::vector<double> points;
        for (const std::int64_t i : lists[t].indices)
          points.push_back(endpoint_value(step, 0, static_cast<std::uint64_t>(i)));
        endpoints[t].put(file, "p", step, points.data());
        endpoints[t].end_step();
      }
    });
    for (std::uint64_t step = 0; step < endpoint_steps; ++step) {
      const auto now = static_cast<double>(step);
      file.put("time", step, &now);
      session.end_step();
    }
    session.wait(file.close());
    if (!reads) return;
    InputFile input = session.open_input(file_name);
    in_threads(session, threads, [&](int thread) {
      const auto t = static_cast<std::size_t>(thread);
      const auto [from, count] = bands[t];
      std::vector<double> values(endpoint_steps * endpoint_levels * count * endpoint_columns);
      endpoints[t].get(input, "t", {.record = 0, .records = endpoint_steps, .decomposition = "grid"},
                       values.data());
      std::size_t at = 0;
      for (std::uint64_t step = 0; step < endpoint_steps; ++step)
        for (std::uint64_t level = 0; level < endpoint_levels; ++level)
          for (std::uint64_t i = from * endpoint_columns; i < (from + count) * endpoint_columns; ++i)
            ASSERT_EQ(values[at++], endpoint_value(step, level, i));
      std::vector<double> points(lists[t].indices.size());
      endpoints[t].get(input, "p", {.record = 2, .decomposition = "cells"}, points.data());
      for (std::size_t i = 0; i < points.size(); ++i)
        ASSERT_EQ(points[i], endpoint_value(2, 0, static_cast<std::uint64_t>(lists[t].indices[i])));
    });
  });
  if (rank() != 0) return;
  const auto t = test::read<double>(file_name, "t");
  ASSERT_EQ(t.size(), endpoint_steps * endpoint_levels * endpoint_rows * endpoint_columns);
  for (std::size_t i = 0; i < t.size(); ++i) ASSERT_EQ(t[i], static_cast<double>(i)) << i;
  const auto p = test::read<double>(file_name, "p");
  ASSERT_EQ(p.size(), endpoint_steps * endpoint_rows * endpoint_columns);
  for (std::size_t i = 0; i < p.size(); ++i)
    ASSERT_EQ(p[i], endpoint_value(i / (endpoint_rows * endpoint_columns), 0,
                                   i % (endpoint_rows * endpoint_columns)))
        << i;
}

/// Only the master puts "n", and ends the steps of the session. The others are in the next step
/// already when it does.
void run_ahead_of_the_master(const SessionOptions& options, const std::string& file_name) {
  run_session(options, [&](Session& session) {
    const auto [first, mine] = share(endpoint_rows, session.model_size(), session.model_rank());
    session.decomposition("grid",
                          Block{{endpoint_rows, endpoint_columns}, {first, 0}, {mine, endpoint_columns}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("y", endpoint_rows).dimension("x", endpoint_columns);
    schema.variable("t", Type::float64, {"time", "y", "x"}).on("grid");
    schema.variable("n", Type::float64, {"time"});
    OutputFile file = session.collection("c", schema, {.existing = "replace"}).open(file_name);
    Endpoint master = session.endpoint("master"), other = session.endpoint("other");
    master.part("grid", Block{{endpoint_rows, endpoint_columns}, {first, 0}, {1, endpoint_columns}});
    master.whole();
    other.part("grid",
               Block{{endpoint_rows, endpoint_columns}, {first + 1, 0}, {mine - 1, endpoint_columns}});
    const auto values = [&](std::uint64_t step, std::uint64_t from, std::uint64_t count) {
      std::vector<double> some;
      for (std::uint64_t i = from * endpoint_columns; i < (from + count) * endpoint_columns; ++i)
        some.push_back(endpoint_value(step, 0, i));
      return some;
    };
    std::jthread ahead([&, first = first, mine = mine] {
      for (std::uint64_t step = 0; step < endpoint_steps; ++step) {
        other.put(file, "t", step, values(step, first + 1, mine - 1).data());
        other.end_step();
      }
    });
    if (session.model_rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    for (std::uint64_t step = 0; step < endpoint_steps; ++step) {
      master.put(file, "t", step, values(step, first, 1).data());
      const auto n = static_cast<double>(step);
      master.put(file, "n", step, &n);
      master.end_step();
      session.end_step();
      session.wait(session.flush());
    }
    ahead.join();
    session.wait(file.close());
  });
  if (rank() != 0) return;
  const auto t = test::read<double>(file_name, "t");
  ASSERT_EQ(t.size(), endpoint_steps * endpoint_rows * endpoint_columns);
  for (std::size_t i = 0; i < t.size(); ++i)
    ASSERT_EQ(t[i], endpoint_value(i / (endpoint_rows * endpoint_columns), 0,
                                   i % (endpoint_rows * endpoint_columns)))
        << i;
}

RANK_TEST(SessionEndpoints, run_ahead_of_the_thread_that_ends_steps_inline, 2) {
  run_ahead_of_the_master(small_session(0), "ahead_inline.nc");
}

// The other rank cannot put its record of the second step before the session's first one has ended.
RANK_TEST(SessionEndpoints, close_ahead_of_the_session_inline, 2) {
  run_session(small_session(0).set("deadline", "8s"), [&](Session& session) {
    const auto [first, mine] = share(endpoint_rows, session.model_size(), session.model_rank());
    session.decomposition("grid",
                          Block{{endpoint_rows, endpoint_columns}, {first, 0}, {mine, endpoint_columns}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("y", endpoint_rows).dimension("x", endpoint_columns);
    schema.variable("t", Type::float64, {"time", "y", "x"}).on("grid");
    OutputFile file = session.collection("c", schema, {.existing = "replace"}).open("closed_ahead.nc");
    Endpoint endpoint = session.endpoint();
    endpoint.whole("grid");
    const auto put = [&, first = first, mine = mine](std::uint64_t step) {
      std::vector<double> values;
      for (std::uint64_t i = first * endpoint_columns; i < (first + mine) * endpoint_columns; ++i)
        values.push_back(endpoint_value(step, 0, i));
      endpoint.put(file, "t", step, values.data());
      endpoint.end_step();
    };
    put(0);
    if (session.model_rank() == 1) {
      put(1);
      endpoint.close();
    }
    session.end_step();
    if (session.model_rank() == 0) put(1);
    session.end_step();
  });
  if (rank() != 0) return;
  const auto t = test::read<double>("closed_ahead.nc", "t");
  ASSERT_EQ(t.size(), 2 * endpoint_rows * endpoint_columns);
  for (std::size_t i = 0; i < t.size(); ++i)
    ASSERT_EQ(t[i], endpoint_value(i / (endpoint_rows * endpoint_columns), 0,
                                   i % (endpoint_rows * endpoint_columns)))
        << i;
}

RANK_TEST(ThreadsOverMpi, run_ahead_of_the_thread_that_ends_steps_over_mpi, 3) {
  run_ahead_of_the_master(small_session(1).set("nodes", "0,0,1").set("isolate_nodes", "off"), "ahead_mpi.nc");
}

// Nobody else can hand on what it puts: it does so itself when `memory.endpoints` is full.
RANK_TEST(SessionEndpoints, the_sessions_thread_waits_in_an_endpoint_of_its_own, 3) {
  run_session(
      small_session(1)
          .set("nodes", "0,0,1")
          .set("isolate_nodes", "off")
          .set("memory.endpoints", "64KiB")
          .set("deadline", "8s"),
      [&](Session& session) {
        const auto [first, mine] = share(endpoint_rows, session.model_size(), session.model_rank());
        session.decomposition("grid",
                              Block{{endpoint_rows, endpoint_columns}, {first, 0}, {mine, endpoint_columns}});
        Schema schema;
        schema.dimension("time", unlimited).dimension("y", endpoint_rows).dimension("x", endpoint_columns);
        for (int v = 0; v < 12; ++v)
          schema.variable("v" + std::to_string(v), Type::float64, {"time", "y", "x"}).on("grid");
        OutputFile file = session.collection("c", schema, {.existing = "replace"}).open("alone.nc");
        Endpoint endpoint = session.endpoint();
        endpoint.whole("grid");
        for (std::uint64_t step = 0; step < endpoint_steps; ++step) {
          for (int v = 0; v < 12; ++v) {
            std::vector<double> values;
            for (std::uint64_t i = first * endpoint_columns; i < (first + mine) * endpoint_columns; ++i)
              values.push_back(endpoint_value(step, static_cast<std::uint64_t>(v), i));
            endpoint.put(file, "v" + std::to_string(v), step, values.data());
          }
          endpoint.end_step();
        }
        for (std::uint64_t step = 0; step < endpoint_steps; ++step) session.end_step();
      });
  if (rank() != 0) return;
  for (int v = 0; v < 12; ++v) {
    const auto values = test::read<double>("alone.nc", ("v" + std::to_string(v)).c_str());
    ASSERT_EQ(values.size(), endpoint_steps * endpoint_rows * endpoint_columns);
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(values[i],
                endpoint_value(i / (endpoint_rows * endpoint_columns), static_cast<std::uint64_t>(v),
                               i % (endpoint_rows * endpoint_columns)))
          << v << " " << i;
  }
}

/// Flushes in the middle of each step; only the second model rank has an endpoint. Every rank is
/// told.
void flush_in_the_middle(const SessionOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  try {
    Session session = open_session(comm(), options);
    if (session.is_server()) {
      session.serve();
    } else {
      const auto [first, mine] = share(endpoint_rows, session.model_size(), session.model_rank());
      session.decomposition("grid",
                            Block{{endpoint_rows, endpoint_columns}, {first, 0}, {mine, endpoint_columns}});
      Schema schema;
      schema.dimension("time", unlimited).dimension("y", endpoint_rows).dimension("x", endpoint_columns);
      for (const char* const name : {"before", "after"})
        schema.variable(name, Type::float64, {"time", "y", "x"}).on("grid");
      OutputFile file = session.collection("c", schema, {.existing = "replace"}).open("flush.nc");
      Endpoint endpoint;
      if (session.model_rank() == 1) {
        endpoint = session.endpoint();
        endpoint.whole("grid");
      }
      const std::vector<double> values(mine * endpoint_columns, 1.0);
      const auto put = [&](const char* name, std::uint64_t step) {
        if (session.model_rank() == 1)
          endpoint.put(file, name, step, values.data());
        else
          file.put(name, step, values.data());
      };
      for (std::uint64_t step = 0; step < endpoint_steps; ++step) {
        put("before", step);
        (void)session.flush();
        put("after", step);
        if (session.model_rank() == 1) endpoint.end_step();
        session.end_step();
      }
      session.finalize();
    }
    ADD_FAILURE() << "nothing was refused";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::conflict) << failure.what();
    EXPECT_THAT(
        failure.what(),
        ::testing::AllOf(::testing::HasSubstr("model rank 0 called flush or epoch in the middle of a step"),
                         ::testing::HasSubstr("right after end_step")));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));
  barrier();
}

RANK_TEST(SessionEndpoints, flush_in_the_middle_of_a_step_of_some_ranks_is_refused, 3) {
  flush_in_the_middle(small_session(1).set("deadline", "4s"));
}

RANK_TEST(SessionEndpoints, flush_in_the_middle_of_a_step_of_some_ranks_is_refused_over_mpi, 3) {
  flush_in_the_middle(
      small_session(1).set("deadline", "4s").set("nodes", "0,0,1").set("isolate_nodes", "off"));
}

RANK_TEST(ThreadEndpoints, on_one_node, 4) {
  run_endpoints(small_session(2).set("placement", "slab"), "node.nc");
}

RANK_TEST(SessionEndpoints, data_go_through_the_sessions_thread_to_servers_on_other_nodes, 5) {
  run_endpoints(small_session(2).set("nodes", "0,0,1,1,2").set("isolate_nodes", "off"), "nodes.nc");
}

RANK_TEST(SessionEndpoints, servers_on_the_own_node_and_on_another_share_a_file, 5) {
  run_endpoints(
      small_session(2).set("nodes", "0,0,0,0,1").set("isolate_nodes", "off").set("placement", "slab"),
      "mixed.nc");
}

RANK_TEST(SessionEndpoints, data_go_through_frontends, 7) {
  run_endpoints(small_session(1)
                    .set("topology", "tiered")
                    .set("memory.frontend", "8MiB")
                    .set("memory.link", "128KiB")
                    .set("nodes", "0,0,0,1,1,1,2")
                    .set("isolate_nodes", "off"),
                "tiered.nc");
}

RANK_TEST(SessionEndpoints, servers_run_in_the_ranks, 3) {
  run_endpoints(small_session(0), "inline.nc", false);
}

RANK_TEST(ThreadEndpoints, servers_run_in_threads_of_the_ranks, 3) {
  run_endpoints(small_session(0).set("inline.mode", "thread"), "threads.nc");
}

// More threads than rows: some have no points of the blocks.
RANK_TEST(SessionEndpoints, sixty_four_threads_on_each_of_four_ranks, 6) {
  run_endpoints(small_session(2).set("placement", "slab"), "many.nc", true, 64);
}

RANK_TEST(SessionEndpoints, sixteen_threads_on_each_of_four_ranks_of_two_nodes, 6) {
  run_endpoints(small_session(2).set("nodes", "0,0,1,1,0,1").set("isolate_nodes", "off"), "several.nc", true,
                16);
}

// Three endpoints share memory for a part of their data: they wait for the session's thread.
RANK_TEST(ThreadsOverMpi, little_memory_for_the_sessions_thread, 3) {
  run_endpoints(
      small_session(1).set("nodes", "0,0,1").set("isolate_nodes", "off").set("memory.endpoints", "64KiB"),
      "little.nc");
}

}  // namespace
}  // namespace afterbay::testing
