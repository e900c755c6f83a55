// SPDX-License-Identifier: Apache-2.0
#include "server/space/space_guard.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/clock.hpp"

namespace afterbay::server {
namespace {

constexpr std::uint64_t shortest_pause_ns = 50'000'000;
constexpr std::uint64_t longest_pause_ns = 2'000'000'000;
constexpr std::uint64_t least_after_sacrifice_ns = 2'000'000'000;
constexpr std::uint64_t slice_ns = 100'000'000;     ///< between two calls of Hooks::alive
constexpr std::uint64_t work_slice_ns = 2'000'000;  ///< if the ingest thread itself waits

}  // namespace

std::uint64_t SpaceClock::now_ns() const { return afterbay::now_ns(); }

void SpaceClock::wait(std::condition_variable_any& changed, MutexLock& lock, std::chrono::nanoseconds time) {
  changed.wait_for(lock, time);
}

SpaceClock& SpaceClock::real() {
  static SpaceClock clock;
  return clock;
}

SpaceGuard::SpaceGuard(std::chrono::milliseconds retry, Hooks hooks, SpaceClock& clock)
    : retry_ns_(static_cast<std::uint64_t>(retry.count()) * 1'000'000),
      hooks_(std::move(hooks)),
      clock_(clock) {}

/// Also true if a directory that contains the path has been given up.
bool SpaceGuard::is_given_up(const std::string& path) const {
  for (std::size_t end = path.size(); end != 0 && end != std::string::npos; end = path.rfind('/', end - 1))
    if (given_up_.contains(path.substr(0, end))) return true;
  return false;
}

bool SpaceGuard::may_wait(const storage::SpaceWait& call, std::uint64_t waited_ns) {
  if (stopped_ || is_given_up(call.path)) return false;
  if (waited_ns < retry_ns_) return true;
  if (offered_ && sacrificed_ns_ == 0) {
    sacrificed_ns_ = now_ns();
    asks_ = true;
  }
  return sacrificed_ns_ > call.since_ns &&
         now_ns() - sacrificed_ns_ < std::max(retry_ns_, least_after_sacrifice_ns);
}

bool SpaceGuard::wait_for_space(const storage::SpaceWait& call) {
  const std::uint64_t waited_ns = now_ns() - call.since_ns;
  bool first = false;
  bool asks = false;
  {
    const MutexLock lock(mutex_);
    const bool waits = may_wait(call, waited_ns);
    asks = std::exchange(asks_, false);
    if (!waits) return false;
    first = calls_.empty();
    calls_.emplace(call.since_ns, call.path);
  }
  if (first) hooks_.notify({SpaceNotice::What::short_of_space, call});
  if (asks) hooks_.notify({SpaceNotice::What::sacrifice, call});
  sleep(waited_ns);
  return true;
}

/// Pauses grow with the time waited; Hooks::alive is called throughout.
void SpaceGuard::sleep(std::uint64_t waited_ns) {
  const std::uint64_t end = now_ns() + std::clamp(waited_ns / 4, shortest_pause_ns, longest_pause_ns);
  for (std::uint64_t now = now_ns(); now < end; now = now_ns()) {
    hooks_.alive();
    if (hooks_.work) hooks_.work();
    const std::uint64_t most = hooks_.work ? work_slice_ns : slice_ns;
    MutexLock lock(mutex_);
    if (stopped_) return;
    clock_.wait(changed_, lock, std::chrono::nanoseconds(std::min(most, end - now)));
  }
}

void SpaceGuard::waited_for_space(const storage::SpaceWait& call, bool succeeded) {
  {
    const MutexLock lock(mutex_);
    if (calls_.erase({call.since_ns, call.path}) == 0 || !calls_.empty()) return;
  }
  hooks_.notify({succeeded ? SpaceNotice::What::over : SpaceNotice::What::given_up, call});
}

void SpaceGuard::offer(bool something) {
  const MutexLock lock(mutex_);
  offered_ = something;
}

void SpaceGuard::give_up(const std::string& path) {
  std::error_code none;
  // The path in the form in which the disk reports it.
  std::string resolved = std::filesystem::weakly_canonical(path, none).string();
  {
    const MutexLock lock(mutex_);
    given_up_.insert(path);
    given_up_.insert(std::move(resolved));
  }
  changed_.notify_all();
}

void SpaceGuard::stop() {
  {
    const MutexLock lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
}

void SpaceGuard::cut_off() {
  cut_off_ = true;
  stop();
}

bool SpaceGuard::waiting() const {
  const MutexLock lock(mutex_);
  return !calls_.empty();
}

}  // namespace afterbay::server
