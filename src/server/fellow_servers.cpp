// SPDX-License-Identifier: Apache-2.0
#include "server/fellow_servers.hpp"

namespace afterbay::server {
namespace {

constexpr std::size_t most_quiet_links = 16;  // used in one pass

}  // namespace

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
  sending_to_.add(server);
  AFTERBAY_TRY(links_[server]->send(message, transport::Wake::now));
  return links_[server]->flush();
}

/// Only the link's own control messages arrive here.
void FellowServers::receive_on(std::size_t server) {
  if (links_[server]) (void)links_[server]->receive();
}

bool FellowServers::collect() {
  sending_to_.visit([this](std::size_t server) {
    assert_role(ingest_thread);
    receive_on(server);
    return links_[server] && links_[server]->under_way();
  });
  for (std::size_t n = std::min(links_.size(), most_quiet_links); n > 0; --n) {
    receive_on(next_link_);
    next_link_ = (next_link_ + 1) % links_.size();
  }
  bool any = false;
  std::vector<std::size_t> ready;
  port_.ready(first_peer_, first_peer_ + links_.size(), ready);
  for (const std::size_t peer : ready)
    while (const auto message = port_.peek(peer)) {
      arrived_.emplace_back(peer - first_peer_, transport::Bytes(message->begin(), message->end()));
      port_.pop(peer);
      any = true;
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
