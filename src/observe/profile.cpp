// SPDX-License-Identifier: Apache-2.0
#include "observe/profile.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace afterbay::observe {

Profile::Profile(bool on, std::size_t trace_events, std::unique_ptr<Timeline> timeline,
                 std::uint64_t start_ns)
    : on_(on), start_ns_(start_ns) {
  if (!on) return;
  if (trace_events > 0) trace_ = std::make_unique<Trace>(trace_events);
  timeline_ = std::move(timeline);
}

void Profile::give_lane(Timer& timer) {
  if (timeline_ == nullptr) return;
  const Timer* root = &timer;
  std::size_t depth = 0;
  for (; root->parent_ >= 0; ++depth) root = &timers_[static_cast<std::size_t>(root->parent_)];
  timer.lane_ = lane_of(root->name_, timer.name_, depth);
  if (timer.lane_ != no_lane) timer.timeline_ = timeline_.get();
}

Timer* Profile::timer(std::string_view name, const Timer* parent) {
  if (!on_) return nullptr;
  const std::int32_t parent_index = parent == nullptr ? -1 : static_cast<std::int32_t>(parent->index_);
  const MutexLock lock(mutex_);
  for (Timer& timer : timers_)
    if (timer.parent_ == parent_index && timer.name_ == name) return &timer;
  Timer& added = timers_.emplace_back();
  added.name_ = name;
  added.parent_ = parent_index;
  added.index_ = static_cast<std::uint32_t>(timers_.size() - 1);
  added.of_workers_ = parent != nullptr && parent->of_workers_;
  added.trace_ = trace_.get();
  give_lane(added);
  return &added;
}

Timer* Profile::worker_timer(std::string_view name) {
  Timer* const added = timer(name);
  if (added != nullptr) added->of_workers_ = true;
  return added;
}

Timer* Profile::wait(std::string_view reason, const Timer* parent) {
  return timer("wait: " + std::string(reason), parent);
}

Counter* Profile::counter(std::string_view name, CounterKind kind) {
  if (!on_) return nullptr;
  const MutexLock lock(mutex_);
  for (Counter& counter : counters_)
    if (counter.name_ == name) return &counter;
  Counter& added = counters_.emplace_back();
  added.name_ = name;
  added.kind_ = kind;
  return &added;
}

RankProfile Profile::snapshot(int rank, std::string role) const {
  RankProfile profile;
  profile.rank = rank;
  profile.role = std::move(role);
  profile.elapsed_ns = now_ns() - start_ns_;
  profile.memory_high_water_bytes = memory_high_water_bytes();
  const auto workers =
      static_cast<std::uint32_t>(std::max<std::size_t>(workers_.load(std::memory_order_relaxed), 1));
  const MutexLock lock(mutex_);
  for (const Timer& timer : timers_)
    profile.timers.push_back({timer.name_, timer.parent_, timer.inclusive_ns(), timer.count(), timer.bytes(),
                              timer.of_workers_ ? workers : 1});
  for (const Counter& counter : counters_)
    profile.counters.push_back({counter.name_, counter.kind_, counter.value()});
  return profile;
}

RankTrace Profile::trace(int rank, std::string role) const {
  RankTrace trace;
  trace.rank = rank;
  trace.role = std::move(role);
  if (trace_ == nullptr) return trace;
  trace_->copy_to(trace);
  const MutexLock lock(mutex_);
  for (const Timer& timer : timers_) {  // the name of a collection alone is ambiguous
    const bool part = timer.parent_ >= 0;
    trace.names.push_back(part ? timers_[static_cast<std::size_t>(timer.parent_)].name_ + " " + timer.name_
                               : timer.name_);
  }
  return trace;
}

std::uint64_t memory_high_water_bytes() {
  std::FILE* status = std::fopen("/proc/self/status", "re");
  if (status == nullptr) return 0;
  char line[256];
  unsigned long long kibibytes = 0;
  while (std::fgets(line, sizeof line, status) != nullptr)
    if (std::sscanf(line, "VmHWM: %llu", &kibibytes) == 1) break;
  std::fclose(status);
  return kibibytes * 1024;
}

}  // namespace afterbay::observe
