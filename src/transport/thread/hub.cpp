// SPDX-License-Identifier: Apache-2.0
#include "transport/thread/hub.hpp"

#include "transport/shm/client.hpp"
#include "transport/shm/peer.hpp"
#include "transport/shm/port.hpp"

namespace afterbay::transport {

Result<ThreadHub> ThreadHub::make(std::size_t clients, const Options& options) {
  AFTERBAY_TRY_ASSIGN(const shm::Geometry geometry, shm::make_geometry(options.sizes, clients));
  AFTERBAY_TRY_ASSIGN(shm::Mapping mapping, shm::Mapping::anonymous(geometry.total_bytes));
  AFTERBAY_TRY_ASSIGN(shm::Segment formatted, shm::Segment::format(std::move(mapping), geometry));
  auto segment = std::make_shared<shm::Segment>(std::move(formatted));

  ThreadHub hub;
  hub.segment_bytes = geometry.total_bytes;
  auto port = std::make_unique<shm::Port>(segment);
  for (std::size_t i = 0; i < clients; ++i) {
    if (i >= clients - options.servers) port->pool().publish(i, shm::order_end);
    port->add(std::make_unique<shm::ShmPeer>(segment, i, "thread", fmt::format("model rank {}", i)));
    hub.clients.push_back(std::make_unique<shm::ShmClientLink>(
        segment, shm::ClientOptions{
                     i, options.policy, "thread", fmt::format("I/O server {}", options.server),
                     options.rank_links.empty() ? std::make_shared<RankLinks>() : options.rank_links[i]}));
  }
  hub.port = std::move(port);
  return hub;
}

}  // namespace afterbay::transport
