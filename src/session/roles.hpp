// SPDX-License-Identifier: Apache-2.0
// Who is what: from every rank's wish, the configuration and the nodes to roles.
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
  int pool = 0;                     ///< of servers and frontends
  std::vector<int> frontends = {};  ///< of model ranks, by pool: the frontend's rank, or -1

  [[nodiscard]] bool spare() const noexcept { return !model && !server && !frontend; }
};

/// `wishes` and `nodes` (any numbers, equal on the same node) have one entry a rank. Fails with the
/// arithmetic when it cannot work: no model ranks, a layout for which there are not the ranks, inline with
/// server processes. The same on every rank.
Result<std::vector<RankRole>> assign_roles(const std::vector<Role>& wishes, const std::vector<int>& nodes,
                                           const config::Config& config);

}  // namespace afterbay::session
