// SPDX-License-Identifier: Apache-2.0
// The server's implementation of LoadBalance::Host.
#include "server/server.hpp"

namespace afterbay::server {

LoadBalance::Host Server::load_host() {
  LoadBalance::Host host;
  host.server = static_cast<std::uint32_t>(identity_.number);
  host.servers = static_cast<std::uint32_t>(identity_.servers);
  host.backlog_bytes = [this]() AFTERBAY_REQUIRES(ingest_thread) {
    return port_->frames().used_bytes() + strings_.bytes();
  };
  host.said_goodbye = [this]() AFTERBAY_REQUIRES(ingest_thread) { return shutdown_.said_goodbye(); };
  host.send = [this](const wire::ServerLoad& load) AFTERBAY_REQUIRES(ingest_thread) {
    if (auto sent = fellows_.send(wire::choosing_server, load); !sent)
      fail(shared_.error_with(wire::choosing_server, std::move(sent).error()));
  };
  host.answer = [this](const wire::Assigned& file) AFTERBAY_REQUIRES(ingest_thread) {
    logger_.debug("file {} of collection {} goes to I/O server {}", file.nth, file.collection, file.server);
    const auto answer = wire::encode(file);
    for (std::size_t p = 0; p < catalog_.ranks(); ++p) port_->send(p, answer);
  };
  return host;
}

}  // namespace afterbay::server
