// SPDX-License-Identifier: Apache-2.0
// The server's implementation of OutputFiles::Host.
#include "server/server.hpp"
#include "storage/store.hpp"

namespace afterbay::server {

OutputFiles::Host Server::files_host() {
  OutputFiles::Host host;
  host.server = static_cast<std::size_t>(identity_.number);
  host.ranks = identity_.session_ranks.size();
  host.run = [this](const OutputFile& file, OutputFiles::Task task) AFTERBAY_REQUIRES(ingest_thread) {
    workers_.submit(std::move(task), space_.of(*file.collection).priority);
  };
  host.leader_is_ready = [this](const OutputFile& file)
                             AFTERBAY_REQUIRES(ingest_thread) { return shared_.leader_is_ready(file); };
  host.create = [this](OutputFile& file, SchemaChanges changes) AFTERBAY_REQUIRES(ingest_thread) {
    if (file.role == OutputFile::Role::member)
      join(file, std::move(changes));
    else
      create(file, std::move(changes));
  };
  host.note_opened = [this](OutputFile& file) AFTERBAY_REQUIRES(ingest_thread) { submit_opened_note(file); };
  host.publish = [this](OutputFile& file) AFTERBAY_REQUIRES(ingest_thread) { publish(file); };
  host.hand_over = [this](OutputFile& file) AFTERBAY_REQUIRES(ingest_thread) { hand_over(file); };
  host.send_records = [this](const OutputFile& file) AFTERBAY_REQUIRES(ingest_thread) {
    const auto answer = wire::encode(wire::FileRecords{file.id, file.file ? file.file->records() : 0});
    for (const std::size_t peer : file.asked_records) port_->send(peer, answer);
  };
  host.answer = [this](std::size_t peer, std::uint64_t ticket)
                    AFTERBAY_REQUIRES(ingest_thread) { tickets_.answer(peer, ticket); };
  host.published = [this](const OutputFile& file) AFTERBAY_REQUIRES(ingest_thread) { published(file); };
  host.not_published = [this](const OutputFile& file, const std::string& why)
                           AFTERBAY_REQUIRES(ingest_thread) { journal_.given_up(file, why); };
  host.given_up = [this](const OutputFile& file, const std::string& why) AFTERBAY_REQUIRES(ingest_thread) {
    profile_.count_given_up(*file.collection);
    journal_.given_up(file, why);
  };
  host.removed = [this](const OutputFile& file) AFTERBAY_REQUIRES(ingest_thread) {
    shared_.removed(file);
    if (file.assigned) load_.assigned_file_ended();
  };
  host.is_given_up = [this](const ServedCollection& it)
                         AFTERBAY_REQUIRES(ingest_thread) { return space_.is_given_up(it); };
  host.is_optional = [this](const ServedCollection& it)
                         AFTERBAY_REQUIRES(ingest_thread) { return space_.of(it).optional; };
  host.give_up = [this](const ServedCollection& it, const std::string& why)
                     AFTERBAY_REQUIRES(ingest_thread) { space_.give_up(it, why); };
  host.stop_space_waits = [this](const OutputFile& file) AFTERBAY_REQUIRES(ingest_thread) {
    space_.stop_waits(storage::part_path(file.path));
  };
  host.ranks_ended = [this]() AFTERBAY_REQUIRES(ingest_thread) { return shutdown_.all_ranks_ended(); };
  host.fail = [this](Error error) AFTERBAY_REQUIRES(ingest_thread) { fail(std::move(error)); };
  return host;
}

}  // namespace afterbay::server
