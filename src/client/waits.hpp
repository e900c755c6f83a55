// SPDX-License-Identifier: Apache-2.0
// Waits: what a rank does while it waits for servers, and waits for something else than servers.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "client/session_core.hpp"

namespace afterbay::client {

/// Used under the session's lock.
class Waits {
 public:
  explicit Waits(SessionCore& core) : core_(core) {}

  /// Called while this rank waits, besides what is called already; see ClientLink::set_idle.
  void add_idle(std::function<bool()> idle) { core_.add_idle(std::move(idle)); }
  /// Waits until `reached`, which is called about every millisecond, and handles messages of
  /// servers meanwhile. Fails if a server does, or makes no progress. `what`: for errors.
  Result<> until(const std::function<bool()>& reached, const std::string& what) {
    return core_.wait_until(reached,
                            {.what = what, .file = {}, .servers = {}, .slice = transport::Millis(1)});
  }
  /// Synchronous sessions: waits until all ranks are here. Otherwise returns at once.
  Result<> for_all(const std::string& what) { return core_.wait_for_all(what); }

 private:
  SessionCore& core_;
};

}  // namespace afterbay::client
