// SPDX-License-Identifier: Apache-2.0
#include "session/open_sessions.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "session/state.hpp"

namespace afterbay::session {

/// Never destroyed: the exit handler may run after the destructors of static objects.
OpenSessions& OpenSessions::of_this_process() {
  static auto* const sessions = new OpenSessions;
  return *sessions;
}

OpenSessions::OpenSessions() {
  (void)std::atexit(
      [] { of_this_process().end_early("the process ended without session.finalize()", nullptr); });
}

void OpenSessions::add(Session::State& state) {
  const MutexLock lock(mutex_);
  entries_.push_back({&state, std::this_thread::get_id(), ::getpid()});
}

void OpenSessions::remove(Session::State& state) {
  const MutexLock lock(mutex_);
  std::erase_if(entries_, [&](const Entry& entry) { return entry.state == &state; });
}

bool OpenSessions::end_early(const std::string& reason, const Error* cause) {
  std::vector<Entry> mine;
  {
    const MutexLock lock(mutex_);
    std::ranges::copy_if(entries_, std::back_inserter(mine), [](const Entry& entry) {
      return entry.thread == std::this_thread::get_id() && entry.process == ::getpid();
    });
  }
  bool reported = !mine.empty();
  for (const Entry& entry : mine) reported = entry.state->end_early(reason, cause) && reported;
  return reported;
}

}  // namespace afterbay::session
