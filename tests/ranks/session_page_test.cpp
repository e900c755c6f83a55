// SPDX-License-Identifier: Apache-2.0
// The HTML report distinguishes a run that keeps up from one with too few servers, in its text and
// its drawings; and the server warns during the run. Both runs are real: the second one's server
// has to compress numbers that deflate searches long for repetitions.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "ranks/session_run.hpp"

namespace afterbay::testing {
namespace {

std::string text_in(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

struct RunPlan {
  std::uint64_t points;  ///< per record
  int steps;
  std::chrono::milliseconds compute;
  int deflate;
  std::uint32_t different;  ///< how many different numbers the values are drawn from
  const char* memory = "2MiB";
};

/// Two model ranks and one server; the page is page.html.
void run_with_page(const RunPlan& plan) {
  SessionOptions options = small_session(1);
  options.set("report.html", "page.html").set("report.json", "report.json");
  options.set("writers", "1").set("deadline", "60s").set("memory.server", plan.memory);
  options.set("collections.history.deflate", std::to_string(plan.deflate));
  run_session(options, [&](Session& session) {
    const std::uint64_t mine = plan.points / 2;
    session.decomposition(
        "line", Block{{plan.points}, {static_cast<std::uint64_t>(session.model_rank()) * mine}, {mine}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("x", plan.points);
    schema.variable("T", Type::float32, {"time", "x"}).on("line");
    OutputFile file = session.collection("history", schema).open();
    std::mt19937 noise(1);
    std::vector<float> values(mine);
    for (float& value : values) value = static_cast<float>(noise() % plan.different);
    for (int step = 0; step < plan.steps; ++step) {
      std::this_thread::sleep_for(plan.compute);
      file.put("T", static_cast<std::uint64_t>(step), values.data());
      session.end_step();
    }
  });
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Mean time of a model rank in finalize.
double end_s() {
  const auto model = nlohmann::json::parse(text_in("report.json"))["model"];
  for (const auto& timer : model["timers"])
    if (timer["path"] == std::vector<std::string>{"model", "finalize"})
      return timer["inclusive_s"].get<double>();
  ADD_FAILURE() << "no time in finalize in " << model.dump(1);
  return 0;
}

// The server's memory is more than ten times all records: the model need not wait, however long the
// server is held up, and its backlog is never worth a warning.
RANK_TEST(SessionPage, of_a_run_that_keeps_up_says_so, 3) {
  // Records of 1 MiB, because a lane is drawn only where it takes 0.5 % of a column's time, and
  // small ones reach the page cache faster.
  run_with_page({1 << 18, 40, std::chrono::milliseconds(50), 0, 1u << 24, "512MiB"});
  if (rank() != 0) return;
  const std::string page = text_in("page.html");
  // A server that is held up may have more than a second of writing left in finalize.
  const bool ended_late = has(page, "class='verdict nearly'") && end_s() > 0.99;
  EXPECT_TRUE(has(page, "class='verdict kept_up'") || ended_late) << page.substr(0, 12000);
  EXPECT_TRUE(has(page, "kept up: the model waited 0.0")) << page.substr(0, 12000);
  EXPECT_FALSE(has(page, "class=\"held\"")) << "nothing is shaded";
  EXPECT_FALSE(has(page, "class=\"l-room\""));
  EXPECT_TRUE(has(page, "class=\"l-write\""));
  EXPECT_TRUE(has(page, ">history.nc<")) << "the table of files";
  EXPECT_FALSE(has(text_in("afterbay-journal/server-0.jsonl"), "\"warning\""));
}

RANK_TEST(SessionPage, of_a_run_with_too_few_servers_says_why_and_what_would_help, 3) {
  // Few different numbers: deflate takes far longer for them than a busy disk for what is left.
  run_with_page({1 << 18, 30, std::chrono::milliseconds(0), 9, 64});
  if (rank() != 0) return;
  const std::string page = text_in("page.html");
  EXPECT_TRUE(has(page, "class='verdict too_slow'")) << page.substr(0, 12000);
  EXPECT_TRUE(has(page, "The I/O servers could not keep up"));
  EXPECT_TRUE(has(page, "of it compressing: more servers")) << page.substr(0, 12000);
  EXPECT_TRUE(has(page, "class=\"held\"")) << "the time is shaded in which the model waited";
  EXPECT_TRUE(has(page, "class=\"l-room\""));
  EXPECT_TRUE(has(page, "room in the servers"));
  EXPECT_LT(page.size(), 1u << 20);
  const std::string journal = text_in("afterbay-journal/server-0.jsonl");
  EXPECT_TRUE(has(journal, "the model waits for the I/O servers")) << journal;
  EXPECT_TRUE(has(journal, "come in and")) << "with the bandwidths";
}

}  // namespace
}  // namespace afterbay::testing
