// SPDX-License-Identifier: Apache-2.0
// The server's implementation of Publisher::Host, and what follows a publication.
#include "server/server.hpp"

namespace afterbay::server {

Publisher::Host Server::publisher_host() {
  Publisher::Host host;
  host.submit = [this](WorkerTask task, int priority)
                    AFTERBAY_REQUIRES(ingest_thread) { workers_.submit(std::move(task), priority); };
  host.check_wanted = [this](const OutputFile& file) { return check_wanted(file); };
  host.triggers = [this](const OutputFile& file) { return triggers_.due_for_file(file.collection->name); };
  host.wrote = [this](std::uint64_t bytes) {
    observe::add(profile_.timers().written, bytes);
    telemetry_.tally().written(0, bytes);
  };
  host.done = [this](FilePublished it) { post(std::move(it)); };
  return host;
}

void Server::publish(OutputFile& file) {
  publisher_.publish(file, profile_.of(*file.collection).publish, space_.of(*file.collection).priority);
}

/// The file has its final name; for a member: its leader has published it.
void Server::published(const OutputFile& file) {
  if (file.role == OutputFile::Role::member) return;
  telemetry_.file_published(file.collection->id, file.collection->name, file.path, file.opened_ns,
                            file.published_bytes, file.records_taken);
  fire_published(file);
  observe::add(profile_.timers().files, 1);
  logger_.info("published {}", file.path);
  if (const std::string warning = never_put_.warning(file); !warning.empty()) warn(warning);
  if (file.role == OutputFile::Role::leader)
    fellows_.send_all(file.collection->servers, wire::FilePublished{file.id});
}

}  // namespace afterbay::server
