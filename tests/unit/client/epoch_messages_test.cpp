// SPDX-License-Identifier: Apache-2.0
// What a model rank tells the servers of an epoch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "client/model_session.hpp"
#include "unit/client/scripted_servers.hpp"

namespace afterbay::client {
namespace {

/// All servers got all open files: servers x files entries per rank.
TEST(ClientEpoch, each_server_learns_of_the_files_that_it_writes) {
  constexpr std::size_t servers = 3;
  const config::Config config = test::config_of({{"placement", "file"}, {"servers", "3"}});
  observe::Profile profile;
  test::ScriptedServers scripted(servers);
  test::answer_definitions(scripted.ends, 1);
  ModelSession session({.session_rank = 1, .model_rank = 1, .model_size = 2, .pool_of_server = {0, 0, 0}},
                       config, std::move(scripted.links), profile,
                       Logger({"test", "model", 1}, LogLevel::error));
  Schema schema;
  schema.dimension("time", unlimited);
  schema.variable("v", Type::float64, {"time"});
  const auto collection = session.collection("c", schema, {.file = "c_{step}.nc", .store = "cdf5"});
  ASSERT_TRUE(collection) << collection.error().text();
  std::vector<std::vector<std::uint64_t>> expected(servers);
  for (int step = 0; step < 7; ++step) {
    FileName name;
    name.step = step;
    const auto file = session.open(**collection, name, {});
    ASSERT_TRUE(file) << file.error().text();
    expected[(*file)->server].push_back((*file)->id);
  }
  const auto epoch = session.epoch("year");
  ASSERT_TRUE(epoch) << epoch.error().text();
  for (std::size_t s = 0; s < servers; ++s) {
    EXPECT_FALSE(expected[s].empty());
    const auto sent = scripted.ends[s]->all_sent<wire::EndEpoch>();
    ASSERT_EQ(sent.size(), 1U);
    std::vector<std::uint64_t> files;
    for (const auto& it : sent[0].files) files.push_back(it.file);
    EXPECT_EQ(files, expected[s]) << "I/O server " << s;
  }
}

}  // namespace
}  // namespace afterbay::client
