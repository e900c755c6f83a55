// SPDX-License-Identifier: Apache-2.0
// MapChecks: servers check the maps of a batch of definitions together. Each checks its part, the
// first of them joins what they found and tells it to the others, so that the result is the same on
// all. Used by the ingest thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/ingest_thread.hpp"
#include "server/thread_functions.hpp"
#include "wire/server_messages.hpp"

namespace afterbay::server {

class MapChecks {
 public:
  struct Host {
    /// See Catalog::judge.
    IngestFunction<wire::MapsChecked(std::span<const std::vector<wire::MapVerdict>>)> judge;
    IngestFunction<void(const wire::MapVerdicts&)> send_to_judge;
    IngestFunction<void(const wire::MapsChecked&)> send_to_all;
    /// The batch can be completed.
    IngestFunction<void(const wire::MapsChecked&)> done;
  };

  /// `server` of `servers` that check maps together.
  MapChecks(std::size_t server, std::size_t servers, Host host)
      : server_(server), servers_(servers), host_(std::move(host)) {}

  /// What this server found. `alone`: no other server has maps in this batch.
  void found(wire::MapVerdicts verdicts, bool alone) AFTERBAY_REQUIRES(ingest_thread) {
    if (alone || servers_ < 2) {
      const std::vector<wire::MapVerdict> own = std::move(verdicts.maps);
      host_.done(host_.judge({&own, 1}));
    } else if (server_ == wire::judging_server) {
      take(server_, std::move(verdicts));
    } else {
      host_.send_to_judge(verdicts);
    }
  }

  /// What another server found, perhaps before this one knows all definitions of the batch.
  void take(std::size_t server, wire::MapVerdicts verdicts) AFTERBAY_REQUIRES(ingest_thread) {
    Batch& batch = batches_[verdicts.serial];
    if (batch.by_server.empty()) batch.by_server.resize(servers_);
    if (server >= servers_) return;
    batch.by_server[server] = std::move(verdicts.maps);
    if (++batch.arrived < servers_) return;
    const wire::MapsChecked checked = host_.judge(batch.by_server);
    batches_.erase(verdicts.serial);
    host_.send_to_all(checked);
    host_.done(checked);
  }

  /// The result, on all servers but the first.
  void take(const wire::MapsChecked& checked) AFTERBAY_REQUIRES(ingest_thread) { host_.done(checked); }

 private:
  struct Batch {
    std::vector<std::vector<wire::MapVerdict>> by_server;
    std::size_t arrived = 0;
  };

  std::size_t server_;
  std::size_t servers_;
  Host host_;
  std::map<std::uint64_t, Batch> batches_ AFTERBAY_GUARDED_BY(ingest_thread);  ///< by serial
};

}  // namespace afterbay::server
