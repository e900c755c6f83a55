// SPDX-License-Identifier: Apache-2.0
#include "server/publish/publication_queue.hpp"

#include <algorithm>
#include <utility>

#include "base/rounding.hpp"

namespace afterbay::server {
namespace {

// The first file of a batch gets its name after the last one is durable: these limits bound that
// time.
constexpr std::size_t most_files_together = 64;
constexpr std::uint64_t most_bytes_together = 64U << 20U;

}  // namespace

void PublicationQueue::add(Waiting file) {
  const MutexLock lock(mutex_);
  waiting_.push_back(file);
}

std::vector<PublicationQueue::Waiting> PublicationQueue::take() {
  const MutexLock lock(mutex_);
  std::vector<Waiting> taken, left;
  if (waiting_.empty()) return taken;
  const int priority = std::ranges::max_element(waiting_, {}, &Waiting::priority)->priority;
  const auto equal = static_cast<std::size_t>(std::ranges::count(waiting_, priority, &Waiting::priority));
  const std::size_t share = std::min(most_files_together, divided_up(equal, sharers_));
  std::uint64_t bytes = 0;
  bool full = false;
  for (const Waiting& file : waiting_) {
    const bool fits = taken.empty() || (taken.size() < share && bytes + file.bytes <= most_bytes_together);
    if (file.priority == priority && !fits) full = true;
    if (file.priority != priority || full) {
      left.push_back(file);
      continue;
    }
    bytes += file.bytes;
    taken.push_back(file);
  }
  waiting_ = std::move(left);
  return taken;
}

}  // namespace afterbay::server
