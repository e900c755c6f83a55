// SPDX-License-Identifier: Apache-2.0
#include "server/fellow_servers.hpp"

namespace afterbay::server {

FellowServers::FellowServers(transport::ServerPort& port, Links links, std::size_t first_peer)
    : port_(port), links_(std::move(links)), first_peer_(first_peer) {
  // Two servers that wait for room in each other's queue would wait forever.
  for (auto& link : links_)
    if (link)
      link->set_idle([this] {
        assert_role(ingest_thread);  // which waits in send
        const bool moved = port_.pump();
        return collect() || moved;
      });
}

/// One at a time, so that `collect` finds no link that is being destroyed.
void FellowServers::end() {
  for (auto& link : links_) link.reset();
}

Result<> FellowServers::send_encoded(std::size_t server, std::span<const std::byte> message) {
  if (!links_[server]) return {};
  AFTERBAY_TRY(links_[server]->send(message, transport::Wake::now));
  return links_[server]->flush();
}

bool FellowServers::collect() {
  bool any = false;
  for (std::size_t s = 0; s < links_.size(); ++s) {
    if (links_[s]) (void)links_[s]->receive();  // only the link's own control messages arrive here
    while (const auto message = port_.peek(first_peer_ + s)) {
      arrived_.emplace_back(s, transport::Bytes(message->begin(), message->end()));
      port_.pop(first_peer_ + s);
      any = true;
    }
  }
  return any;
}

std::optional<std::pair<std::size_t, transport::Bytes>> FellowServers::next() {
  if (links_.empty()) return std::nullopt;
  collect();
  if (arrived_.empty()) return std::nullopt;
  auto first = std::move(arrived_.front());
  arrived_.pop_front();
  return first;
}

void FellowServers::ended(std::size_t server) {
  port_.forget(first_peer_ + server);
  links_[server].reset();
}

std::optional<std::size_t> FellowServers::server_of(std::size_t peer) const noexcept {
  if (links_.empty() || peer < first_peer_) return std::nullopt;
  return peer - first_peer_;
}

}  // namespace afterbay::server
