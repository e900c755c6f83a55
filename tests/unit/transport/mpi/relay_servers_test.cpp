// SPDX-License-Identifier: Apache-2.0
// Signs of life between frontends and servers.
#include "transport/mpi/relay_servers.hpp"

#include <gtest/gtest.h>

namespace afterbay::transport::network {
namespace {

constexpr std::uint64_t second = 1'000'000'000;

/// Pings that one of so many frontends sends to a server in a time, with looks 100 ms apart.
std::size_t pings_of(std::size_t frontends, Millis deadline, std::uint64_t time) {
  RelayOptions options;
  options.frontends = frontends;
  options.policy.deadline = deadline;
  options.servers.push_back({0, 1, "I/O server 0 (rank 1)", {}, ""});
  RelayServers servers(options);
  servers.begin(second);
  std::size_t pings = 0;
  for (std::uint64_t now = second; now < second + time; now += second / 10)
    servers.watch(
        now,
        [&](std::size_t server) {
          ++pings;
          servers.note_message(server, now);
        },
        [](std::size_t, const Error& why) { ADD_FAILURE() << why.text(); });
  return pings;
}

TEST(TransportRelayServers, a_server_gets_as_many_signs_of_life_of_many_frontends_as_of_some) {
  const Millis deadline(300'000);
  EXPECT_EQ(pings_of(1, deadline, 100 * second), 100u);
  for (const std::size_t frontends : {100U, 500U, 2000U})
    EXPECT_NEAR(static_cast<double>(frontends * pings_of(frontends, deadline, 100 * second)), 10'000, 1000);
}

/// No side may regard the other as lost.
TEST(TransportRelayServers, signs_of_life_are_no_rarer_than_the_deadline_allows) {
  EXPECT_GE(pings_of(100'000, Millis(16'000), 100 * second), 50u);
  EXPECT_GE(pings_of(1, Millis(2000), 100 * second), 300u);
}

}  // namespace
}  // namespace afterbay::transport::network
