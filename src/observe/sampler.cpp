// SPDX-License-Identifier: Apache-2.0
#include "observe/sampler.hpp"

#include <algorithm>
#include <utility>

#include "base/batch_thread.hpp"
#include "base/caller_terms.hpp"
#include "base/clock.hpp"

namespace afterbay::observe {
namespace {

constexpr double rate_window_s = 5;
constexpr std::uint64_t prometheus_interval_ns = 5'000'000'000;

bool has_work(const ServerState& state) {
  return state.traffic.in_bytes > 0 || state.traffic.read_bytes > 0 || state.files.open > 0 ||
         state.files.published > 0;
}

}  // namespace

Sampler::Sampler(Options options, Logger logger)
    : options_(std::move(options)), logger_(std::move(logger)), prometheus_(options_.prometheus) {}

Sampler::~Sampler() {
  thread_.request_stop();
  stopped_.notify_all();
}

void Sampler::offer(ServerState state, bool model_has_defined) {
  const bool files = !options_.directory.empty() || !options_.prometheus.empty();
  const bool begin = files && !thread_.joinable() && (model_has_defined || has_work(state));
  {
    const MutexLock lock(mutex_);
    series_.add({state.elapsed_s, state.backlog.bytes, state.traffic.in_bytes, state.traffic.out_bytes,
                 state.traffic.written_bytes, state.ranks.waiting_for_room});
    state_ = std::move(state);
    offered_ns_ = now_ns();
  }
  if (begin) thread_ = std::jthread(in_terms_of_caller([this](const std::stop_token& stop) { run(stop); }));
}

std::vector<SeriesPoint> Sampler::series() const {
  const MutexLock lock(mutex_);
  return series_.points();
}

void Sampler::run(const std::stop_token& stop) {
  const BatchThread beside_the_model;
  for (bool last = false; !last;) {
    ServerState state;
    {
      MutexLock lock(mutex_);
      last = stop.stop_requested();
      state = state_;
      const std::uint64_t silent_ns = now_ns() - offered_ns_;
      state.silent_s = static_cast<double>(silent_ns) * 1e-9;
    }
    write(std::move(state), last);
    if (last) return;
    MutexLock lock(mutex_);
    stopped_.wait_for(lock, stop, options_.interval, [] { return false; });
  }
}

void Sampler::write(ServerState state, bool last) {
  add_rates(state);
  if (!options_.prometheus.empty() && (last || now_ns() >= next_prometheus_ns_)) {
    next_prometheus_ns_ = now_ns() + prometheus_interval_ns;
    if (auto written = prometheus_.write(state); !written) warn_once(written.error());
  }
  if (options_.directory.empty()) return;
  if (!page_) {
    auto opened = StatisticsPage::open(options_.directory, state.identity.server, state.is_frontend());
    if (!opened) return warn_once(opened.error());
    page_ = std::move(*opened);
  }
  if (auto written = page_->write(std::move(state)); !written) warn_once(written.error());
}

/// Averaged over the last seconds, so that bursts do not make them jump.
void Sampler::add_rates(ServerState& state) {
  recent_.push_back(
      {state.elapsed_s, state.traffic.in_bytes, state.traffic.out_bytes, state.traffic.written_bytes});
  while (recent_.size() > 2 && recent_[1].at_s <= state.elapsed_s - rate_window_s) recent_.pop_front();
  const Totals& from = recent_.front();
  const double passed = state.elapsed_s - from.at_s;
  if (passed <= 0) return;
  state.rates.in_bytes_per_s = static_cast<double>(state.traffic.in_bytes - from.in) / passed;
  state.rates.out_bytes_per_s = static_cast<double>(state.traffic.out_bytes - from.out) / passed;
  state.rates.written_bytes_per_s = static_cast<double>(state.traffic.written_bytes - from.written) / passed;
}

/// A failure of the display must not end a run.
void Sampler::warn_once(const Error& error) {
  if (!std::exchange(warned_, true)) logger_.warning("{}\noutput continues without it", error.text());
}

}  // namespace afterbay::observe
