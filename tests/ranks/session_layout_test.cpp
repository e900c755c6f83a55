// SPDX-License-Identifier: Apache-2.0
// The placement of servers, pools of them and frontends: the same files in all layouts.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "ranks/history_run.hpp"

namespace afterbay::testing {
namespace {

using history::run_everything;

/// The ranks that do not belong to the model, as seen by every rank.
std::set<int> serving_ranks(const SessionOptions& options) {
  int serves = 0;
  try {
    Session session = open_session(comm(), options);
    serves = session.is_server() ? 1 : 0;
    if (session.is_server())
      session.serve();
    else
      session.finalize();
  } catch (const Failure& failure) {
    ADD_FAILURE() << failure.what();
  }
  int size = 0;
  MPI_Comm_size(comm(), &size);
  std::vector<int> all(static_cast<std::size_t>(size));
  MPI_Allgather(&serves, 1, MPI_INT, all.data(), 1, MPI_INT, comm());
  std::set<int> ranks;
  for (int r = 0; r < size; ++r)
    if (all[static_cast<std::size_t>(r)] != 0) ranks.insert(r);
  return ranks;
}

RANK_TEST(SessionLayout, servers_stand_where_the_layout_says, 6) {
  EXPECT_EQ(serving_ranks(small_session(2)), (std::set<int>{4, 5}));
  EXPECT_EQ(serving_ranks(small_session(2).set("server_offset", "1").set("server_spacing", "3")),
            (std::set<int>{1, 4}));
  SessionOptions by_node = small_session(2).set("nodes", "0,0,0,1,1,1").set("servers_per_node", "1");
  EXPECT_EQ(serving_ranks(by_node), (std::set<int>{2, 5}));
  EXPECT_EQ(serving_ranks(by_node.set("server_offset", "0")), (std::set<int>{0, 3}));
}

RANK_TEST(SessionLayout, a_layout_that_cannot_work_is_refused_alike_on_all_ranks, 4) {
  const SessionOptions options = small_session(2).set("nodes", "0,0,1,1").set("servers_per_node", "2");
  for (const SessionOptions& refused :
       {SessionOptions(options).set("server_nodes", "2"),
        SessionOptions(options).set("isolate_nodes", "on").set("server_nodes", "2")})
    try {
      const Session session = open_session(comm(), refused);
      ADD_FAILURE() << "accepted";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.error().code, ErrorCode::conflict);
      EXPECT_NE(std::string(failure.what()).find("2 x server_nodes 2 = 4"), std::string::npos)
          << failure.what();
    }
}

RANK_TEST(SessionLayout, writes_with_servers_first, 5) {
  run_everything(small_session(2).set("server_offset", "0").set("placement", "file"));
}

RANK_TEST(SessionLayout, writes_with_isolated_nodes_and_spare_ranks, 8) {
  run_everything(small_session(2)
                     .set("nodes", "0,1,0,1,0,2,2,2")
                     .set("isolate_nodes", "on")
                     .set("server_nodes", "1")
                     .set("placement", "slab")
                     .set("model_ranks", "3"));
}

RANK_TEST(SessionLayout, spare_ranks_count_as_servers_that_return_at_once, 5) {
  const SessionOptions options = small_session(1).set("model_ranks", "2");
  EXPECT_EQ(serving_ranks(options), (std::set<int>{2, 3, 4}));
  run_everything(options);
}

// ---- pools

SessionOptions two_pools() {
  return small_session(1).set("pools.a.servers", "1").set("pools.b.servers", "2");
}

RANK_TEST(SessionLayout, collections_go_to_the_pools_that_are_named, 6) {
  run_everything(two_pools()
                     .set("collections.flux.pool", "a")
                     .set("collections.longer_flux.pool", "a")
                     .set("collections.*history.pool", "b")
                     .set("pools.b.placement", "slab"));
}
RANK_TEST(SessionLayout, collections_go_to_pools_in_turn, 6) { run_everything(two_pools()); }
RANK_TEST(SessionLayout, collections_go_to_the_least_loaded_pool_and_server, 6) {
  run_everything(two_pools().set("pool_choice", "least").set("placement", "least"));
}
RANK_TEST(SessionLayout, files_of_a_collection_go_to_several_pools_in_turn, 6) {
  run_everything(two_pools().set("collections.*.pool", "a,b").set("pools.b.placement", "slab"));
}
RANK_TEST(SessionLayout, files_of_a_collection_go_to_the_least_loaded_of_several_pools, 6) {
  run_everything(two_pools()
                     .set("collections.*.pool", "b,a")
                     .set("collections.*.pool_choice", "least")
                     .set("pools.b.placement", "least")
                     .set("pools.a.topology", "tiered")
                     .set("pools.b.servers", "1")
                     .set("memory.frontend", "8MiB")
                     .set("memory.link", "128KiB"));
}

constexpr int dealt_files = 6;
constexpr std::uint64_t dealt_points = 512;  ///< points of each of two model ranks

/// Rank 0 has written all its files before rank 1 opens the second (the first open needs all
/// ranks).
void write_files_one_rank_after_the_other(Session& session) {
  const auto rank = static_cast<std::uint64_t>(session.model_rank());
  session.decomposition("line", Block{{2 * dealt_points}, {rank * dealt_points}, {dealt_points}});
  Schema schema;
  schema.dimension("point", 2 * dealt_points);
  schema.variable("x", Type::float32, {"point"}).on("line");
  Collection collection = session.collection("dealt", schema, {.file = "dealt{step}.nc", .directory = {}});
  for (int step = 0; step < dealt_files; ++step) {
    OutputFile file = collection.open(FileName{{}, step, {}, {}});
    if (rank == 1 && step == 0) MPI_Recv(nullptr, 0, MPI_BYTE, 0, 0, model_comm(session), MPI_STATUS_IGNORE);
    const auto value = static_cast<float>(10 * step) + static_cast<float>(rank);
    file.put("x", std::vector<float>(dealt_points, value).data());
    session.end_step();
    file.close();
  }
  if (rank == 0) MPI_Send(nullptr, 0, MPI_BYTE, 1, 0, model_comm(session));
}

RANK_TEST(SessionLayout, a_rank_that_runs_ahead_gives_each_file_to_the_same_pool_as_the_others, 4) {
  run_session(small_session(1)
                  .set("pools.a.servers", "1")
                  .set("pools.b.servers", "1")
                  .set("collections.dealt.pool", "b,a")
                  .set("journal.directory", "journal"),
              write_files_one_rank_after_the_other);
  if (rank() != 0) return;
  for (int step = 0; step < dealt_files; ++step) {
    const std::string name = "dealt" + std::to_string(step) + ".nc";
    const auto values = test::read<float>(name, "x");
    ASSERT_EQ(values.size(), 2 * dealt_points);
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(values[i], static_cast<float>(10 * step) + static_cast<float>(i / dealt_points)) << i;
    for (int server = 0; server < 2; ++server) {
      std::ifstream journal("journal/server-" + std::to_string(server) + ".jsonl");
      const std::string text{std::istreambuf_iterator<char>(journal), {}};
      EXPECT_EQ(text.find(name) != std::string::npos, server == (step + 1) % 2) << name << server;
    }
  }
}
RANK_TEST(SessionLayout, ranks_with_different_pools_for_a_collection_are_refused, 4) {
  SessionOptions options = small_session(1).set("pools.a.servers", "1").set("pools.b.servers", "1");
  options.set("collections.x.pool", rank() == 1 ? "b,a" : "a,b");
  try {
    const Session session = open_session(comm(), options);
    ADD_FAILURE() << "accepted";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, ErrorCode::conflict) << failure.what();
  }
}
RANK_TEST(SessionLayout, pools_have_memory_of_their_own, 6) {
  run_everything(two_pools().set("pools.a.memory.server", "4MiB").set("pools.b.writers", "1"));
}
RANK_TEST(SessionLayout, files_go_to_the_server_with_the_least_to_write_over_mpi, 6) {
  run_everything(small_session(3).set("placement", "least").set("transport", "mpi"));
}

// ---- tiered

SessionOptions layout_tiered(int servers) {
  return small_session(servers)
      .set("topology", "tiered")
      .set("memory.frontend", "8MiB")
      .set("memory.link", "128KiB");
}

/// Before a server or frontend serves, its silence is ignored.
RANK_TEST(SessionLayout, tiered_with_a_serve_long_after_the_start, 5) {
  Session session = open_session(comm(), layout_tiered(1).set("deadline", "5s"));
  std::this_thread::sleep_for(std::chrono::seconds(7));
  barrier();
  try {
    if (session.is_server())
      session.serve();
    else
      session.finalize();
  } catch (const Failure& failure) {
    FAIL() << failure.what();
  }
}

RANK_TEST(SessionLayout, tiered_with_a_frontend_on_the_node, 5) { run_everything(layout_tiered(1)); }
RANK_TEST(SessionLayout, tiered_over_mpi, 5) { run_everything(layout_tiered(1).set("transport", "mpi")); }
RANK_TEST(SessionLayout, tiered_with_two_servers_that_share_files, 6) {
  run_everything(layout_tiered(2).set("placement", "slab"));
}
RANK_TEST(SessionLayout, tiered_with_the_least_loaded_of_two_servers, 6) {
  run_everything(layout_tiered(2).set("placement", "least"));
}
RANK_TEST(SessionLayout, tiered_on_two_nodes_with_a_frontend_each, 7) {
  run_everything(layout_tiered(1).set("nodes", "0,0,0,1,1,1,2").set("isolate_nodes", "off"));
}
RANK_TEST(SessionLayout, tiered_with_frontends_on_nodes_of_their_own, 6) {
  run_everything(
      layout_tiered(1).set("nodes", "0,0,1,2,2,2").set("isolate_nodes", "on").set("server_nodes", "1"));
}
RANK_TEST(SessionLayout, a_tiered_and_a_dedicated_pool_in_one_run, 6) {
  run_everything(two_pools()
                     .set("pools.b.servers", "1")
                     .set("pools.a.topology", "tiered")
                     .set("memory.frontend", "8MiB")
                     .set("memory.link", "128KiB")
                     .set("collections.flux.pool", "a"));
}

constexpr std::uint64_t ahead_points = 8192, lengthy = 60;

/// Rank 1 delays its parts, so that no record is complete. Returns the number of records that rank
/// 0 can put before it must wait. All of them are written in the end.
std::uint64_t put_ahead(const char* frontend_bytes) {
  std::uint64_t ahead = 0;
  const SessionOptions options = layout_tiered(1)
                                     .set("memory.server", "1MiB")
                                     .set("memory.frontend", frontend_bytes)
                                     .set("report.json", "report.json")
                                     .set("collections.*.existing", "replace");
  run_session(options, [&](Session& session) {
    const auto rank = static_cast<std::uint64_t>(session.model_rank());
    session.decomposition("line", Block{{2 * ahead_points}, {rank * ahead_points}, {ahead_points}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("point", 2 * ahead_points);
    schema.variable("x", Type::float32, {"time", "point"}).on("line");
    OutputFile file = session.collection("ahead", schema, {.file = "ahead.nc", .directory = {}}).open();
    const auto values = [&](std::uint64_t record) {
      return std::vector<float>(ahead_points, static_cast<float>(10 * record + rank));
    };
    if (rank == 0) {
      while (ahead < lengthy && file.try_put("x", ahead, values(ahead).data())) ++ahead;
      MPI_Send(nullptr, 0, MPI_BYTE, 1, 0, model_comm(session));
      for (std::uint64_t record = ahead; record < lengthy; ++record)
        file.put("x", record, values(record).data());
    } else {
      MPI_Recv(nullptr, 0, MPI_BYTE, 0, 0, model_comm(session), MPI_STATUS_IGNORE);
      for (std::uint64_t record = 0; record < lengthy; ++record) file.put("x", record, values(record).data());
    }
    session.end_step();
  });
  if (rank() == 0) {
    const auto written = test::read<float>("ahead.nc", "x");
    EXPECT_EQ(written.size(), lengthy * 2 * ahead_points);
    for (std::size_t i = 0; i < written.size(); ++i)
      if (written[i] != static_cast<float>(10 * (i / (2 * ahead_points)) + i / ahead_points % 2)) {
        ADD_FAILURE() << "value " << i << " is " << written[i];
        break;
      }
  }
  MPI_Bcast(&ahead, 1, MPI_UINT64_T, 0, comm());
  return ahead;
}

RANK_TEST(SessionLayout, a_frontend_frees_the_model_as_far_as_its_memory_goes, 4) {
  const std::uint64_t with_little = put_ahead("1MiB");
  EXPECT_GT(with_little, 0u);
  EXPECT_LT(with_little, lengthy);
  const std::uint64_t with_much = put_ahead("8MiB");
  EXPECT_GT(with_much, with_little);
  if (rank() != 0) return;
  std::ifstream stream("report.json");
  const auto frontend = nlohmann::json::parse(stream)["frontend"];
  EXPECT_EQ(frontend["ranks"], 1);
  EXPECT_GE(frontend["counters"]["bytes passed on"]["total"], lengthy * 2 * ahead_points * sizeof(float));
  EXPECT_LE(frontend["counters"]["peak bytes held"]["total"], 8u << 20);
  // The server's memory is full, and the frontend holds the data that it cannot send.
  for (const auto& timer : frontend["timers"])
    if (timer["name"] == "wait: credits of servers") {
      EXPECT_GT(timer["count"], 0);
      EXPECT_GT(timer["inclusive_s"], 0.0);
      return;
    }
  ADD_FAILURE() << "no timer of waits for credits";
}

/// Ranks hold the domain in the order of the file: the first node's ranks its first half. Two
/// collections, so that the second one's files begin with the other server.
RANK_TEST(SessionLayout, slabs_lie_on_the_nodes_of_the_ranks_that_fill_them, 6) {
  constexpr std::uint64_t points = 16384, records = 3;
  const SessionOptions options = small_session(2)
                                     .set("nodes", "0,0,0,1,1,1")
                                     .set("servers_per_node", "1")
                                     .set("placement", "slab")
                                     .set("report.json", "report.json");
  run_session(options, [&](Session& session) {
    const auto rank = static_cast<std::uint64_t>(session.model_rank());
    session.decomposition("line", Block{{4 * points}, {rank * points}, {points}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("point", 4 * points);
    schema.variable("x", Type::float64, {"time", "point"}).on("line");
    const std::vector<double> values(points, static_cast<double>(rank));
    for (const std::string name : {"one", "two"}) {
      OutputFile file = session.collection(name, schema, {.file = name + ".nc", .directory = {}}).open();
      for (std::uint64_t record = 0; record < records; ++record) file.put("x", record, values.data());
      file.close();
    }
  });
  if (rank() != 0) return;
  for (const char* name : {"one.nc", "two.nc"}) {
    const auto written = test::read<double>(name, "x");
    ASSERT_EQ(written.size(), records * 4 * points);
    for (std::size_t i = 0; i < written.size(); ++i)
      ASSERT_EQ(written[i], static_cast<double>(i / points % 4)) << name << ", value " << i;
  }
  std::ifstream stream("report.json");
  const auto model = nlohmann::json::parse(stream)["model"]["counters"];
  EXPECT_EQ(model["bytes"]["total"], 2 * records * 4 * points * sizeof(double));
  EXPECT_LE(model["bytes in messages"]["total"].get<std::uint64_t>(),
            model["bytes"]["total"].get<std::uint64_t>() / 10);
}

/// Nodes with three model ranks and with one, and several fields in a record: each server has its
/// part of each field, that of the ranks of its node.
RANK_TEST(SessionLayout, slabs_follow_the_ranks_of_nodes_of_unequal_size, 6) {
  constexpr std::uint64_t points = 65536, records = 2, fields = 3;
  const SessionOptions options = small_session(2)
                                     .set("nodes", "0,0,0,0,1,1")
                                     .set("servers_per_node", "1")
                                     .set("placement", "slab")
                                     .set("report.json", "report.json");
  run_session(options, [&](Session& session) {
    const auto rank = static_cast<std::uint64_t>(session.model_rank());
    session.decomposition("line", Block{{4 * points}, {rank * points}, {points}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("point", 4 * points);
    for (std::uint64_t f = 0; f < fields; ++f)
      schema.variable("x" + std::to_string(f), Type::float64, {"time", "point"}).on("line");
    OutputFile file = session.collection("one", schema, {.file = "one.nc", .directory = {}}).open();
    for (std::uint64_t record = 0; record < records; ++record)
      for (std::uint64_t f = 0; f < fields; ++f) {
        const std::vector<double> values(points, static_cast<double>(10 * record + 100 * f + rank));
        file.put(("x" + std::to_string(f)).c_str(), record, values.data());
      }
    file.close();
  });
  if (rank() != 0) return;
  for (std::uint64_t f = 0; f < fields; ++f) {
    const auto written = test::read<double>("one.nc", ("x" + std::to_string(f)).c_str());
    ASSERT_EQ(written.size(), records * 4 * points);
    for (std::size_t i = 0; i < written.size(); ++i)
      ASSERT_EQ(written[i], static_cast<double>(10 * (i / (4 * points)) + 100 * f + i / points % 4)) << i;
  }
  std::ifstream stream("report.json");
  const auto model = nlohmann::json::parse(stream)["model"]["counters"];
  EXPECT_EQ(model["bytes"]["total"], records * fields * 4 * points * sizeof(double));
  EXPECT_LE(model["bytes in messages"]["total"].get<std::uint64_t>(),
            model["bytes"]["total"].get<std::uint64_t>() / 10);
}

/// Every record goes to three servers, and the ranks have two segments for them.
void try_puts_to_three_servers(const SessionOptions& options) {
  constexpr std::uint64_t points = 3 * 65536, records = 12;
  run_session(options, [&](Session& session) {
    const auto rank = static_cast<std::uint64_t>(session.model_rank());
    session.decomposition("line", Block{{2 * points}, {rank * points}, {points}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("point", 2 * points);
    schema.variable("x", Type::float32, {"time", "point"}).on("line");
    OutputFile file = session.collection("tries", schema, {.existing = "replace"}).open("tries.nc");
    for (std::uint64_t record = 0; record < records; ++record) {
      const std::vector<float> values(points, static_cast<float>(10 * record + rank));
      for (int tries = 0; !file.try_put("x", record, values.data()); ++tries) {
        ASSERT_LT(tries, 20000) << "there is never room";
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
    session.end_step();
  });
  if (rank() != 0) return;
  const auto written = test::read<float>("tries.nc", "x");
  ASSERT_EQ(written.size(), records * 2 * points);
  for (std::size_t i = 0; i < written.size(); ++i)
    ASSERT_EQ(written[i], static_cast<float>(10 * (i / (2 * points)) + i / points % 2)) << i;
}

SessionOptions few_large_segments(SessionOptions options) {
  return options.set("memory.server", "16MiB")
      .set("memory.block", "1MiB")
      .set("memory.receive", "2304KiB")
      .set("memory.link", "2MiB")
      .set("placement", "slab");
}

RANK_TEST(SessionLayout, try_put_to_more_servers_than_segments_over_mpi, 5) {
  try_puts_to_three_servers(few_large_segments(small_session(3)).set("transport", "mpi"));
}

RANK_TEST(SessionLayout, try_put_to_more_servers_than_segments_behind_a_frontend, 6) {
  try_puts_to_three_servers(few_large_segments(layout_tiered(3)).set("memory.frontend", "3MiB"));
}

// The ranks send to the frontend by MPI. It receives one large segment of each, and has no memory
// for more: the others, and small ones behind them, wait at their senders or in its queue, in
// order.
RANK_TEST(SessionLayout, ranks_that_reach_a_small_frontend_over_mpi, 6) {
  try_puts_to_three_servers(
      few_large_segments(layout_tiered(3)).set("memory.frontend", "3MiB").set("transport", "mpi"));
}

/// As with thousands of ranks: prompt segments (6.5 KiB) are shorter than what a frontend joins.
/// Parts of 6.8 KiB are sent by themselves, or joined as far as the server allows.
RANK_TEST(SessionLayout, segments_that_a_server_keeps_no_memory_for_are_joined_in_order, 8) {
  constexpr std::uint64_t points = 1700, models = 6, variables = 6, records = 40;
  const SessionOptions options = layout_tiered(1)
                                     .set("memory.server", "2MiB")
                                     .set("memory.block", "32KiB")
                                     .set("memory.small_block", "16KiB")
                                     .set("memory.receive", "320KiB")
                                     .set("memory.link", "128KiB");
  run_session(options, [&](Session& session) {
    const auto model = static_cast<std::uint64_t>(session.model_rank());
    session.decomposition("line", Block{{models * points}, {model * points}, {points}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("x", models * points);
    for (std::uint64_t v = 0; v < variables; ++v)
      schema.variable("v" + std::to_string(v), Type::float32, {"time", "x"}).on("line");
    OutputFile file = session.collection("joined", schema, {.file = "joined.nc"}).open();
    std::vector<float> values(points);
    for (std::uint64_t record = 0; record < records; ++record) {
      for (std::uint64_t v = 0; v < variables; ++v) {
        for (std::uint64_t i = 0; i < points; ++i)
          values[i] = static_cast<float>(1e5 * static_cast<double>(v) + 100.0 * static_cast<double>(record) +
                                         static_cast<double>(model * points + i) / 64);
        file.put("v" + std::to_string(v), record, values.data());
      }
      session.end_step();
    }
    file.close();
  });
  if (rank() != 0) return;
  for (std::uint64_t v = 0; v < variables; ++v) {
    const auto written = test::read<float>("joined.nc", ("v" + std::to_string(v)).c_str());
    ASSERT_EQ(written.size(), records * models * points);
    for (std::uint64_t i = 0; i < written.size(); ++i)
      ASSERT_EQ(written[i], static_cast<float>(1e5 * static_cast<double>(v) +
                                               100.0 * static_cast<double>(i / (models * points)) +
                                               static_cast<double>(i % (models * points)) / 64))
          << v << " " << i;
  }
}

RANK_TEST(SessionLayout, too_small_a_frontend_is_refused_with_the_arithmetic, 4) {
  try {
    const Session session = open_session(comm(), layout_tiered(1)
                                                     .set("memory.frontend", "1MiB")
                                                     .set("memory.server", "16MiB")
                                                     .set("memory.block", "1MiB")
                                                     .set("memory.link", "2MiB"));
    ADD_FAILURE() << "accepted";
  } catch (const Failure& failure) {
    EXPECT_NE(std::string(failure.what()).find("for each of its 2 model ranks"), std::string::npos)
        << failure.what();
  }
}

}  // namespace
}  // namespace afterbay::testing
