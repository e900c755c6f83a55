// SPDX-License-Identifier: Apache-2.0
#include "server/peers.hpp"

namespace afterbay::server {

std::optional<Peers::Lost> Peers::next_lost() {
  auto lost = port_->lost_peer();
  if (!lost) return std::nullopt;
  const auto server = fellows_.server_of(lost->peer);
  if (!server) return Lost{false, lost->peer, std::move(lost->error), lost->ended};
  // It may have sent its farewell while this server was sending to it.
  if (fellows_.has_unread(*server)) return std::nullopt;
  fellows_.ended(*server);
  return Lost{true, *server, std::move(lost->error), lost->ended};
}

}  // namespace afterbay::server
