// SPDX-License-Identifier: Apache-2.0
// Which servers a model rank tells of a collection with a map, and when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "client/model_session.hpp"
#include "unit/client/scripted_servers.hpp"

namespace afterbay::client {
namespace {

using testing::Each;
using testing::ElementsAre;

class ClientMapsLater : public testing::Test {
 protected:
  static constexpr std::size_t servers = 3;

  void open_session(const std::string& most_bytes) {
    config_ = test::config_of({{"placement", "file"}, {"servers", "3"}, {"memory.maps", most_bytes}});
    test::ScriptedServers scripted(servers);
    ends_ = scripted.ends;
    session_ = std::make_unique<ModelSession>(
        RankIdentity{.session_rank = 1, .model_rank = 1, .model_size = 2, .pool_of_server = {0, 0, 0}},
        config_, std::move(scripted.links), profile_, Logger({"test", "model", 1}, LogLevel::error));
    Map map;
    map.global = {100};
    map.indices.resize(50);
    std::iota(map.indices.begin(), map.indices.end(), 50);
    ASSERT_TRUE(session_->decomposition("map", map, Coverage{}));
    Schema schema;
    schema.dimension("time", unlimited).dimension("x", 100);
    schema.variable("v", Type::float64, {"time", "x"}).on("map");
    collection_ = session_->collection("c", schema, {.file = "c_{step}.nc", .store = "cdf5"}).value();
    answer_all();
    ASSERT_TRUE(session_->start());
  }
  void answer_all() { test::answer_definitions(ends_, ++serial_); }
  void open(int step) {
    answer_all();
    FileName name;
    name.step = step;
    const auto file = session_->open(*collection_, name, {});
    ASSERT_TRUE(file) << file.error().text();
  }
  /// How often each server has been told of the collection.
  [[nodiscard]] std::vector<std::size_t> told() const {
    std::vector<std::size_t> times;
    for (const test::ScriptedLink* const end : ends_)
      times.push_back(end->all_sent<wire::DefineCollection>().size());
    return times;
  }
  [[nodiscard]] std::size_t with_whole_map() const {
    return static_cast<std::size_t>(std::ranges::count_if(ends_, [](const test::ScriptedLink* end) {
      return std::ranges::any_of(end->all_sent<wire::DefineMap>(),
                                 [](const auto& it) { return it.all != 0; });
    }));
  }

  config::Config config_;
  observe::Profile profile_;
  std::vector<test::ScriptedLink*> ends_;
  std::unique_ptr<ModelSession> session_;
  Collection* collection_ = nullptr;
  std::uint64_t serial_ = 0;
};

TEST_F(ClientMapsLater, a_server_gets_a_large_map_with_its_first_file) {
  open_session("0");
  EXPECT_THAT(told(), Each(0U));
  EXPECT_LE(with_whole_map(), 1U) << "one checks it, if servers exchange no messages";
  for (int step = 0; step < 3; ++step) {
    open(step);
    const auto times = told();
    EXPECT_EQ(std::reduce(times.begin(), times.end()), static_cast<std::size_t>(step + 1));
    EXPECT_LE(with_whole_map(), static_cast<std::size_t>(step + 2));
  }
  EXPECT_THAT(told(), Each(1U));
  EXPECT_EQ(with_whole_map(), servers);
  for (int step = 3; step < 7; ++step) open(step);
  EXPECT_THAT(told(), Each(1U));
}

TEST_F(ClientMapsLater, all_servers_get_small_maps_at_once) {
  open_session("1MiB");
  EXPECT_THAT(told(), ElementsAre(1U, 1U, 1U));
  EXPECT_EQ(with_whole_map(), servers);
}

}  // namespace
}  // namespace afterbay::client
