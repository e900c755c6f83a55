// SPDX-License-Identifier: Apache-2.0
#include "session/roles.hpp"

#include <algorithm>
#include <set>

#include "config/layout.hpp"

namespace afterbay::session {
namespace {

Result<std::vector<RankRole>> inline_roles(const std::vector<Role>& wishes, const std::vector<int>& nodes) {
  const auto server = std::ranges::find(wishes, Role::server);
  if (server != wishes.end())
    return fail(
        ErrorCode::conflict,
        "rank {} is a server process, but the topology is inline, where model ranks write themselves: start "
        "no servers, or set topology to dedicated",
        server - wishes.begin());
  std::vector<RankRole> roles(wishes.size(), RankRole{.model = true});
  std::set<int> seen;
  for (std::size_t r = 0; r < wishes.size(); ++r) roles[r].server = seen.insert(nodes[r]).second;
  return roles;
}

const char* name_of(config::RankKind kind) {
  switch (kind) {
    case config::RankKind::server: return "a server";
    case config::RankKind::frontend: return "a frontend";
    case config::RankKind::spare: return "spare";
    case config::RankKind::model: break;
  }
  return "a model rank";
}

}  // namespace

Result<std::vector<RankRole>> assign_roles(const std::vector<Role>& wishes, const std::vector<int>& nodes,
                                           const config::Config& config) {
  if (config.servers.topology == config::Topology::inline_) return inline_roles(wishes, nodes);
  std::vector<bool> serves;
  for (const Role wish : wishes) serves.push_back(wish == Role::server);
  const bool started = std::ranges::count(serves, true) > 0;
  AFTERBAY_TRY_ASSIGN(const auto assignments, started ? config::assign_started_servers(config, serves, nodes)
                                                      : config::assign_ranks(config, nodes));
  const auto routes = config::frontends_of_ranks(config, assignments, nodes);
  std::vector<RankRole> roles;
  for (std::size_t r = 0; r < assignments.size(); ++r) {
    const config::RankAssignment& it = assignments[r];
    if (it.kind != config::RankKind::model && wishes[r] == Role::model)
      return fail(
          ErrorCode::conflict,
          "rank {} was opened as a model rank, but its role is {}: start servers with 'afterbay serve', or "
          "leave the role to the configuration, which says\n{}",
          r, name_of(it.kind), config::text_of(config, assignments));
    roles.push_back({it.kind == config::RankKind::model,
                     it.kind == config::RankKind::server,
                     it.kind == config::RankKind::frontend,
                     std::max(it.pool, 0),
                     {}});
    for (const auto& of_pool : routes) roles.back().frontends.push_back(of_pool[r]);
  }
  return roles;
}

}  // namespace afterbay::session
