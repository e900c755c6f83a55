// SPDX-License-Identifier: Apache-2.0
// Files that go to the server with the least to write: what each tells of itself, and the choice.
#include "server/server.hpp"

namespace afterbay::server {

Result<> Server::choose_server(const wire::AskServer& message) {
  const ServedCollection* collection = catalog_.find(message.collection);
  if (collection == nullptr || collection->servers.empty())
    return afterbay::fail(ErrorCode::internal,
                          "a server was asked for of collection {}, which is not defined here",
                          message.collection);
  report_load();
  const std::size_t server =
      dispatcher_.assign(message.collection, collection->servers, message.expected_bytes);
  logger_.debug("file {} of collection {} goes to I/O server {}", message.nth, collection->name, server);
  const auto answer =
      wire::encode(wire::Assigned{message.collection, message.nth, static_cast<std::uint32_t>(server)});
  for (std::size_t p = 0; p < peers_.size(); ++p) port_->send(p, answer);
  return {};
}

/// Often enough to be of use, and only when something has changed.
void Server::report_load() {
  if (!load_goes_to_ || said_goodbye_) return;
  const std::pair now(port_->frames().used_bytes() + strings_.bytes(), assigned_files_ended_);
  if (now == load_told_) return;
  load_told_ = now;
  if (*load_goes_to_ == static_cast<std::size_t>(place_.number))
    dispatcher_.report(*load_goes_to_, now.first, now.second);
  else if (auto sent = fellows_.send(*load_goes_to_, wire::ServerLoad{now.first, now.second}); !sent)
    fail(fellow_error(std::move(sent).error(), *load_goes_to_));
}

}  // namespace afterbay::server
