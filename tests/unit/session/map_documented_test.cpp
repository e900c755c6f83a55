// SPDX-License-Identifier: Apache-2.0
// Compares the table of errors in docs/how-to/pio-compmaps.md with the messages of a session.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>

#include "scratch_directory.hpp"
#include "unit/local_run.hpp"

namespace afterbay::test {
namespace {

using Table = std::map<std::string, std::string>;

/// error -> the text between the first back-ticks of the second column
Table documented_refusals() {
  const char* source = std::getenv("AFTERBAY_SOURCE");
  if (source == nullptr) return {};
  std::ifstream page(std::string(source) + "/docs/how-to/pio-compmaps.md");
  Table table;
  bool wanted = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) wanted = line == "## What is refused";
    const std::size_t bar = line.find(" | `");
    if (!wanted || !line.starts_with("| ") || bar == std::string::npos) continue;
    table[line.substr(2, bar - 2)] = line.substr(bar + 4, line.find('`', bar + 4) - bar - 4);
  }
  return table;
}

std::vector<std::int64_t> points_from(std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> points(static_cast<std::size_t>(last - first + 1));
  std::iota(points.begin(), points.end(), first);
  return points;
}

/// A collection whose variable T has these lengths in addition to the unlimited one, on a map of 20
/// columns.
void define_on_columns(Session& session, const std::vector<std::uint64_t>& lengths,
                       const std::string& directory = "") {
  Schema schema;
  schema.dimension("time", unlimited);
  std::vector<std::string> names{"time"};
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    names.push_back(fmt::format("d{}", i));
    schema.dimension(names.back(), lengths[i]);
  }
  schema.variable("T", Type::float32, names).on("columns");
  Collection c = session.collection("c", schema, {.file = "c.nc", .directory = directory});
  if (directory.empty()) return;
  const float values[3]{};
  c.open().put("T", 0, values, MemoryLayout{.shape = {1, 2}, .offset = {}, .strides = {}});
}

std::map<std::string, LocalRun::Model> refused_models(const Directory& directory) {
  const auto columns = [](Session& session, const std::vector<std::int64_t>& dof, Coverage coverage) {
    session.decomposition("columns", Map::from_pio({20}, dof), coverage);
    session.start();
  };
  const Coverage gaps{.gaps_allowed = true};
  return {{"index out of range", [=](Session& session, int) { columns(session, {1, 2, 21}, gaps); }},
          {"a hole that is a point",
           [](Session& session, int) {
             Map map;
             map.global = {20};
             map.indices = {1, 2};
             map.hole = 0;
             session.decomposition("columns", map);
           }},
          {"twice on one rank", [=](Session& session, int) { columns(session, {5, 1, 5}, gaps); }},
          {"on two ranks", [=](Session& session, int rank) { columns(session, {rank < 2 ? 5 : 6}, gaps); }},
          {"gaps, if refused",
           [=](Session& session, int rank) {
             columns(session, rank == 0 ? points_from(1, 14) : std::vector<std::int64_t>{}, Coverage{});
           }},
          {"lengths that do not fit",
           [](Session& session, int) {
             session.decomposition("columns", Map::from_pio({20}, {}));
             define_on_columns(session, {3, 21});
           }},
          {"lengths that fit at several places",
           [](Session& session, int) {
             session.decomposition("columns", Map::from_pio({20}, {}));
             define_on_columns(session, {20, 20, 3});
           }},
          {"array shorter than the list", [&directory](Session& session, int rank) {
             session.decomposition("columns", Map::from_pio({20}, points_from(3 * rank + 1, 3 * rank + 3)));
             define_on_columns(session, {1, 20}, directory.path.string());
           }}};
}

TEST(ThreadSessionMapDocumented, what_is_refused_is_said_as_the_page_for_pios_users_has_it) {
  const Table documented = documented_refusals();
  if (documented.empty()) GTEST_SKIP() << "AFTERBAY_SOURCE does not say where the pages are";
  const Directory directory;
  const auto scenarios = refused_models(directory);
  EXPECT_EQ(documented.size(), scenarios.size());
  for (const auto& [what, text] : documented) {
    ASSERT_TRUE(scenarios.contains(what))
        << "the page has a row \"" << what << "\", for which there is no test";
    LocalRun run(3, 1, {{"memory.server", "2MiB"}, {"memory.block", "64KiB"}, {"deadline", "20s"}});
    const auto errors = run.run([&](Session& session, int rank) {
      scenarios.at(what)(session, rank);
      session.finalize();
    });
    EXPECT_THAT(errors[0] ? errors[0]->text() : "accepted", testing::HasSubstr(text)) << what;
  }
}

}  // namespace
}  // namespace afterbay::test
