// SPDX-License-Identifier: Apache-2.0
#include "client/endpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>

#include "client/pools.hpp"
#include "unit/client/scripted_link.hpp"
#include "unit/config/config_sources.hpp"
#include "wire/model_messages.hpp"

namespace afterbay::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t points = 6;

/// One rank, one server, and a file with the variables v and w; no session.
class ClientEndpoint : public ::testing::Test {
 protected:
  ClientEndpoint() {
    auto link = std::make_unique<test::ScriptedLink>();
    link_ = link.get();
    SessionCore::Links links;
    links.push_back(std::move(link));
    core_.emplace(
        RankIdentity{}, config_, std::move(links),
        SessionCore::Host{.handle = [](std::size_t, std::span<const std::byte>) -> Result<> { return {}; },
                          .add_work = [](Error&) {}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("x", points);
    for (const char* const name : {"v", "w"}) schema.variable(name, Type::float64, {"time", "x"});
    Pools pools(config_, {}, 1);
    auto made =
        Collection::make({.id = 0, .name = "c", .schema = schema, .options = {.store = "cdf5"}}, config_, {},
                         {.model_rank = 0, .model_ranks = 1, .servers = 1, .pools = &pools});
    collection_ = std::move(made.value().front());
    file_.collection = collection_.get();
    file_.servers = {0};
    file_.path = "c.nc";
  }

  Endpoint endpoint() {
    Endpoint made(*core_, std::chrono::milliseconds(1000), profile_);
    made.add_collection(*collection_);
    return made;
  }

  static Result<bool> put(Endpoint& endpoint, File& file, std::string_view variable, std::uint64_t record,
                          double first, bool may_wait = true) {
    std::vector<double> values(points);
    std::iota(values.begin(), values.end(), first);
    return endpoint.put(file, variable, record, values.data(), Type::float64, {}, may_wait);
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

  config::Config config_ = config::load(config::no_environment()).value();
  observe::Profile profile_;
  test::ScriptedLink* link_ = nullptr;
  std::optional<SessionCore> core_;
  std::unique_ptr<Collection> collection_;
  File file_;
};

TEST_F(ClientEndpoint, a_put_begins_the_record_copies_the_data_and_reports_the_put) {
  Endpoint endpoint = this->endpoint();
  ASSERT_EQ(put(endpoint, file_, "v", 3, 10.0), true);
  const auto begun = link_->all_sent<wire::BeginRecord>();
  ASSERT_EQ(begun.size(), 1U);
  EXPECT_EQ(begun[0].record, 3U);
  EXPECT_EQ(link_->all_sent<wire::Put>().size(), 1U);
  EXPECT_THAT(link_->positions, ElementsAre(1, 2)) << "of the put, and after it";
  ASSERT_EQ(link_->reserved.size(), 1U);
  EXPECT_EQ(link_->reserved[0].position, 1U);
  EXPECT_THAT(values_in(link_->reserved[0]), ElementsAre(10.0, 11.0, 12.0, 13.0, 14.0, 15.0));
}

TEST_F(ClientEndpoint, a_record_is_put_once) {
  Endpoint endpoint = this->endpoint();
  ASSERT_TRUE(put(endpoint, file_, "v", 0, 1.0));
  const auto again = put(endpoint, file_, "v", 0, 1.0);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::conflict);
  EXPECT_EQ(again.error().file, "c.nc");
  EXPECT_EQ(again.error().variable, "v");
  EXPECT_TRUE(core_->is_usable());
}

TEST_F(ClientEndpoint, a_try_put_without_room_keeps_its_position) {
  Endpoint endpoint = this->endpoint();
  link_->has_room = false;
  EXPECT_EQ(put(endpoint, file_, "v", 0, 1.0, false), false);
  EXPECT_TRUE(link_->reserved.empty());
  link_->has_room = true;
  EXPECT_EQ(put(endpoint, file_, "v", 0, 1.0, false), true);
  EXPECT_EQ(link_->reserved.at(0).position, 1U);
}

TEST_F(ClientEndpoint, two_endpoints_of_a_rank_have_positions_and_slots_of_their_own) {
  Endpoint first = endpoint();
  Endpoint second = endpoint();
  ASSERT_TRUE(put(first, file_, "v", 0, 1.0));
  ASSERT_TRUE(put(first, file_, "v", 1, 1.0));
  ASSERT_TRUE(put(second, file_, "w", 0, 2.0));
  ASSERT_EQ(link_->reserved.size(), 3U);
  EXPECT_EQ(link_->reserved[1].position, 2U);
  EXPECT_EQ(link_->reserved[2].position, 1U) << "the first put of the second endpoint";
  EXPECT_EQ(link_->reserved[0].seq, link_->reserved[2].seq) << "records are numbered once per rank";
  EXPECT_EQ(link_->all_sent<wire::BeginRecord>().size(), 2U);

  const auto slot = second.acquire(file_, "w", 1, Type::float64);
  ASSERT_TRUE(slot);
  EXPECT_TRUE(second.is_out(*slot));
  EXPECT_TRUE(first.check_no_slot_out("end_step"));
  const auto refused = second.check_no_slot_out("end_step");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("c.nc, variable w, record 1"));
  second.forget(*slot);
  EXPECT_TRUE(second.check_no_slot_out("end_step"));
}

}  // namespace
}  // namespace afterbay::client
