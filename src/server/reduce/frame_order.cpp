// SPDX-License-Identifier: Apache-2.0
#include "server/reduce/frame_order.hpp"

#include <algorithm>
#include <utility>

namespace afterbay::server {

void FrameOrder::add(const Frame& frame, std::uint64_t seq, Begin begin) {
  Queue& queue = queues_[frame];
  queue.tasks.emplace(seq, std::move(begin));
  begin_next(frame, queue);
}

void FrameOrder::allow(std::uint32_t collection, std::uint64_t seq) {
  std::uint64_t& allowed = allowed_[collection];
  if (seq <= allowed) return;
  allowed = seq;
  const auto first = queues_.lower_bound({collection, 0});
  for (auto at = first; at != queues_.end() && at->first.collection == collection; ++at)
    begin_next(at->first, at->second);
}

void FrameOrder::done(const Frame& frame) {
  Queue& queue = queues_.at(frame);
  queue.runs = false;
  begin_next(frame, queue);
}

bool FrameOrder::is_idle(std::uint32_t collection) const {
  for (auto at = queues_.lower_bound({collection, 0}); at != queues_.end(); ++at) {
    if (at->first.collection != collection) break;
    if (at->second.runs || !at->second.tasks.empty()) return false;
  }
  return true;
}

void FrameOrder::begin_next(const Frame& frame, Queue& queue) {
  if (queue.runs || queue.tasks.empty()) return;
  const auto next = queue.tasks.begin();
  if (next->first > allowed_[frame.collection]) return;
  const Begin begin = std::move(next->second);
  queue.tasks.erase(next);
  queue.runs = true;
  begin();
}

}  // namespace afterbay::server
