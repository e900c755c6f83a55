// SPDX-License-Identifier: Apache-2.0
#include "server/telemetry/telemetry.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/host.hpp"
#include "observe/prometheus.hpp"

namespace afterbay::server {
namespace {

constexpr std::uint64_t sample_interval_ns = 50'000'000;

const char* topology_name(config::Topology topology) {
  switch (topology) {
    case config::Topology::inline_: return "inline";
    case config::Topology::tiered: return "tiered";
    case config::Topology::dedicated: break;
  }
  return "dedicated";
}

double seconds_between(std::uint64_t from_ns, std::uint64_t to_ns) {
  return to_ns > from_ns ? static_cast<double>(to_ns - from_ns) * 1e-9 : 0;
}

observe::Sampler::Options sampler_options(const config::Config& config, const Identity& identity) {
  observe::Sampler::Options options;
  options.directory = config.statistics_directory();
  options.interval = config.statistics.interval;
  options.prometheus = observe::prometheus_path(config.report.prometheus, identity.number, identity.servers);
  return options;
}

}  // namespace

Telemetry::Telemetry(const config::Config& config, const Identity& identity,
                     const transport::FramePool& frames, const Logger& logger, Host host)
    : config_(config),
      identity_(identity),
      frames_(frames),
      host_(std::move(host)),
      tally_(identity.session_ranks.size()),
      started_at_s_(observe::time_of_day_s()),
      host_name_(host_name()),
      pid_(::getpid()),
      sampler_(sampler_options(config, identity), logger) {}

void Telemetry::step_ended(std::uint64_t step) { steps_ = std::max(steps_, step); }

void Telemetry::file_published(std::uint32_t collection, const std::string& collection_name,
                               const std::string& path, std::uint64_t opened_ns, std::uint64_t bytes,
                               std::uint64_t records) {
  ++files_published_;
  Tally::Collection& it = tally_.of(collection);
  ++it.files_published;
  it.records_published += records;
  it.bytes_published += bytes;
  tally_.published({path, collection_name, identity_.number, seconds_between(started_ns_, opened_ns),
                    seconds_between(started_ns_, now_ns()), bytes, records});
}

void Telemetry::errors_published(const ServedCollection& collection, const model::LargestErrors& errors) {
  std::vector<observe::ErrorRecord> records;
  for (const model::LargestError& it : errors)
    records.push_back({collection.name, collection.schema.variables[it.variable].name, it.value});
  observe::merge(errors_, records);
}

observe::ServerState Telemetry::state() {
  observe::ServerState state;
  state.identity.session = identity_.session;
  state.identity.run = identity_.run;
  state.identity.host = host_name_;
  state.identity.topology = topology_name(config_.servers.topology);
  state.identity.server = identity_.number;
  state.identity.servers = static_cast<std::int64_t>(identity_.servers);
  state.identity.rank = identity_.session_rank;
  state.identity.pid = pid_;
  state.identity.model_ranks = static_cast<std::int64_t>(identity_.session_ranks.size());
  state.identity.started_at_s = started_at_s_;
  state.elapsed_s = seconds_between(started_ns_, now_ns());
  state.steps = steps_;
  state.backlog.bytes = frames_.used_bytes() + host_.other_backlog_bytes();
  state.backlog.limit_bytes = frames_.capacity_bytes();
  state.backlog.peak_bytes = std::max(frames_.peak_used_bytes(), state.backlog.bytes);
  state.backlog.allocated_bytes = frames_.allocated_bytes();
  state.traffic.in_bytes = tally_.bytes_in();
  state.traffic.out_bytes = tally_.bytes_out();
  state.traffic.written_bytes = tally_.bytes_written();
  state.files.published = files_published_;
  state.ranks.waited_for_room_s = tally_.waited_for_room_s();
  state.ranks.waited_for_files_s = tally_.waited_for_files_s();
  host_.fill(state);
  for (const auto& [id, count] : tally_.collections()) {
    observe::CollectionState& collection = state.collections.emplace_back();
    collection.records_taken = count.records_taken;
    collection.records_written = count.records_written;
    collection.records_published = count.records_published;
    collection.files_published = count.files_published;
    collection.bytes_in = count.bytes_in;
    collection.bytes_published = count.bytes_published;
    host_.fill_collection(id, collection);
  }
  return state;
}

void Telemetry::sample() {
  next_sample_ns_ = now_ns() + sample_interval_ns;
  observe::ServerState now = state();
  const auto warning = backlog_watch_.look({now.elapsed_s, now.backlog.bytes, now.backlog.limit_bytes,
                                            now.traffic.in_bytes, now.traffic.out_bytes, now.steps,
                                            now.ranks.waited_for_room_s, identity_.session_ranks.size(),
                                            frames_.older_refusals(), frames_.most_instances()});
  if (warning) host_.warn(*warning);
  now.model_waits_in_s = backlog_watch_.model_waits_in_s().value_or(-1);
  sampler_.offer(std::move(now), active_);
}

void Telemetry::show_progress(bool last) {
  if (config_.report.progress_ms.count() == 0) return;
  const std::uint64_t now = now_ns();
  if (!last && now < next_shown_ns_) return;
  next_shown_ns_ = now + static_cast<std::uint64_t>(config_.report.progress_ms.count()) * 1'000'000;
  observe::Progress progress;
  progress.elapsed_s = seconds_between(started_ns_, now);
  progress.steps = steps_;
  progress.files_published = files_published_;
  progress.bytes_taken = tally_.bytes_in();
  progress.bytes_written = tally_.bytes_written();
  progress.backlog_bytes = frames_.used_bytes() + host_.other_backlog_bytes();
  progress.backlog_limit_bytes = frames_.capacity_bytes();
  fmt::print(stderr, "[I/O server {}] {}\n", identity_.number, observe::progress_line(progress, shown_));
  shown_ = progress;
}

observe::ServerHistory Telemetry::history() const {
  observe::ServerHistory history;
  history.server = identity_.number;
  history.rank = identity_.session_rank;
  history.host = host_name_;
  history.backlog_limit_bytes = frames_.capacity_bytes();
  history.records_refused = frames_.older_refusals();
  history.started_at_s = started_at_s_;
  history.points = sampler_.series();
  history.files.assign(tally_.files().begin(), tally_.files().end());
  history.older_files = tally_.older_files();
  history.errors = errors_;
  return history;
}

}  // namespace afterbay::server
