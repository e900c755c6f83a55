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
  bool server = false;  ///< both: inline
};

/// `wishes` and `nodes` (any numbers, equal on the same node) have one entry a rank. Fails with the
/// arithmetic when it cannot work: no model ranks, more servers than ranks, inline with server processes.
Result<std::vector<RankRole>> assign_roles(const std::vector<Role>& wishes, const std::vector<int>& nodes,
                                           const config::Config& config);

}  // namespace afterbay::session
