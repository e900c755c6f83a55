// SPDX-License-Identifier: Apache-2.0
// Concurrent sessions in one directory, like the members of an ensemble.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "ranks/session_run.hpp"

namespace afterbay::testing {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::set<std::string> names_with(const std::string& start) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator("."))
    if (const std::string name = entry.path().filename(); name.starts_with(start)) names.insert(name);
  return names;
}

bool appears(const fs::path& path) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!fs::exists(path) && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return fs::exists(path);
}

void write_files(Session& session, int member) {
  session.decomposition("line", Block{{12}, {0}, {12}});
  Schema schema;
  schema.dimension("x", 12);
  schema.variable("t", Type::int32, {"x"}).on("line");
  Collection collection =
      session.collection("c", schema, {.file = "m{member}_{step}.nc", .existing = "replace"});
  const std::vector<int> values(12, 1);
  for (int step = 0; step <= member; ++step) {
    OutputFile file = collection.open({.step = step, .member = member});
    file.put("t", values.data());
    file.close();
  }
}

/// Two members with one model rank and one server each. Member m writes m + 1 files; both are open
/// until both have written, and member 0 ends first. `seen` is called on rank 0 while both are
/// open.
void run_members(const std::function<void(SessionOptions&, int)>& change, const std::function<void()>& seen) {
  const int member = rank() / 2;
  MPI_Comm own = MPI_COMM_NULL, models = MPI_COMM_NULL;
  MPI_Comm_split(comm(), member, rank(), &own);
  SessionOptions options = small_session(1);
  options.set("report.json", "report.json").set("report.html", "report.html");
  options.set("report.trace", "trace.json").set("report.prometheus", "run.prom");
  change(options, member);
  try {
    Session session = open_session(own, options);
    MPI_Comm_split(comm(), session.is_server() ? 1 : 0, rank(), &models);
    if (session.is_server()) {
      session.serve();
    } else {
      write_files(session, member);
      if (rank() == 0) seen();
      MPI_Barrier(models);
      if (member == 0) session.finalize();
      MPI_Barrier(models);
      if (member == 1) session.finalize();
    }
  } catch (const Failure& failure) {
    FAIL() << failure.what();
  }
  MPI_Comm_free(&models);
  MPI_Comm_free(&own);
  barrier();
}

std::uint64_t files_in(const fs::path& report) {
  return nlohmann::json::parse(contents(report))["server"]["counters"]["files published"]["total"];
}

/// Before, the session that ended last replaced the reports of the others, and both wrote one
/// Prometheus file in turn.
RANK_TEST(SessionEnsemble, reports_of_sessions_at_the_same_time_are_all_kept, 4) {
  for (int run = 0; run < 2; ++run) {  // the second one replaces the reports of the first one
    run_members([](SessionOptions&, int) {},
                [] {
                  EXPECT_TRUE(appears("run.prom"));
                  EXPECT_TRUE(appears("run-2.prom"));
                });
    if (rank() == 0) {
      EXPECT_EQ(names_with("report"),
                (std::set<std::string>{"report.json", "report-2.json", "report.html", "report-2.html"}));
      EXPECT_EQ(names_with("trace"), (std::set<std::string>{"trace.json", "trace-2.json"}));
      EXPECT_EQ(names_with("run"), (std::set<std::string>{"run.prom", "run-2.prom"}));
      EXPECT_EQ(files_in("report.json"), 1u);
      EXPECT_EQ(files_in("report-2.json"), 2u);
    }
    barrier();
  }
}

RANK_TEST(SessionEnsemble, members_have_paths_of_their_own_by_their_names, 4) {
  run_members(
      [](SessionOptions& options, int member) {
        options.name = "model";
        options.set("session", "member " + std::to_string(member));
        options.set("report.json", "{session}.json").set("report.trace", "{session}.trace");
        options.set("report.html", "{session}.html").set("report.prometheus", "{session}.{server}.prom");
        options.set("journal.directory", "journal of {session}");
        options.set("statistics.directory", "pages of {session}");
      },
      [] {});
  if (rank() == 0) {
    for (const std::string name : {"member 0", "member 1"}) {
      EXPECT_EQ(nlohmann::json::parse(contents(name + ".json"))["session"], name);
      EXPECT_EQ(nlohmann::json::parse(contents(name + ".trace"))["otherData"]["session"], name);
      EXPECT_NE(contents(name + ".html").find(name), std::string::npos);
      EXPECT_NE(contents(name + ".0.prom").find("session=\"" + name + "\""), std::string::npos);
      EXPECT_NE(contents("journal of " + name + "/server-0.jsonl").find("\"session\":\"" + name + "\""),
                std::string::npos);
      EXPECT_TRUE(fs::exists("pages of " + name + "/statistics-0.json"));
    }
    EXPECT_TRUE(names_with("model").empty());
  }
  barrier();
}

RANK_TEST(SessionEnsemble, names_that_cannot_be_file_names_are_refused_on_all_ranks, 2) {
  const auto refusal = [](const SessionOptions& options) -> std::string {
    try {
      Session session = open_session(comm(), options);
      session.finalize();
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), ErrorCode::invalid_argument) << failure.what();
      return failure.what();
    }
    return "accepted";
  };
  for (const std::string& name :
       {std::string(), std::string("a/b"), std::string("."), std::string("..x"), std::string("a\nb"),
        std::string(101, 'x'), std::string("a\xff"), std::string("{server}")}) {
    SessionOptions by_setting = small_session(0);
    by_setting.set("session", name);
    EXPECT_NE(refusal(by_setting).find("session"), std::string::npos) << name;
    SessionOptions by_program = small_session(0);
    if (rank() == 1) by_program.name = name;  // an error of one rank is reported on all
    EXPECT_NE(refusal(by_program).find("is not a valid name"), std::string::npos) << name;
  }
  EXPECT_EQ(names_with(""), std::set<std::string>());
}

RANK_TEST(SessionEnsemble, ranks_of_a_session_have_one_name, 2) {
  SessionOptions options = small_session(0);
  options.set("session", rank() == 0 ? "a" : "b");
  try {
    Session session = open_session(comm(), options);
    session.finalize();
    FAIL() << "it was accepted";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::conflict);
    EXPECT_NE(std::string(failure.what()).find("ranks 0 and 1 have different settings: session"),
              std::string::npos)
        << failure.what();
  }
}

}  // namespace
}  // namespace afterbay::testing
