// SPDX-License-Identifier: Apache-2.0
#include "client/direct_puts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>

#include "client/pools.hpp"
#include "unit/client/scripted_servers.hpp"
#include "wire/model_messages.hpp"

namespace afterbay::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t points = 6;

/// One rank, one server, a file with the variables v and w, and a file of another collection with
/// the variables n and label; no session.
class ClientDirectPuts : public ::testing::Test {
 protected:
  ClientDirectPuts() {
    test::ScriptedServers servers(1);
    link_ = servers.ends.front();
    core_.emplace(
        RankIdentity{}, config_, std::move(servers.links),
        SessionCore::Host{.handle = [](std::size_t, std::span<const std::byte>) -> Result<> { return {}; },
                          .add_work = [](Error&) {}});
    rank_.emplace(*core_, profile_);
    Schema schema;
    schema.dimension("time", unlimited).dimension("x", points);
    for (const char* const name : {"v", "w"}) schema.variable(name, Type::float64, {"time", "x"});
    add_collection("c", schema, "cdf5", file_);
    Schema others;
    others.dimension("time", unlimited).dimension("x", points);
    others.variable("n", Type::float64, {"time", "x"});
    others.variable("label", Type::string, {"time"});
    add_collection("other", others, "netcdf4", other_file_);
    collections_[1]->records().set_first_frame(0, 100);
  }

  void add_collection(const std::string& name, const Schema& schema, const std::string& store, File& file,
                      const std::vector<Decomposition>& decompositions = {}) {
    const auto id = static_cast<std::uint32_t>(collections_.size());
    Pools pools(config_, {}, 1);
    auto made =
        Collection::make({.id = id, .name = name, .schema = schema, .options = {.store = store}}, config_,
                         decompositions, {.model_rank = 0, .model_ranks = 1, .servers = 1, .pools = &pools});
    collections_.push_back(std::move(made.value().front()));
    file.id = id;
    file.collection = collections_.back().get();
    file.servers = {0};
    file.path = name + ".nc";
  }

  DirectPuts direct_puts() {
    DirectPuts made(*core_, *rank_, std::chrono::milliseconds(1000), profile_);
    for (const auto& collection : collections_) made.add_collection(*collection);
    return made;
  }

  static Result<bool> put(DirectPuts& puts, File& file, std::string_view variable, std::uint64_t record,
                          double first, bool may_wait = true) {
    std::vector<double> values(points);
    std::iota(values.begin(), values.end(), first);
    return puts.put(file, variable, record, values.data(), Type::float64, {}, may_wait);
  }

  /// The frame's values; cdf5 is big-endian.
  [[nodiscard]] std::vector<double> values_in(const transport::FrameSlot& slot) const {
    std::vector<double> values(points);
    for (std::size_t i = 0; i < points; ++i) {
      std::array<std::byte, sizeof(double)> bytes{};
      std::memcpy(bytes.data(), link_->frames.at(slot.frame).data() + slot.phase + i * sizeof(double),
                  sizeof(double));
      std::ranges::reverse(bytes);
      values[i] = std::bit_cast<double>(bytes);
    }
    return values;
  }

  config::Config config_ = test::config_of({});
  observe::Profile profile_;
  test::ScriptedLink* link_ = nullptr;
  std::optional<SessionCore> core_;
  std::optional<RankPuts> rank_;
  std::vector<std::unique_ptr<Collection>> collections_;
  File file_;
  File other_file_;
};

TEST_F(ClientDirectPuts, a_put_begins_the_record_copies_the_data_and_reports_the_put) {
  DirectPuts puts = direct_puts();
  ASSERT_EQ(put(puts, file_, "v", 3, 10.0), true);
  const auto begun = link_->all_sent<wire::BeginRecord>();
  ASSERT_EQ(begun.size(), 1U);
  EXPECT_EQ(begun[0].record, 3U);
  EXPECT_EQ(link_->all_sent<wire::Put>().size(), 1U);
  EXPECT_THAT(link_->positions, ElementsAre(1, 2)) << "of the put, and after it";
  ASSERT_EQ(link_->reserved.size(), 1U);
  EXPECT_EQ(link_->reserved[0].position, 1U);
  EXPECT_THAT(values_in(link_->reserved[0]), ElementsAre(10.0, 11.0, 12.0, 13.0, 14.0, 15.0));
}

TEST_F(ClientDirectPuts, the_pages_that_a_put_writes_are_announced_before) {
  constexpr std::uint64_t long_row = 10000;
  Schema schema;
  schema.dimension("time", unlimited).dimension("x", long_row);
  schema.variable("long", Type::float64, {"time", "x"});
  File file;
  add_collection("long", schema, "cdf5", file);
  collections_.back()->records().set_first_frame(0, 200);
  DirectPuts puts = direct_puts();
  ASSERT_TRUE(put(puts, file_, "v", 0, 1.0));
  EXPECT_TRUE(link_->announced.empty()) << "six values are less than it is worth";
  ASSERT_EQ(link_->noted.size(), 1U) << "but later frames can be mapped ahead";
  EXPECT_EQ(link_->noted[0].second, 6 * sizeof(double));
  const std::vector<double> values(long_row, 2.0);
  ASSERT_TRUE(puts.put(file, "long", 0, values.data(), Type::float64, {}, true));
  std::uint64_t bytes = 0;
  for (const auto& range : link_->announced) bytes += range.second;
  EXPECT_EQ(bytes, long_row * sizeof(double));
  const std::size_t once = link_->announced.size();
  ASSERT_TRUE(puts.put(file, "long", 1, values.data(), Type::float64, {}, true));
  EXPECT_EQ(link_->announced.size(), once) << "the block is known";
  ++link_->generation;
  ASSERT_TRUE(puts.put(file, "long", 2, values.data(), Type::float64, {}, true));
  EXPECT_EQ(link_->announced.size(), 2 * once) << "it was forgotten";
}

TEST_F(ClientDirectPuts, the_pages_that_a_put_on_a_map_writes_densely_are_announced) {
  constexpr std::int64_t all = 32768, half = all / 2, window_points = 8192;
  afterbay::Map map;
  map.global = {all};
  for (std::int64_t i = 1; i < half; i += 2) map.indices.push_back(i);
  for (std::int64_t i = half; i < all; i += window_points) map.indices.push_back(i);
  const std::uint64_t held = map.indices.size();
  Decomposition cells{.id = 0, .name = "cells", .coverage = {}, .block = {}, .map = nullptr};
  cells.map = std::make_shared<MapPart>(model::Index(map.global),
                                        model::make_listed_runs("cells", map, Repeats::refuse).value());
  Schema schema;
  schema.dimension("time", unlimited).dimension("x", all);
  schema.variable("scattered", Type::float64, {"time", "x"}).on("cells");
  File file;
  add_collection("map", schema, "cdf5", file, {cells});
  collections_.back()->records().set_first_frame(0, 200);
  DirectPuts puts = direct_puts();
  const std::vector<double> values(held, 2.0);
  ASSERT_TRUE(puts.put(file, "scattered", 0, values.data(), Type::float64, {}, true));
  ASSERT_EQ(link_->announced.size(), 1U);
  EXPECT_EQ(link_->announced[0].first,
            link_->frames.at(link_->reserved[0].frame).data() + link_->reserved[0].phase);
  EXPECT_EQ(link_->announced[0].second, half * sizeof(double)) << "not single points";
  ASSERT_EQ(link_->noted.size(), 1U);
  EXPECT_EQ(link_->noted[0].first, link_->announced[0].first + half * sizeof(double));
  EXPECT_EQ(link_->noted[0].second, (window_points + 1) * sizeof(double)) << "up to the last point";
}

TEST_F(ClientDirectPuts, a_record_is_put_once) {
  DirectPuts puts = direct_puts();
  ASSERT_TRUE(put(puts, file_, "v", 0, 1.0));
  const auto again = put(puts, file_, "v", 0, 1.0);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::conflict);
  EXPECT_EQ(again.error().file, "c.nc");
  EXPECT_EQ(again.error().variable, "v");
  EXPECT_TRUE(core_->is_usable());
}

TEST_F(ClientDirectPuts, a_try_put_without_room_keeps_its_position) {
  DirectPuts puts = direct_puts();
  link_->has_room = false;
  EXPECT_EQ(put(puts, file_, "v", 0, 1.0, false), false);
  EXPECT_TRUE(link_->reserved.empty());
  link_->has_room = true;
  EXPECT_EQ(put(puts, file_, "v", 0, 1.0, false), true);
  EXPECT_EQ(link_->reserved.at(0).position, 1U);
}

TEST_F(ClientDirectPuts, two_endpoints_of_a_rank_put_in_one_order) {
  DirectPuts first = direct_puts();
  DirectPuts second = direct_puts();
  ASSERT_TRUE(put(first, file_, "v", 0, 1.0));
  ASSERT_TRUE(put(first, file_, "v", 1, 1.0));
  ASSERT_TRUE(put(second, file_, "w", 0, 2.0));
  ASSERT_TRUE(put(second, other_file_, "n", 0, 3.0));
  ASSERT_TRUE(put(first, file_, "w", 1, 4.0));
  std::vector<std::uint64_t> positions;
  for (const auto& slot : link_->reserved) positions.push_back(slot.position);
  EXPECT_THAT(positions, ElementsAre(1, 2, 3, 4, 5)) << "a link ignores positions that do not ascend";
  EXPECT_TRUE(std::ranges::is_sorted(link_->positions));
  EXPECT_EQ(link_->reserved[0].seq, link_->reserved[2].seq) << "records are numbered once per rank";
  EXPECT_EQ(link_->all_sent<wire::BeginRecord>().size(), 3U);
  EXPECT_EQ(link_->reserved[3].frame, 100U) << "the first frame of the other collection";
}

TEST_F(ClientDirectPuts, a_try_put_without_room_keeps_its_position_among_the_puts_of_all_endpoints) {
  DirectPuts first = direct_puts();
  DirectPuts second = direct_puts();
  ASSERT_TRUE(put(second, file_, "v", 0, 1.0));
  link_->has_room = false;
  EXPECT_EQ(put(first, file_, "w", 0, 1.0, false), false);
  link_->has_room = true;
  EXPECT_EQ(put(first, file_, "w", 0, 1.0, false), true);
  EXPECT_EQ(link_->reserved.at(1).position, 2U);
}

TEST_F(ClientDirectPuts, a_record_is_put_once_by_all_endpoints_of_a_rank) {
  DirectPuts first = direct_puts();
  DirectPuts second = direct_puts();
  ASSERT_TRUE(put(first, file_, "v", 0, 1.0));
  const auto again = put(second, file_, "v", 0, 1.0);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::conflict);
}

TEST_F(ClientDirectPuts, a_slot_of_any_endpoint_keeps_the_rank_from_ending_its_record) {
  DirectPuts first = direct_puts();
  DirectPuts second = direct_puts();
  const auto slot = second.acquire(file_, "w", 0, Type::float64);
  const auto another = first.acquire(other_file_, "n", 0, Type::float64);
  ASSERT_TRUE(slot && another);
  EXPECT_NE(slot->number, another->number);
  const auto refused = rank_->check_no_slot_out("end_step");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("c.nc, variable w, record 0"));
  EXPECT_THAT(rank_->check_no_slot_out("close", &other_file_).error().message, HasSubstr("other.nc"));

  for (std::uint64_t record = 1; record < CollectionRecords::most_open; ++record)
    ASSERT_TRUE(put(first, file_, "v", record, 1.0));
  const auto one_more = put(first, file_, "v", CollectionRecords::most_open, 1.0);
  ASSERT_FALSE(one_more) << "it would end record 0, whose memory the second endpoint has lent";
  EXPECT_THAT(one_more.error().message, HasSubstr("c.nc, variable w, record 0"));
  ASSERT_TRUE(first.commit(*another, std::vector<double>(points).data()));
  second.forget(*slot);
  EXPECT_FALSE(second.is_out(*slot));
  EXPECT_TRUE(rank_->check_no_slot_out("end_step"));
  EXPECT_TRUE(put(first, file_, "v", CollectionRecords::most_open, 1.0));
}

TEST_F(ClientDirectPuts, strings_are_counted_and_the_last_put_is_known_per_rank) {
  DirectPuts first = direct_puts();
  DirectPuts second = direct_puts();
  const std::vector<std::string> label{"spin-up"};
  ASSERT_TRUE(put(first, file_, "v", 0, 1.0));
  ASSERT_TRUE(first.put_strings(other_file_, "label", 0, label));
  ASSERT_TRUE(second.put_strings(other_file_, "label", 1, label));
  EXPECT_EQ(rank_->strings_put(0), 2U);
  Error error(ErrorCode::timed_out, "waited");
  rank_->add_last_put(error);
  EXPECT_EQ(error.file, "other.nc");
  EXPECT_THAT(error.text(), HasSubstr("record 1 of variable 'label' in other.nc"));
}

}  // namespace
}  // namespace afterbay::client
