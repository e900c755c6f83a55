// SPDX-License-Identifier: Apache-2.0
// What the process of a frontend does until its model ranks have ended.
#pragma once

#include <memory>

#include "base/result.hpp"
#include "observe/profile.hpp"
#include "transport/mpi/relay.hpp"

namespace afterbay::session {

class FrontendRun {
 public:
  explicit FrontendRun(std::unique_ptr<transport::network::Relay> relay) : relay_(std::move(relay)) {}

  /// Does what there is to do now; false when there was nothing.
  bool step() { return relay_->step(); }
  void wait(transport::Millis most) { relay_->wait(most); }
  [[nodiscard]] bool finished() const { return relay_->finished(); }
  /// After the end: what it did goes into `profile`. Fails with what went wrong.
  Result<> end(observe::Profile& profile);

 private:
  std::unique_ptr<transport::network::Relay> relay_;
};

}  // namespace afterbay::session
