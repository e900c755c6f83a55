// SPDX-License-Identifier: Apache-2.0
// Files that go to the least loaded server: each server's report of its load, and the choice.
#include "server/server.hpp"

namespace afterbay::server {

Result<> Server::choose_server(const wire::AskServer& message) {
  const auto known = [this](std::uint32_t server) {
    return server < static_cast<std::uint32_t>(identity_.servers);
  };
  const bool sound = std::ranges::all_of(message.candidates, [&](const wire::Candidate& it) {
    return known(it.leader) && !it.servers.empty() && std::ranges::all_of(it.servers, known);
  });
  if (message.candidates.empty() || !sound)
    return afterbay::fail(ErrorCode::internal,
                          "a server was requested for collection {} among {} candidates, some of which are "
                          "not among the {} servers",
                          message.collection, message.candidates.size(), identity_.servers);
  report_load();
  const std::uint32_t server =
      dispatcher_.assign(message.collection, message.candidates, message.expected_bytes);
  logger_.debug("file {} of collection {} goes to I/O server {}", message.nth, message.collection, server);
  const auto answer = wire::encode(wire::Assigned{message.collection, message.nth, server});
  for (std::size_t p = 0; p < catalog_.ranks(); ++p) port_->send(p, answer);
  return {};
}

/// Reports often enough to be useful, and only if something has changed.
void Server::report_load() {
  if (!tells_load_ || shutdown_.said_goodbye()) return;
  const std::pair now(port_->frames().used_bytes() + strings_.bytes(), assigned_files_ended_);
  if (now == load_told_) return;
  load_told_ = now;
  if (wire::choosing_server == static_cast<std::uint32_t>(identity_.number))
    dispatcher_.report(wire::choosing_server, now.first, now.second);
  else if (auto sent = fellows_.send(wire::choosing_server, wire::ServerLoad{now.first, now.second}); !sent)
    fail(shared_.error_with(wire::choosing_server, std::move(sent).error()));
}

}  // namespace afterbay::server
