// SPDX-License-Identifier: Apache-2.0
// The server's implementation of TriggerRunner::Host, and the line of an opened file.
#include "server/server.hpp"

namespace afterbay::server {

/// The journal records a file before it is published, and before an epoch records that it is
/// incomplete. The first line of a journal waits for the disk several times: another worker writes
/// meanwhile.
void Server::submit_opened_note(OutputFile& file) {
  if (!journal_.records_opening(file)) return;
  files_.submit(file, [this, &file, id = file.id] {
    OpeningNoted result{.file = id};
    if (auto noted = journal_.opened(file); !noted) result.error = std::move(noted).error();
    post(std::move(result));
  });
}

TriggerRunner::Host Server::trigger_host() {
  return {[this](journal::TriggerRan line) { journal_.triggered(std::move(line)); },
          [this](std::uint64_t number, const std::string& name) AFTERBAY_REQUIRES(ingest_thread) {
            if (auto sent = fellows_.send(0, wire::EpochComplete{number}); !sent)
              fail(std::move(sent).error().add(
                  fmt::format("while it reported that epoch '{}' is complete", name)));
          },
          [this] { executor_.post([] {}); }};
}

/// Files in memory fire no triggers: only tests use them.
void Server::fire_published(const OutputFile& file) {
  if (!traits_of(file.collection->format).publishes) return;
  triggers_.file_published({file.path, file.collection->name, file.published_bytes, file.records_taken,
                            file.published_checksum, file.name.step, file.name.member,
                            file.name.date.value_or("")});
}

}  // namespace afterbay::server
