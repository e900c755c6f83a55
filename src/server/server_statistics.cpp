// SPDX-License-Identifier: Apache-2.0
// The server's implementation of Telemetry::Host.
#include <algorithm>

#include "server/server.hpp"

namespace afterbay::server {

Telemetry::Host Server::telemetry_host() {
  return {[this](observe::ServerState& state) AFTERBAY_REQUIRES(ingest_thread) { fill(state); },
          [this]() AFTERBAY_REQUIRES(ingest_thread) { return strings_.bytes(); },
          [this](std::uint32_t collection, observe::CollectionState& state)
              AFTERBAY_REQUIRES(ingest_thread) { fill(collection, state); },
          [this](const std::string& text) AFTERBAY_REQUIRES(ingest_thread) {
            if (shutdown_.said_goodbye()) return;  // the end of the run is already in the journal
            logger_.warning("I/O server {}: {}", identity_.number, text);
            journal_.warned(text);
          }};
}

void Server::fill(observe::ServerState& state) {
  state.phase = failure_.happened() ? "failed" : shutdown_.said_goodbye() ? "ended" : "running";
  state.bytes_read = profile_.bytes_read();
  state.tasks_queued = workers_.queued();
  state.files_open = files_.all().size();
  state.ranks_ended = shutdown_.ranks_ended();
  state.ranks_waiting_for_room = port_->waiting_for_room();
  state.ranks_waiting_for_files = tickets_.waiters();
}

void Server::fill(std::uint32_t id, observe::CollectionState& state) {
  const ServedCollection& collection = *catalog_.find(id);
  state.name = collection.name;
  state.shared = collection.split != model::Split::none;
  const std::uint64_t now = now_ns();
  for (const auto& [seq, record] : records_.of(id))
    if (record.ended && now > record.ended_ns)
      state.lag_s = std::max(state.lag_s, static_cast<double>(now - record.ended_ns) * 1e-9);
  state.files_open += files_.of(collection).size();
}

void Server::note_taken(OutputFile& file, const Record& record) {
  if (record.fixed) return;
  ++file.records_taken;
  ++telemetry_.tally().of(file.collection->id).records_taken;
}

void Server::note_written(std::uint32_t collection, const Record& record) {
  if (!record.fixed) ++telemetry_.tally().of(collection).records_written;
}

void Server::warn(const std::string& text) {
  logger_.warning("{}", text);
  journal_.warned(text);
}

observe::ServerHistory Server::history() const { return telemetry_.history(); }

}  // namespace afterbay::server
