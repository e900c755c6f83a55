// SPDX-License-Identifier: Apache-2.0
// Assigns the roles of all ranks from their wishes, the configuration and the nodes.
#pragma once

#include <string>
#include <vector>

#include "afterbay/session.hpp"
#include "base/result.hpp"
#include "config/config.hpp"

namespace afterbay::session {

struct RankRole {
  bool model = false;
  bool server = false;  ///< both: inline; neither: a frontend, or a spare rank
  bool frontend = false;
  int pool = 0;                     ///< the pool of servers and frontends
  std::vector<int> frontends = {};  ///< for model ranks, by pool: the frontend's rank, or -1

  [[nodiscard]] bool spare() const noexcept { return !model && !server && !frontend; }
};

/// `wishes` and `nodes` (any numbers, equal on the same node) have one entry per rank. Fails, with
/// the calculation, if there are no model ranks, too few ranks for the layout, or server processes
/// with the inline topology. The result is the same on every rank.
Result<std::vector<RankRole>> assign_roles(const std::vector<Role>& wishes, const std::vector<int>& nodes,
                                           const config::Config& config);

}  // namespace afterbay::session
