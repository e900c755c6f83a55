// SPDX-License-Identifier: Apache-2.0
// The server's implementation of SpacePolicy::Host, and the treatment of tasks and records of files
// that are given up.
#include "server/server.hpp"

namespace afterbay::server {

SpacePolicy::Host Server::space_host(bool has_workers) {
  SpacePolicy::Host host;
  host.server = identity_.number;
  host.alive = [this] { port_->mark_progress(); };
  if (!has_workers)
    host.work = [this] {
      assert_role(ingest_thread);  // which runs the tasks itself
      port_->pump();
    };
  host.post = [this](IngestFunction<void()> function) { executor_.post(std::move(function)); };
  host.warn = [this](const std::string& text) AFTERBAY_REQUIRES(ingest_thread) { warn(text); };
  host.collection = [this](std::uint32_t id) AFTERBAY_REQUIRES(ingest_thread) { return catalog_.find(id); };
  host.open_files = [this](const ServedCollection& it)
                        AFTERBAY_REQUIRES(ingest_thread) { return files_.of(it).size(); };
  host.end_files = [this](const ServedCollection& it, const std::string& why)
                       AFTERBAY_REQUIRES(ingest_thread) {
                         for (const std::uint64_t id : files_.of(it))
                           if (OutputFile* const file = files_.find(id))
                             files_.end(*file, Ending::no_space, why);
                       };
  host.report_short = [this](bool is_short) AFTERBAY_REQUIRES(ingest_thread) {
    fellows_.broadcast(wire::SpaceShort{is_short});
  };
  host.report_given_up = [this](std::uint32_t id, const std::string& why) AFTERBAY_REQUIRES(ingest_thread) {
    fellows_.broadcast(wire::CollectionDropped{id, why});
  };
  return host;
}

/// Fails if a task of the file must not run. Called by the worker that begins the task. Any thread.
Result<> Server::check_wanted(const OutputFile& file) const {
  AFTERBAY_TRY(file.check_wanted());
  return shutdown_.check_time(file.path);
}

/// Releases the frames of a record that will not be written.
void Server::forget_record(const ServedCollection& collection, std::uint64_t seq) {
  Record& record = *records_.find(collection.id, seq);
  for (std::uint32_t f = 0; f < record.scheduled.size(); ++f) {
    if (record.scheduled[f]) continue;
    if (const auto view = port_->frames().find(collection.first_frame + f, seq))
      port_->frames().release(*view);
  }
  if (record.writes == 0) erase_record(collection, seq);
}

}  // namespace afterbay::server
