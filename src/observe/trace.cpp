// SPDX-License-Identifier: Apache-2.0
#include "observe/trace.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/clock.hpp"

namespace afterbay::observe {
namespace {

std::uint64_t time_of_day_ns() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

// Event by event, so that the whole trace never exists as a tree. Viewers want microseconds.
void append_event(std::string& out, const RankTrace& trace, const TraceEvent& event,
                  std::uint64_t origin_ns) {
  const std::string name = event.name < trace.names.size() ? trace.names[event.name] : "?";
  const nlohmann::json line = {{"name", name},
                               {"cat", trace.role},
                               {"ph", "X"},
                               {"pid", trace.rank},
                               {"tid", event.thread},
                               {"ts", static_cast<double>(event.start_ns - origin_ns) / 1e3},
                               {"dur", static_cast<double>(event.duration_ns) / 1e3},
                               {"args", {{"bytes", event.bytes}}}};
  out += ",\n" + line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void append_process(std::string& out, const RankTrace& trace, bool first) {
  const std::string name = trace.role + " rank " + std::to_string(trace.rank);
  nlohmann::json line = {
      {"name", "process_name"}, {"ph", "M"}, {"pid", trace.rank}, {"args", {{"name", name}}}};
  if (trace.dropped > 0) line["args"]["dropped"] = trace.dropped;
  out += (first ? "\n" : ",\n") + line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Trace::Trace(std::size_t capacity) : ring_(std::max<std::size_t>(capacity, 1)) { threads_.reserve(16); }

std::uint32_t Trace::thread_number() {
  const auto found = std::find(threads_.begin(), threads_.end(), std::this_thread::get_id());
  const auto number = static_cast<std::uint32_t>(found - threads_.begin());
  if (found == threads_.end()) threads_.push_back(std::this_thread::get_id());
  return number;
}

void Trace::add(std::uint32_t name, std::uint64_t start_ns, std::uint64_t end_ns,
                std::uint64_t bytes) noexcept {
  const MutexLock lock(mutex_);
  ring_[added_++ % ring_.size()] = {name, thread_number(), start_ns, end_ns - start_ns, bytes};
}

void Trace::copy_to(RankTrace& out) const {
  const std::uint64_t to_time_of_day = time_of_day_ns() - now_ns();
  const MutexLock lock(mutex_);
  const std::uint64_t kept = std::min<std::uint64_t>(added_, ring_.size());
  out.dropped = added_ - kept;
  out.events.reserve(kept);
  for (std::uint64_t i = added_ - kept; i < added_; ++i) {
    out.events.push_back(ring_[i % ring_.size()]);
    out.events.back().start_ns += to_time_of_day;
  }
}

std::string trace_json(std::span<const RankTrace> traces, const std::string& session) {
  std::uint64_t origin_ns = std::numeric_limits<std::uint64_t>::max();
  for (const RankTrace& trace : traces)
    for (const TraceEvent& event : trace.events) origin_ns = std::min(origin_ns, event.start_ns);
  std::string out = R"({"displayTimeUnit": "ms", "traceEvents": [)";
  bool first = true;
  for (const RankTrace& trace : traces) {
    append_process(out, trace, first);
    first = false;
    for (const TraceEvent& event : trace.events) append_event(out, trace, event, origin_ns);
  }
  const nlohmann::json data = {{"session", session}};
  return out + "\n], \"otherData\": " + data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
         "}\n";
}

}  // namespace afterbay::observe
