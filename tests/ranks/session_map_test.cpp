// SPDX-License-Identifier: Apache-2.0
// Variables on maps, with real ranks over every transport.
#include "map_session.hpp"
#include "ranks/session_run.hpp"

namespace afterbay::testing {
namespace {

void exercise(const SessionOptions& options, const std::string& store) {
  run_session(options, [&](Session& session) { test::maps::write(session, store, ""); });
  if (rank() == 0) test::maps::expect_right("mesh.nc");
}

RANK_TEST(SessionMap, over_shared_memory, 5) { exercise(small_session(1), "cdf5"); }
RANK_TEST(SessionMap, over_mpi, 5) { exercise(small_session(1).set("transport", "mpi"), "netcdf4"); }
RANK_TEST(SessionMap, two_servers_on_declared_nodes, 6) {
  exercise(small_session(2).set("nodes", "0,0,0,1,1,1"), "cdf5");
}
RANK_TEST(SessionMap, inline_synchronous, 3) { exercise(small_session(0), "netcdf4"); }
RANK_TEST(SessionMap, inline_thread, 3) { exercise(small_session(0).set("inline.mode", "thread"), "cdf5"); }

// ---- sessions one after another

/// Messages that one test leaves in its communicator must not affect the next: MPI reuses the
/// numbers of communicators.
RANK_TEST(SessionAfterSession, over_mpi_with_other_numbers_of_servers, 5) {
  for (int i = 0; i < 24; ++i) {
    const SessionOptions options = i % 4 == 3 ? small_session(0).set("nodes", "0,0,1,1,2")
                                              : small_session(1 + i % 3).set("transport", "mpi");
    run_session(options, [&](Session& session) {
      const auto [start, count] = share(64, session.model_size(), session.model_rank());
      session.decomposition("x", Block{{64}, {start}, {count}});
      Schema schema;
      schema.dimension("time", unlimited).dimension("x", 64);
      schema.variable("v", Type::float64, {"time", "x"}).on("x");
      OutputFile file =
          session.collection("c", schema, {.file = "c.nc", .store = "cdf5", .existing = "replace"}).open();
      const std::vector<double> values(count, i);
      for (std::uint64_t record = 0; record < 3; ++record) {
        file.put("v", record, values.data());
        session.end_step();
      }
      file.close();
    });
    if (rank() == 0) {
      EXPECT_EQ(test::read<double>("c.nc", "v"), std::vector<double>(192, i));
    }
    barrier();
  }
}

// ---- all servers write the same file

SessionOptions split(int servers, const std::string& placement = "slab") {
  return small_session(servers).set("placement", placement);
}

RANK_TEST(SessionSplit, two_servers_over_shared_memory, 6) { exercise(split(2), "netcdf4"); }
RANK_TEST(SessionSplit, three_servers_over_mpi, 6) { exercise(split(3).set("transport", "mpi"), "cdf5"); }
RANK_TEST(SessionSplit, by_variable_on_declared_nodes, 6) {
  exercise(split(2, "variable").set("nodes", "0,0,0,1,1,1"), "netcdf4");
}
RANK_TEST(SessionSplit, inline_synchronous_servers_of_two_nodes, 4) {
  exercise(split(0).set("nodes", "0,0,1,1"), "netcdf4");
}
RANK_TEST(SessionSplit, inline_synchronous_servers_over_mpi, 3) {
  exercise(split(0).set("transport", "mpi").set("nodes", "0,1,2"), "cdf5");
}
SessionOptions behind_frontends() {
  return split(2).set("topology", "tiered").set("memory.frontend", "8MiB").set("memory.link", "128KiB");
}

RANK_TEST(SessionSplit, servers_behind_frontends, 6) { exercise(behind_frontends(), "cdf5"); }

// ---- each server checks its part of a map

/// Two model ranks hold the last point; or nobody holds some in the middle. Every rank must fail
/// with the same text, whatever the servers are.
void refused(const SessionOptions& options, bool twice) {
  constexpr std::uint64_t points = 50'000;
  std::string text;
  bool serves = false;
  try {
    Session session = open_session(comm(), options);
    serves = session.is_server();
    if (serves) {
      session.serve();
    } else {
      const auto [first, count] = share(points, session.model_size(), session.model_rank());
      Map map;
      map.global = {points};
      for (std::uint64_t p = first; p < first + count; ++p)
        if (twice || p < 24'000 || p >= 26'000) map.indices.push_back(static_cast<std::int64_t>(p));
      if (twice && session.model_rank() == 0) map.indices.push_back(points - 1);
      session.decomposition("map", map, Coverage{});
      Schema schema;
      schema.dimension("time", unlimited).dimension("x", points);
      schema.variable("v", Type::float64, {"time", "x"}).on("map");
      session.collection("c", schema, {.file = "c.nc", .store = "cdf5"});
      session.start();
      session.finalize();
    }
  } catch (const Failure& failure) {
    text = failure.what();
  }
  const std::string expected = twice
                                   ? "both hold the point at offset 49999"
                                   : "2000 of 50000 points belong to no rank, the first are those at offsets "
                                     "24000 to 25999";
  EXPECT_TRUE(serves || text.find(expected) != std::string::npos) << "rank " << rank() << ": " << text;
  barrier();
}

RANK_TEST(SessionMapRefused, a_point_held_twice_by_three_servers_over_mpi, 6) {
  refused(split(3).set("transport", "mpi"), true);
}
RANK_TEST(SessionMapRefused, missing_points_by_three_servers_on_two_nodes, 6) {
  refused(split(3).set("nodes", "0,0,0,1,1,1"), false);
}
RANK_TEST(SessionMapRefused, missing_points_by_inline_servers_of_two_nodes, 4) {
  refused(split(0).set("nodes", "0,0,1,1"), false);
}
RANK_TEST(SessionMapRefused, a_point_held_twice_by_servers_behind_frontends, 6) {
  refused(behind_frontends(), true);
}
RANK_TEST(SessionMapRefused, missing_points_by_servers_without_links, 5) {
  refused(small_session(2).set("transport", "mpi"), false);
}

}  // namespace
}  // namespace afterbay::testing
