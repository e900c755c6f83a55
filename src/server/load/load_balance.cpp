// SPDX-License-Identifier: Apache-2.0
#include "server/load/load_balance.hpp"

#include <algorithm>

namespace afterbay::server {

void LoadBalance::assigned_file_ended() {
  ++files_ended_;
  report();
}

void LoadBalance::report() {
  if (!active_ || host_.said_goodbye()) return;
  const wire::ServerLoad load{host_.backlog_bytes(), files_ended_};
  if (load.backlog_bytes == reported_.backlog_bytes && load.files_ended == reported_.files_ended) return;
  reported_ = load;
  if (host_.server == wire::choosing_server)
    take(host_.server, load);
  else
    host_.send(load);
}

void LoadBalance::take(std::size_t server, const wire::ServerLoad& load) {
  dispatcher_.report(server, load.backlog_bytes, load.files_ended);
}

Result<> LoadBalance::choose(const wire::AskServer& message) {
  const auto known = [this](std::uint32_t server) { return server < host_.servers; };
  const bool sound = std::ranges::all_of(message.candidates, [&](const wire::Candidate& it) {
    return known(it.leader) && !it.servers.empty() && std::ranges::all_of(it.servers, known);
  });
  if (message.candidates.empty() || !sound)
    return fail(ErrorCode::internal,
                "a server was requested for collection {} among {} candidates, some of which are not among "
                "the {} servers",
                message.collection, message.candidates.size(), host_.servers);
  report();
  host_.answer({message.collection, message.nth,
                dispatcher_.assign(message.collection, message.candidates, message.expected_bytes)});
  return {};
}

}  // namespace afterbay::server
