// SPDX-License-Identifier: Apache-2.0
#include "session/roles.hpp"

#include <algorithm>
#include <set>

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
  std::vector<RankRole> roles(wishes.size(), RankRole{true, false});
  std::set<int> seen;
  for (std::size_t r = 0; r < wishes.size(); ++r) roles[r].server = seen.insert(nodes[r]).second;
  return roles;
}

}  // namespace

Result<std::vector<RankRole>> assign_roles(const std::vector<Role>& wishes, const std::vector<int>& nodes,
                                           const config::Config& config) {
  if (config.topology == config::Topology::inline_) return inline_roles(wishes, nodes);
  const auto ranks = static_cast<int>(wishes.size());
  const auto asked = static_cast<int>(std::ranges::count(wishes, Role::server));
  std::vector<RankRole> roles(wishes.size());
  if (asked == 0) {
    AFTERBAY_TRY_ASSIGN(const config::Split split, config.check_against(ranks));
    for (int r = 0; r < ranks; ++r) {
      const bool serves = r >= split.model_ranks;
      if (serves && wishes[static_cast<std::size_t>(r)] == Role::model)
        return fail(ErrorCode::conflict,
                    "rank {} was opened as a model rank, but the last {} of {} ranks are to be servers: "
                    "start servers with "
                    "'afterbay serve', or leave the role to the configuration",
                    r, split.servers, ranks);
      roles[static_cast<std::size_t>(r)] = {!serves, serves};
    }
    return roles;
  }
  const bool said = config.origin("servers").source != config::Source::fallback;
  if (said && config.servers != asked)
    return fail(
        ErrorCode::conflict,
        "{} of {} ranks are server processes, but 'servers' is {} ({}): leave it out or make it equal", asked,
        ranks, config.servers, config.origin("servers").place);
  if (asked == ranks)
    return fail(ErrorCode::conflict, "all {} ranks are server processes: there is no model rank", ranks);
  for (std::size_t r = 0; r < wishes.size(); ++r)
    roles[r] = {wishes[r] != Role::server, wishes[r] == Role::server};
  return roles;
}

}  // namespace afterbay::session
