// SPDX-License-Identifier: Apache-2.0
// The output at the end of a run: the table once, the JSON report and the trace, consistent with
// the files.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ranks/session_run.hpp"

namespace afterbay::testing {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t report_rows = 64, report_columns = 48, report_records = 6;
constexpr std::uint64_t surface_bytes = report_records * report_rows * report_columns * sizeof(float);
constexpr std::uint64_t state_bytes = report_records * report_rows * report_columns * sizeof(double);

Collection collection_of(Session& session, const std::string& name, Type type, const std::string& store) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("lat", report_rows).dimension("lon", report_columns);
  schema.variable("x", type, {"time", "lat", "lon"}).on("grid");
  return session.collection(name, schema, {.file = {}, .directory = {}, .store = store});
}

/// Two collections of all model ranks through one server; returns what this rank printed.
std::string run_with_reports(const char* table = "on", SessionOptions options = small_session(1)) {
  options.set("report.table", table).set("report.json", "report.json").set("report.trace", "trace.json");
  ::testing::internal::CaptureStdout();
  run_session(options, [](Session& session) {
    const auto [row, count] = share(report_rows, session.model_size(), session.model_rank());
    session.decomposition("grid", Block{{report_rows, report_columns}, {row, 0}, {count, report_columns}});
    OutputFile surface = collection_of(session, "surface", Type::float32, "cdf5").open();
    OutputFile state = collection_of(session, "state", Type::float64, "netcdf4").open();
    const std::vector<float> height(count * report_columns, 1.5F);
    const std::vector<double> depth(count * report_columns, 2.5);
    for (std::uint64_t record = 0; record < report_records; ++record) {
      surface.put("x", record, height.data());
      state.put("x", record, depth.data());
      session.end_step();
    }
    session.wait(session.flush());
  });
  return ::testing::internal::GetCapturedStdout();
}

Json parsed(const char* file) {
  std::ifstream stream(file);
  return Json::parse(stream);
}

std::size_t occurrences(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

/// The timer at `path` of a role's part of the report.
Json timer(const Json& role, const std::vector<std::string>& path) {
  for (const Json& one : role["timers"])
    if (one["path"] == path) return one;
  ADD_FAILURE() << "no timer " << Json(path) << " in " << role["timers"].dump(1);
  return {};
}

RANK_TEST(SessionReport, one_rank_prints_the_table_once, 5) {
  const std::string printed = run_with_reports();
  const std::size_t expected = rank() == 0 ? 1 : 0;
  EXPECT_EQ(occurrences(printed, "model: 4 ranks"), expected) << printed;
  EXPECT_EQ(occurrences(printed, "server: 1 rank,"), expected) << printed;
  if (rank() != 0) {
    EXPECT_EQ(printed, "");
    return;
  }
  for (const char* line : {"Inclusive", "Max Excl", "Min PE", "----surface", "----state", "written bytes",
                           "peak backlog", "memory high water", "messages"})
    EXPECT_NE(printed.find(line), std::string::npos) << line << " is missing in\n" << printed;
}

RANK_TEST(SessionReport, three_lines_are_printed_unless_more_is_asked_for, 5) {
  const std::string printed = run_with_reports("auto");
  EXPECT_EQ(occurrences(printed, "\n"), rank() == 0 ? 3 : 0) << printed;
  if (rank() != 0) return;
  EXPECT_NE(printed.find("afterbay: 2 files, "), std::string::npos) << printed;
  EXPECT_NE(printed.find("of the model's time"), std::string::npos) << printed;
  EXPECT_NE(printed.find("/report.json"), std::string::npos) << printed;
}

/// The others wait for the last rank in open_session: this time counts for Afterbay, not for the
/// model.
RANK_TEST(SessionReport, open_session_counts_as_afterbays_time, 3) {
  constexpr double late_s = 5, least_s = 0.15;
  SessionOptions options = small_session(1);
  options.set("report.json", "report.json");
  int opens = 0;
  if (rank() != 1) {
    MPI_Send(&opens, 1, MPI_INT, 1, 0, comm());
  } else {
    for (const int other : {0, 2}) MPI_Recv(&opens, 1, MPI_INT, other, 0, comm(), MPI_STATUS_IGNORE);
    std::this_thread::sleep_for(std::chrono::duration<double>(late_s));
  }
  run_session(options, [](Session&) {});
  if (rank() != 0) return;
  const Json report = parsed("report.json");
  for (const char* role : {"model", "server"}) {
    const Json opened = timer(report[role], {role, "open_session"});
    EXPECT_GE(opened["max_exclusive_s"], least_s) << role;
    EXPECT_GE(report[role]["elapsed_s"], opened["max_exclusive_s"]) << role;
    EXPECT_GE(report[role]["inside_s"], opened["inclusive_s"]) << role;
  }
}

/// Steps of a synchronous inline server flush and wait, and finalize closes files: "116 % of the
/// model's time".
RANK_TEST(SessionReport, calls_that_other_calls_make_are_counted_once, 2) {
  SessionOptions options = small_session(0);
  options.set("inline.mode", "synchronous").set("report.json", "report.json");
  run_session(options, [](Session& session) {
    const auto [row, count] = share(report_rows, session.model_size(), session.model_rank());
    session.decomposition("grid", Block{{report_rows, report_columns}, {row, 0}, {count, report_columns}});
    OutputFile state = collection_of(session, "state", Type::float64, "netcdf4").open();
    const std::vector<double> depth(count * report_columns, 2.5);
    for (std::uint64_t record = 0; record < 50; ++record) {
      state.put("x", record, depth.data());
      session.end_step();
    }
  });
  if (rank() != 0) return;
  const Json report = parsed("report.json");
  double calls_s = 0;
  for (const Json& one : report["model"]["timers"])
    if (one["path"].size() == 2) calls_s += one["inclusive_s"].get<double>();
  EXPECT_LE(calls_s, 1.001 * report["model"]["elapsed_s"].get<double>());
  EXPECT_LE(report["model"]["inside_s"], report["model"]["elapsed_s"]);
}

void expect_role(const Json& role, const char* name, std::size_t ranks) {
  EXPECT_EQ(role["ranks"], ranks);
  EXPECT_GT(role["elapsed_s"], 0.0);
  EXPECT_GT(role["memory_high_water_bytes"], 0u);
  EXPECT_EQ(role["timers"][0]["path"], Json{name});
  EXPECT_GT(role["counters"]["messages"]["total"], 0u);
  for (const Json& one : role["timers"])
    for (const char* key :
         {"name", "path", "inclusive_s", "inclusive_percent", "exclusive_s", "exclusive_percent",
          "max_exclusive_s", "min_exclusive_s", "max_rank", "min_rank", "count", "bytes"})
      EXPECT_TRUE(one.contains(key)) << key << " is missing in " << one;
}

/// A file consists of its data, a header, and space for alignment and the last chunk.
void expect_file_bytes(const char* file, std::uint64_t data) {
  const std::uint64_t bytes = std::filesystem::file_size(file);
  EXPECT_GE(bytes, data) << file;
  EXPECT_LE(bytes, data + 64 * 1024) << file;
}

RANK_TEST(SessionReport, bytes_of_the_json_agree_with_the_files, 5) {
  run_with_reports();
  if (rank() != 0) return;
  const Json report = parsed("report.json"), model = report["model"], server = report["server"];
  expect_role(model, "model", 4);
  expect_role(server, "server", 1);
  EXPECT_EQ(model["counters"]["bytes"]["total"], surface_bytes + state_bytes);
  EXPECT_EQ(server["counters"]["bytes"]["total"], surface_bytes + state_bytes);
  EXPECT_EQ(timer(model, {"model", "put", "surface"})["bytes"], surface_bytes);
  const Json chunk = report["collections"][1]["variables"][0];
  EXPECT_EQ(chunk["name"], "x");
  EXPECT_EQ(chunk["chunk"], (Json{1, report_rows / 2, report_columns}));  // 16 KiB at most
  EXPECT_EQ(chunk["chosen_by"], "access map");
  EXPECT_EQ(timer(model, {"model", "put", "surface"})["count"], 4 * report_records);
  EXPECT_EQ(timer(model, {"model", "put", "state"})["bytes"], state_bytes);
  EXPECT_EQ(timer(model, {"model", "end_step"})["count"], 4 * report_records);
  const std::uint64_t surface = timer(server, {"server", "write", "surface"})["bytes"],
                      state = timer(server, {"server", "write", "state"})["bytes"],
                      written = server["counters"]["written bytes"]["total"];
  EXPECT_GE(surface, surface_bytes);
  EXPECT_GE(state, state_bytes);
  EXPECT_GE(written, surface + state);  // and headers
  EXPECT_LE(server["counters"]["direct bytes"]["total"], written);
  EXPECT_GT(server["counters"]["peak backlog"]["largest"], 0u);
  EXPECT_EQ(server["counters"]["files published"]["total"], 2u);
  expect_file_bytes("surface.nc", surface_bytes);
  expect_file_bytes("state.nc", state_bytes);
  EXPECT_LE(written, std::filesystem::file_size("surface.nc") + std::filesystem::file_size("state.nc"));
}

/// Events of one thread are nested or separate, as viewers require.
void expect_nested(std::vector<std::pair<double, double>> spans, const std::string& thread) {
  constexpr double rounding_us = 0.01;
  std::ranges::sort(spans, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
  });
  std::vector<double> ends;
  for (const auto& [from, to] : spans) {
    while (!ends.empty() && ends.back() <= from + rounding_us) ends.pop_back();
    if (!ends.empty()) {
      EXPECT_LE(to, ends.back() + rounding_us) << "overlap on " << thread << " at " << from << " us";
    }
    ends.push_back(to);
  }
}

RANK_TEST(SessionReport, events_of_the_trace_nest, 5) {
  run_with_reports();
  if (rank() != 0) return;
  const Json trace = parsed("trace.json");
  std::map<std::string, std::vector<std::pair<double, double>>> threads;
  std::map<int, std::string> processes;
  std::map<int, std::uint64_t> puts;  // bytes by rank
  std::set<std::string> of_server;
  for (const Json& event : trace["traceEvents"]) {
    const int process = event["pid"];
    if (event["ph"] == "M") {
      processes[process] = event["args"]["name"];
      continue;
    }
    EXPECT_EQ(event["ph"], "X");
    const double from = event["ts"], duration = event["dur"];
    EXPECT_GE(from, 0.0);
    EXPECT_GE(duration, 0.0);
    threads[event["pid"].dump() + "." + event["tid"].dump()].emplace_back(from, from + duration);
    const std::string name = event["name"];
    if (event["cat"] == "server") of_server.insert(name);
    if (event["cat"] == "model" && (name.ends_with("surface") || name.ends_with("state")))
      puts[process] += event["args"]["bytes"].get<std::uint64_t>();
  }
  for (int r = 0; r < 4; ++r) {
    EXPECT_EQ(processes[r], "model rank " + std::to_string(r));
    EXPECT_EQ(puts[r], (surface_bytes + state_bytes) / 4);
  }
  EXPECT_EQ(processes[4], "server rank 4");
  EXPECT_TRUE(of_server.contains("create"));
  EXPECT_TRUE(std::ranges::any_of(of_server, [](const auto& name) { return name.ends_with("surface"); }));
  for (const auto& [thread, spans] : threads) expect_nested(spans, thread);
}

/// Frontends have timers too, as in PFIO's profiler.
void expect_frontend_timers(const char* transport) {
  const std::string printed = run_with_reports("on", small_session(1)
                                                         .set("topology", "tiered")
                                                         .set("transport", transport)
                                                         .set("memory.frontend", "8MiB")
                                                         .set("memory.link", "128KiB"));
  if (rank() != 0) return;
  for (const char* line :
       {"frontend: 1 rank", "--take in", "--send", "--answer", "--wait: data of model ranks",
        "--wait: credits of servers", "--wait: transfers to servers"})
    EXPECT_NE(printed.find(line), std::string::npos) << line << " is missing in\n" << printed;
  const Json frontend = parsed("report.json")["frontend"];
  const Json taken = timer(frontend, {"frontend", "take in"}), sent = timer(frontend, {"frontend", "send"});
  EXPECT_GE(taken["bytes"], surface_bytes + state_bytes);
  EXPECT_EQ(taken["bytes"], sent["bytes"]);
  EXPECT_EQ(sent["bytes"], frontend["counters"]["bytes passed on"]["total"]);
  double seconds = 0;
  for (const char* name : {"open_session", "take in", "send", "answer", "wait: data of model ranks",
                           "wait: credits of servers", "wait: transfers to servers"})
    seconds += timer(frontend, {"frontend", name})["inclusive_s"].get<double>();
  for (const char* name : {"take in", "send", "answer", "wait: data of model ranks"})
    EXPECT_GT(timer(frontend, {"frontend", name})["count"], 0) << name;
  EXPECT_LE(seconds, frontend["elapsed_s"].get<double>() * 1.001);
  EXPECT_GE(seconds, frontend["elapsed_s"].get<double>() / 2);
  std::set<std::string> events;
  std::map<std::string, std::vector<std::pair<double, double>>> threads;
  std::uint64_t bytes = 0;
  const Json trace = parsed("trace.json");
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X" || event["cat"] != "frontend") continue;
    events.insert(event["name"].get<std::string>());
    if (event["name"] == "take in") bytes += event["args"]["bytes"].get<std::uint64_t>();
    threads[event["tid"].dump()].emplace_back(event["ts"],
                                              event["ts"].get<double>() + event["dur"].get<double>());
  }
  EXPECT_EQ(bytes, taken["bytes"]);
  for (const char* name : {"take in", "send", "answer", "wait: data of model ranks"})
    EXPECT_TRUE(events.contains(name)) << name;
  for (const auto& [thread, spans] : threads) expect_nested(spans, "the frontend's thread " + thread);
}

RANK_TEST(SessionReport, frontends_have_timers, 4) { expect_frontend_timers("auto"); }
RANK_TEST(SessionReport, frontends_have_timers_over_mpi, 4) {
  expect_frontend_timers("mpi");
  if (rank() != 0) return;
  EXPECT_GT(parsed("report.json")["server"]["counters"]["peak receive memory"]["largest"], 0);
}

}  // namespace
}  // namespace afterbay::testing
