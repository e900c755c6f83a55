// SPDX-License-Identifier: Apache-2.0
#include "observe/report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/caller_terms.hpp"
#include "observe/profile.hpp"
#include "observe/progress.hpp"
#include "observe/summary.hpp"

namespace afterbay::observe {
namespace {

constexpr std::uint64_t ms = 1'000'000;

/// Two model ranks and a server with round numbers.
std::vector<RankProfile> three_ranks() {
  RankProfile zero{0, "model", 10'000 * ms, 100 << 20, {}, {}};
  zero.timers = {{"put", -1, 0, 0, 0},
                 {"history", 0, 300 * ms, 6, 600 << 20},
                 {"wait: memory full", 0, 200 * ms, 1, 0},
                 {"end_step", -1, 100 * ms, 6, 0}};
  zero.counters = {{"bytes", CounterKind::sum, 600 << 20}, {"messages", CounterKind::sum, 12}};
  RankProfile one = zero;
  one.rank = 1;
  one.memory_high_water_bytes = 120 << 20;
  one.timers[1].inclusive_ns = 500 * ms;
  RankProfile server{2, "server", 10'000 * ms, 512 << 20, {}, {}};
  server.timers = {{"write", -1, 4'000 * ms, 10, 1200 << 20},
                   {"encode", 0, 1'000 * ms, 10, 0},
                   {"publish", -1, 500 * ms, 1, 0}};
  server.counters = {{"written bytes", CounterKind::sum, 1200 << 20},
                     {"direct bytes", CounterKind::sum, 1 << 30},
                     {"peak backlog", CounterKind::peak, 64 << 20},
                     {"files published", CounterKind::sum, 3}};
  return {server, zero, one};
}

TEST(ObserveReport, the_table_is_as_agreed) {
  const std::string expected =
      R"(model: 2 ranks, 10.000 s elapsed, 0.500 s of it in Afterbay (5.00 %; seconds are means over the ranks)
======================================================================================================
Name                    Inclusive % Incl   Exclusive % Excl    Max Excl    Min Excl Max PE Min PE     Count      Bytes
model                   10.000000 100.00    9.500000  95.00    9.600000    9.400000      0      1         2          -
--put                    0.400000   4.00    0.000000   0.00    0.000000    0.000000      0      0         0          -
----history              0.400000   4.00    0.400000   4.00    0.500000    0.300000      1      0        12   1.17 GiB
----wait: memory full    0.200000   2.00    0.200000   2.00    0.200000    0.200000      0      0         2          -
--end_step               0.100000   1.00    0.100000   1.00    0.100000    0.100000      0      0        12          -
  bytes                1.17 GiB (120.0 MiB/s over the elapsed time)
  messages             24
  memory high water    120.0 MiB (rank 1)

server: 1 rank, 10.000 s elapsed (seconds are means over the ranks)
===================================================================
Name                   Inclusive % Incl   Exclusive % Excl    Max Excl    Min Excl Max PE Min PE     Count      Bytes
server                 10.000000 100.00    5.500000  55.00    5.500000    5.500000      2      2         1          -
--write                 4.000000  40.00    3.000000  30.00    3.000000    3.000000      2      2        10   1.17 GiB
----encode              1.000000  10.00    1.000000  10.00    1.000000    1.000000      2      2        10          -
--publish               0.500000   5.00    0.500000   5.00    0.500000    0.500000      2      2         1          -
  written bytes        1.17 GiB (120.0 MiB/s over the elapsed time)
  direct bytes         1.00 GiB
  peak backlog         64.0 MiB (rank 2)
  files published      3
  memory high water    512.0 MiB (rank 2)

)";
  EXPECT_EQ(table(merge(three_ranks())), expected);
}

TEST(ObserveReport, the_json_has_the_same) {
  const nlohmann::json report = nlohmann::json::parse(json(merge(three_ranks())));
  EXPECT_EQ(report["model"]["ranks"], 2);
  EXPECT_EQ(report["model"]["inside_s"], 0.5);
  EXPECT_EQ(report["model"]["memory_high_water_rank"], 1);
  const auto& history = report["model"]["timers"][2];
  EXPECT_EQ(history["name"], "history");
  EXPECT_EQ(history["path"], (nlohmann::json{"model", "put", "history"}));
  EXPECT_DOUBLE_EQ(history["inclusive_s"], 0.4);
  EXPECT_DOUBLE_EQ(history["max_exclusive_s"], 0.5);
  EXPECT_EQ(history["max_rank"], 1);
  EXPECT_EQ(history["bytes"], 1200u << 20);
  EXPECT_EQ(report["model"]["timers"][4]["path"], (nlohmann::json{"model", "end_step"}));
  EXPECT_EQ(report["model"]["counters"]["messages"]["total"], 24);
  EXPECT_EQ(report["server"]["counters"]["peak backlog"]["largest_rank"], 2);
  EXPECT_DOUBLE_EQ(report["server"]["counters"]["written bytes"]["bytes_per_s"], (1200 << 20) / 10.0);
}

/// Servers have timers only for the collections that they own.
TEST(ObserveReport, means_are_over_all_ranks_and_extremes_over_those_that_have_the_timer) {
  RankProfile zero{4, "server", 1000 * ms, 0, {{"write", -1, 200 * ms, 1, 0}, {"a", 0, 200 * ms, 1, 0}}, {}};
  RankProfile one{5, "server", 1000 * ms, 0, {{"write", -1, 100 * ms, 1, 0}, {"b", 0, 40 * ms, 1, 0}}, {}};
  const Report report = merge(std::vector{zero, one});
  const std::vector<Row>& rows = report.roles.at(0).rows;
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[2].name, "a");
  EXPECT_DOUBLE_EQ(rows[2].inclusive, 0.1);
  EXPECT_DOUBLE_EQ(rows[2].min_exclusive, 0.2);
  EXPECT_EQ(rows[2].min_rank, 4);
  EXPECT_EQ(rows[3].name, "b");
  EXPECT_DOUBLE_EQ(rows[3].inclusive, 0.02);
  EXPECT_EQ(rows[3].max_rank, 5);
  EXPECT_DOUBLE_EQ(rows[1].exclusive, 0.03);
}

TEST(ObserveReport, threads_below_a_timer_may_take_longer_than_it) {
  const RankProfile server{
      0, "server", 1000 * ms, 0, {{"write", -1, 100 * ms, 1, 0}, {"encode", 0, 300 * ms, 4, 0}}, {}};
  const Report report = merge(std::vector{server});
  EXPECT_EQ(report.roles[0].rows[1].exclusive, 0.0);
  EXPECT_TRUE(table(merge({})).empty());
}

/// Two workers that are busy at the same time are no "172 %".
TEST(ObserveReport, percentages_of_what_workers_do_are_of_the_time_of_all_workers) {
  RankProfile server{0, "server", 1000 * ms, 0, {}, {}};
  server.timers = {
      {"ingest", -1, 100 * ms, 1, 0, 1}, {"publish", -1, 0, 0, 0, 2}, {"history", 1, 1720 * ms, 2, 0, 2}};
  const RoleReport role = merge(std::vector{server}).roles.at(0);
  for (const Row& row : role.rows) EXPECT_LE(row.inclusive_percent, 100.0) << row.name;
  EXPECT_DOUBLE_EQ(role.rows.at(2).inclusive, 1.72);
  EXPECT_DOUBLE_EQ(role.rows.at(2).inclusive_percent, 86.0);
  EXPECT_DOUBLE_EQ(role.rows.at(1).inclusive_percent, 10.0);
  EXPECT_NEAR(role.inside, 0.1 + 0.86, 1e-9);
  EXPECT_NE(table({{role}, {}}).find("2 workers"), std::string::npos);
}

TEST(ObserveProfile, a_worker_timer_and_its_children_know_how_many_workers_there_are) {
  Profile profile;
  Timer* const write = profile.worker_timer("write");
  (void)profile.timer("history", write);
  (void)profile.timer("ingest");
  profile.set_workers(4);
  const RankProfile snapshot = profile.snapshot(0, "server");
  EXPECT_EQ(snapshot.timers.at(0).threads, 4u);
  EXPECT_EQ(snapshot.timers.at(1).threads, 4u);
  EXPECT_EQ(snapshot.timers.at(2).threads, 1u);
}

TEST(ObserveSummary, is_three_lines) {
  EXPECT_EQ(
      summary(merge(three_ranks()), {"ocean", {"/run/report.html"}, {}}),
      "ocean: 3 files, 1.17 GiB written by 1 I/O server (1.17 GiB handed over)\n"
      "ocean: 5.0 % of the model's time (10.00 s) was spent in Afterbay: put 4.0 %, end_step 1.0 %, 2.0 % of "
      "it waiting for room\n"
      "ocean: report: /run/report.html\n");
  const std::string more = summary(merge(three_ranks()), {"ocean", {}, {"more"}});
  EXPECT_NE(more.find("report: none; report.html=report.html"), std::string::npos) << more;
  EXPECT_TRUE(more.ends_with("\nocean: hint: more\n")) << more;
}

TEST(ObserveSummary, servers_that_had_nothing_to_do_are_named_with_the_setting_to_change) {
  std::vector<RankProfile> profiles(3);
  for (int i = 0; i < 3; ++i) {
    auto& it = profiles[static_cast<std::size_t>(i)];
    it.rank = 4 + i;
    it.role = "server";
    it.counters = {{"bytes", CounterKind::sum, 0}, {"pieces read", CounterKind::sum, 0}};
  }
  EXPECT_TRUE(idle_servers(profiles).empty());  // there was nothing to do
  profiles[1].counters[0].value = 1;
  EXPECT_EQ(idle_servers(profiles), (std::vector<int>{0, 2}));
  profiles[0].counters[1].value = 1;
  EXPECT_EQ(idle_servers(profiles), std::vector<int>{2});
  const auto hint = [](const char* placement, bool pools) { return hint_on_idle({2}, 3, placement, pools); };
  EXPECT_EQ(
      hint("collection", false),
      "I/O server 2 had nothing to do: with placement=collection one server writes all files of a "
      "collection. Set placement=file (files in turn) or placement=slab (all servers write each file), or "
      "servers=2");
  EXPECT_NE(hint("file", false).find("placement=slab"), std::string::npos);
  EXPECT_NE(hint("slab", false).find("servers=2"), std::string::npos);
  EXPECT_NE(hint("collection", true).find("collections.NAME.pool"), std::string::npos);
  EXPECT_EQ(hint_on_idle({}, 3, "collection", false), "");
}

/// `count` variables with one shape, and a few others.
CollectionRecord chunks_of_history(std::size_t count) {
  CollectionRecord history{"history", "netcdf4", {{"area", {}, 0, "contiguous"}}};
  for (std::size_t v = 0; v < count; ++v)
    history.chunks.push_back({"v" + std::to_string(v), {1, 181, 360}, 260'640, "access map"});
  history.chunks.push_back({"t", {24, 45, 360}, 1'555'200, "setting chunk"});
  return history;
}

TEST(ObserveReport, the_shapes_of_chunks_are_told_shortened_in_the_table_and_in_full_in_the_json) {
  Report report;
  report.collections = {chunks_of_history(12), {"restart", "cdf5", {}}};
  EXPECT_EQ(table(report),
            "chunks of history\n"
            "  1 x 181 x 360             254.5 KiB  access map       v0, v1, v2 and 9 more\n"
            "  24 x 45 x 360              1.48 MiB  setting chunk    t\n"
            "\n");
  const auto collections = nlohmann::json::parse(json(report))["collections"];
  ASSERT_EQ(collections.size(), 2u);
  const auto& variables = collections[0]["variables"];
  ASSERT_EQ(variables.size(), 14u);
  EXPECT_TRUE(variables[0]["chunk"].is_null());
  EXPECT_EQ(variables[13]["chunk"], (nlohmann::json{24, 45, 360}));
  EXPECT_EQ(variables[13]["chunk_bytes"], 1'555'200);
  EXPECT_EQ(variables[13]["chosen_by"], "setting chunk");
}

TEST(ObserveReport, the_largest_errors_of_packed_values_are_told_by_variable) {
  Report report;
  report.collections = {{"history", "netcdf4", {}, {{"history", "tas", 0.00498}, {"history", "pr", 0}}},
                        {"restart", "cdf5", {}}};
  EXPECT_EQ(table(report),
            "largest errors of history, in the units of its files\n"
            "  tas                      0.00498\n"
            "  pr                       0\n"
            "\n");
  const auto collections = nlohmann::json::parse(json(report))["collections"];
  ASSERT_EQ(collections.size(), 2u);
  EXPECT_EQ(collections[0]["largest_errors"], (nlohmann::json{{"tas", 0.00498}, {"pr", 0.0}}));
  EXPECT_FALSE(collections[1].contains("largest_errors"));
}

TEST(ObserveReport, fortran_callers_read_the_shapes_of_chunks_in_their_order) {
  Report report;
  report.collections = {chunks_of_history(1)};
  const InTerms fortran(Terms::fortran);
  EXPECT_NE(table(report).find("  360 x 181 x 1             254.5 KiB"), std::string::npos) << table(report);
}

TEST(ObserveProgress, a_line_tells_where_the_run_is) {
  const Progress before{10, 12, 1, 1 << 30, 1 << 30, 0, 512 << 20};
  const Progress now{12, 18, 3, 3u << 30, 2u << 30, 64 << 20, 512 << 20};
  EXPECT_EQ(progress_line(now, before),
            "00:12  step 18  files 3  backlog 64.0 MiB of 512.0 MiB (12 %)  in 1.00 GiB/s  out 512.0 MiB/s");
  EXPECT_EQ(progress_line({.elapsed_s = 3725}, {.elapsed_s = 3725}),
            "1:02:05  step 0  files 0  backlog 0 B  in -  out -");
}

TEST(ObserveProgress, quantities_are_readable) {
  EXPECT_EQ(text_of_bytes(0), "0 B");
  EXPECT_EQ(text_of_bytes(1023), "1023 B");
  EXPECT_EQ(text_of_bytes(1536), "1.50 KiB");
  EXPECT_EQ(text_of_bytes(10.0 * (1 << 20)), "10.0 MiB");
  EXPECT_EQ(text_of_rate(3e9, 1.5), "1.86 GiB/s");
  EXPECT_EQ(text_of_seconds(3.5e-7), "350 ns");
  EXPECT_EQ(text_of_seconds(1.2e-5), "12.0 us");
  EXPECT_EQ(text_of_seconds(0.0015), "1.50 ms");
  EXPECT_EQ(text_of_seconds(2.345), "2.35 s");
  EXPECT_EQ(text_of_seconds(3723), "1:02:03 h");
}

}  // namespace
}  // namespace afterbay::observe
