// SPDX-License-Identifier: Apache-2.0
#include "observe/timeline.hpp"

#include <algorithm>
#include <cmath>

#include "observe/statistics_page.hpp"

namespace afterbay::observe {
namespace {

constexpr std::size_t most_recent_spans = 64;

constexpr std::size_t index_of(Lane lane) { return static_cast<std::size_t>(lane); }

Lane lane_of_root(std::string_view name) {
  if (name == "wait" || name == "flush" || name == "close" || name == "end_step") return Lane::files;
  if (name == "finalize") return Lane::end;
  if (name == "get" || name == "open_input" || name == "prefetch" || name == "read") return Lane::read;
  if (name == "define") return Lane::define;
  if (name == "open_session") return Lane::open;
  if (name == "ingest") return Lane::ingest;
  if (name == "create" || name == "prepare") return Lane::create;
  return no_lane;
}

}  // namespace

Lane lane_of(std::string_view root, std::string_view name, std::size_t depth) {
  if (name.starts_with("wait: ")) return Lane::room;
  if (depth == 0) return lane_of_root(name);
  if (depth > 1) return no_lane;
  if (root == "put") return Lane::put;
  if (root == "write") return Lane::write;
  return root == "publish" ? Lane::publish : no_lane;
}

double TimelineRecord::total_s(Lane lane) const noexcept {
  double sum = 0;
  for (std::size_t b = 0; b < bins(); ++b)
    sum += static_cast<double>(busy_s[b * lane_count + index_of(lane)]);
  return sum;
}

Timeline::Timeline(bool exclusive, double first_bin_s, std::size_t most_bins, std::uint64_t start_ns)
    : exclusive_(exclusive),
      most_bins_(most_bins),
      start_ns_(start_ns),
      started_at_s_(time_of_day_s() - static_cast<double>(now_ns() - start_ns) * 1e-9),
      bin_ns_(static_cast<std::uint64_t>(first_bin_s * 1e9)) {
  const MutexLock lock(mutex_);
  bins_.reserve(most_bins);
  recent_.reserve(most_recent_spans + 1);
}

void Timeline::add(Lane lane, std::uint64_t start_ns, std::uint64_t end_ns) noexcept {
  start_ns = std::max(start_ns, start_ns_);
  if (end_ns <= start_ns) return;
  const MutexLock lock(mutex_);
  if (!exclusive_) return fill(lane, start_ns, end_ns);
  auto inner = recent_.end();
  while (inner != recent_.begin() && std::prev(inner)->start_ns >= start_ns) --inner;
  std::uint64_t from = start_ns;
  for (auto it = inner; it != recent_.end(); ++it) {
    if (it->start_ns > from) fill(lane, from, it->start_ns);
    from = std::max(from, it->end_ns);
  }
  if (end_ns > from) fill(lane, from, end_ns);
  recent_.erase(inner, recent_.end());
  if (recent_.size() >= most_recent_spans) recent_.erase(recent_.begin());
  recent_.push_back({start_ns, end_ns});
}

void Timeline::fill(Lane lane, std::uint64_t start_ns, std::uint64_t end_ns) {
  while ((end_ns - start_ns_) / bin_ns_ >= most_bins_) widen();
  const std::size_t last = (end_ns - start_ns_) / bin_ns_;
  if (bins_.size() <= last) bins_.resize(last + 1);
  for (std::uint64_t at = start_ns; at < end_ns;) {
    const std::size_t bin = (at - start_ns_) / bin_ns_;
    const std::uint64_t until = std::min(end_ns, start_ns_ + (bin + 1) * bin_ns_);
    bins_[bin][index_of(lane)] += static_cast<float>(static_cast<double>(until - at) * 1e-9);
    at = until;
  }
}

void Timeline::widen() {
  for (std::size_t b = 0; b < bins_.size(); ++b) {
    if (b % 2 == 0) {
      bins_[b / 2] = bins_[b];
    } else {
      for (std::size_t lane = 0; lane < lane_count; ++lane) bins_[b / 2][lane] += bins_[b][lane];
    }
  }
  bins_.resize((bins_.size() + 1) / 2);
  bin_ns_ *= 2;
}

TimelineRecord Timeline::record(std::int32_t rank, std::string role) const {
  TimelineRecord record;
  record.rank = rank;
  record.role = std::move(role);
  record.started_at_s = started_at_s_;
  record.elapsed_s = static_cast<double>(now_ns() - start_ns_) * 1e-9;
  const MutexLock lock(mutex_);
  record.bin_s = static_cast<double>(bin_ns_) * 1e-9;
  for (const auto& bin : bins_) record.busy_s.insert(record.busy_s.end(), bin.begin(), bin.end());
  return record;
}

std::vector<std::array<double, lane_count>> resampled(const TimelineRecord& record, double from_s,
                                                      double bin_s, std::size_t bins) {
  std::vector<std::array<double, lane_count>> out(bins);
  const double shift = record.started_at_s - from_s;
  for (std::size_t b = 0; b < record.bins(); ++b) {
    const double begin = shift + static_cast<double>(b) * record.bin_s, end = begin + record.bin_s;
    auto at = static_cast<std::size_t>(std::max(0.0, std::floor(begin / bin_s)));
    for (; at < bins && static_cast<double>(at) * bin_s < end; ++at) {
      const double left = std::max(begin, static_cast<double>(at) * bin_s);
      const double right = std::min(end, static_cast<double>(at + 1) * bin_s);
      const double share = std::max(0.0, right - left) / record.bin_s;
      for (std::size_t lane = 0; lane < lane_count; ++lane)
        out[at][lane] += share * static_cast<double>(record.busy_s[b * lane_count + lane]);
    }
  }
  return out;
}

}  // namespace afterbay::observe
