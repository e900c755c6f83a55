// SPDX-License-Identifier: Apache-2.0
#include "session/frontend.hpp"

namespace afterbay::session {

Result<> FrontendRun::end(observe::Profile& profile) {
  const auto figures = relay_->figures();
  observe::add(profile.counter("bytes passed on"), figures.bytes);
  observe::add(profile.counter("segments passed on"), figures.segments);
  observe::peak(profile.counter("peak bytes held", observe::CounterKind::peak), figures.peak_bytes);
  if (relay_->failure()) return fail(*relay_->failure());
  return {};
}

}  // namespace afterbay::session
