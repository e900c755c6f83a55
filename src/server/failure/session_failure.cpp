// SPDX-License-Identifier: Apache-2.0
#include "server/failure/session_failure.hpp"

#include <algorithm>

namespace afterbay::server {

SessionFailure::Report SessionFailure::record(Error error, Witness witness) {
  error_ = std::move(error.at_rank(identity_.session_rank)
                         .add(fmt::format("I/O server {} (rank {}) stops writing", identity_.number,
                                          identity_.session_rank)));
  const bool here =
      witness == Witness::this_server || (witness == Witness::all_servers && identity_.number == 0);
  return {.here = here, .done = here || witness == Witness::reported};
}

Witness SessionFailure::of_lost_server(std::size_t server) const noexcept {
  const int reporter = server == 0 ? 1 : 0;
  return identity_.number == reporter ? Witness::this_server : Witness::all_servers;
}

Witness SessionFailure::of_forwarded(const wire::Abandon& message) const {
  if (message.reported) return Witness::reported;
  std::uint32_t first_reached = 0;
  while (std::ranges::binary_search(message.lost, first_reached)) ++first_reached;
  return first_reached == static_cast<std::uint32_t>(identity_.number) ? Witness::this_server
                                                                       : Witness::all_servers;
}

Witness SessionFailure::of_failed(const wire::ServerFailed& message) noexcept {
  return message.reported ? Witness::reported : Witness::all_servers;
}

Witness SessionFailure::of_wrong_message(bool linked) noexcept {
  return linked ? Witness::all_servers : Witness::this_server;
}

}  // namespace afterbay::server
