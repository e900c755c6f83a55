// SPDX-License-Identifier: Apache-2.0
// What a server shows of itself while it runs, and afterwards.
#include <algorithm>

#include "observe/prometheus.hpp"
#include "server/server.hpp"

namespace afterbay::server {
namespace {

const char* topology_name(config::Topology topology) {
  switch (topology) {
    case config::Topology::inline_: return "inline";
    case config::Topology::tiered: return "tiered";
    case config::Topology::dedicated: break;
  }
  return "dedicated";
}

constexpr std::uint64_t sample_interval_ns = 50'000'000;

double seconds_between(std::uint64_t from_ns, std::uint64_t to_ns) {
  return to_ns > from_ns ? static_cast<double>(to_ns - from_ns) * 1e-9 : 0;
}

}  // namespace

std::unique_ptr<observe::Sampler> Server::make_sampler() const {
  const auto servers = static_cast<std::int64_t>(place_.servers);
  observe::Sampler::Options options;
  options.directory = config_.statistics_directory();
  options.interval = config_.statistics.interval;
  options.prometheus = observe::prometheus_path(config_.report.prometheus, place_.number, servers);
  return std::make_unique<observe::Sampler>(std::move(options), logger_);
}

void Server::note_taken(OutputFile& file, const Record& record) {
  if (record.fixed) return;
  ++file.records_taken;
  ++tally_.of(file.collection->id).records_taken;
}

void Server::note_written(std::uint32_t collection, const Record& record) {
  if (!record.fixed) ++tally_.of(collection).records_written;
}

void Server::tally_published(const OutputFile& file) {
  Tally::Collection& it = tally_.of(file.collection->id);
  ++it.files_published;
  it.records_published += file.records_taken;
  it.bytes_published += file.published_bytes;
  tally_.published({file.path, file.collection->name, place_.number,
                    seconds_between(started_ns_, file.opened_ns), seconds_between(started_ns_, now_ns()),
                    file.published_bytes, file.records_taken});
}

observe::CollectionState Server::state_of(std::uint32_t id, const Tally::Collection& count) {
  const ServedCollection& collection = *catalog_.find(id);
  observe::CollectionState state;
  state.name = collection.name;
  state.shared = collection.split != model::Split::none;
  state.records_taken = count.records_taken;
  state.records_written = count.records_written;
  state.records_published = count.records_published;
  state.files_published = count.files_published;
  state.bytes_in = count.bytes_in;
  state.bytes_published = count.bytes_published;
  const std::uint64_t now = now_ns();
  for (const auto& [seq, record] : records_.of(id))
    if (record.ended) state.lag_s = std::max(state.lag_s, seconds_between(record.ended_ns, now));
  for (const auto& [number, file] : files_)
    if (file.collection == &collection) ++state.files_open;
  return state;
}

observe::ServerState Server::state_now() {
  observe::ServerState state;
  state.session = place_.session;
  state.run = place_.run;
  state.host = host_;
  state.topology = topology_name(config_.topology);
  state.server = place_.number;
  state.servers = static_cast<std::int64_t>(place_.servers);
  state.rank = place_.session_rank;
  state.pid = pid_;
  state.model_ranks = static_cast<std::int64_t>(peers_.size());
  state.started_at_s = started_at_s_;
  state.phase = failure_ ? "failed" : said_goodbye_ ? "ended" : "running";
  state.elapsed_s = seconds_between(started_ns_, now_ns());
  state.steps = progress_.steps;
  transport::FramePool& frames = port_->frames();
  state.backlog_bytes = frames.used_bytes() + strings_.bytes();
  state.backlog_limit_bytes = frames.capacity_bytes();
  state.backlog_peak_bytes = std::max(frames.peak_used_bytes(), state.backlog_bytes);
  state.memory_allocated_bytes = frames.allocated_bytes();
  state.bytes_in = tally_.bytes_in();
  state.bytes_out = tally_.bytes_out();
  state.bytes_written = tally_.bytes_written();
  if (const observe::Counter* read = profile_.counter("read bytes")) state.bytes_read = read->value();
  state.tasks_queued = workers_.queued();
  state.files_open = files_.size();
  state.files_published = progress_.files_published;
  state.ranks_ended = peers_ended_;
  state.ranks_waiting_for_room = port_->waiting_for_room();
  state.ranks_waiting_for_files = tickets_.waiters.size();
  state.waited_for_room_s = tally_.waited_for_room_s();
  state.waited_for_files_s = tally_.waited_for_files_s();
  for (const auto& [id, count] : tally_.collections()) state.collections.push_back(state_of(id, count));
  return state;
}

/// A moment for those who look at this server. Says so when a backlog begins to grow, and when it is over.
void Server::sample() {
  next_sample_ns_ = now_ns() + sample_interval_ns;
  observe::ServerState state = state_now();
  const auto said =
      backlog_watch_.look({state.elapsed_s, state.backlog_bytes, state.backlog_limit_bytes, state.bytes_in,
                           state.bytes_out, state.steps, state.waited_for_room_s, peers_.size(),
                           port_->frames().older_refusals(), port_->frames().most_instances()});
  if (said && !said_goodbye_) {
    logger_.warning("I/O server {}: {}", place_.number, *said);
    note_warning(*said);
  }
  state.model_waits_in_s = backlog_watch_.model_waits_in_s().value_or(-1);
  sampler_->offer(std::move(state), model_has_defined_);
}

observe::ServerHistory Server::history() const {
  observe::ServerHistory history;
  history.server = place_.number;
  history.rank = place_.session_rank;
  history.host = host_;
  history.backlog_limit_bytes = port_->frames().capacity_bytes();
  history.records_refused = port_->frames().older_refusals();
  history.started_at_s = started_at_s_;
  history.points = sampler_->series();
  history.files.assign(tally_.files().begin(), tally_.files().end());
  history.older_files = tally_.older_files();
  return history;
}

}  // namespace afterbay::server
