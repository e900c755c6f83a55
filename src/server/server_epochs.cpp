// SPDX-License-Identifier: Apache-2.0
// The server's implementation of EpochKeeper::Host.
#include <algorithm>
#include <utility>

#include "server/server.hpp"

namespace afterbay::server {

EpochKeeper::Host Server::epoch_host() {
  EpochKeeper::Host host;
  host.ranks = identity_.session_ranks.size();
  host.file = [this](std::uint64_t id) AFTERBAY_REQUIRES(ingest_thread) { return files_.find(id); };
  host.is_written = [this](const Ticket& ticket)
                        AFTERBAY_REQUIRES(ingest_thread) { return is_written(ticket); };
  host.awaits_journal = [this](const OutputFile& file) AFTERBAY_REQUIRES(ingest_thread) {
    return journal_.records_opening(file) && !file.noted;
  };
  host.mark = [this](OutputFile& file, storage::Epoch epoch, EpochKeeper::Parts parts)
                  AFTERBAY_REQUIRES(ingest_thread) { submit_mark(file, std::move(epoch), std::move(parts)); };
  host.send_part = [this](const OutputFile& file, wire::EpochPart part) AFTERBAY_REQUIRES(ingest_thread) {
    if (auto sent = fellows_.send(file.parts.leader, part); !sent)
      fail(shared_.error_with(file.parts.leader, std::move(sent).error()));
  };
  host.note = [this](std::uint64_t number, journal::EpochCompleted line)
                  AFTERBAY_REQUIRES(ingest_thread) { note_epoch(number, std::move(line)); };
  host.submit = [this](OutputFile& file, WorkerTask task)
                    AFTERBAY_REQUIRES(ingest_thread) { files_.submit(file, std::move(task)); };
  host.answer = [this](std::size_t peer, std::uint64_t ticket)
                    AFTERBAY_REQUIRES(ingest_thread) { tickets_.answer(peer, ticket); };
  host.complete = [this](std::uint64_t number, const std::string& name) AFTERBAY_REQUIRES(ingest_thread) {
    logger_.info("epoch {} ('{}') is complete here", number, name);
    triggers_.epoch_complete_here(number, name);
  };
  return host;
}

Result<> Server::reach_epoch(std::size_t peer, const wire::Epoch& message) {
  if (auto reached = epochs_.reach(message, ticket_for(peer, message.ticket, message.strings)); !reached)
    return afterbay::fail(std::move(reached).error().at_rank(catalog_.session_rank(peer)));
  return {};
}

void Server::submit_mark(OutputFile& file, storage::Epoch epoch, EpochKeeper::Parts parts) {
  const bool member = file.role == OutputFile::Role::member;
  const CollectionTimers timers = profile_.of(*file.collection);
  epoch.dropped = file.records_dropped;
  files_.submit(file,
                [this, &file, member, timers, epoch = std::move(epoch), parts = std::move(parts)]() mutable {
                  observe::Timed timed(profile_.timers().epoch);
                  EpochMarked result{.file = file.id, .epoch = epoch.number};
                  auto marked = [&]() -> Result<> {
                    AFTERBAY_TRY(check_wanted(file));
                    if (member) {
                      AFTERBAY_TRY_ASSIGN(result.part, file.file->mark_member_epoch(epoch));
                      return {};
                    }
                    AFTERBAY_TRY(journal_.settle());
                    epoch.records = std::max(epoch.records, file.file->records());
                    AFTERBAY_TRY_ASSIGN(const auto cost, file.file->mark_epoch(epoch, parts));
                    account(cost, timers);
                    return {};
                  }();
                  if (!marked) result.error = std::move(marked).error();
                  timed.stop();
                  post(std::move(result));
                });
}

void Server::note_epoch(std::uint64_t number, journal::EpochCompleted line) {
  line.triggers = triggers_.due_for_epoch();
  workers_.submit([this, number, line = std::move(line)]() mutable {
    auto noted = journal_.epoch_completed(std::move(line));
    executor_.post([this, number, noted = std::move(noted)]() AFTERBAY_REQUIRES(ingest_thread) mutable {
      if (!noted) return fail(std::move(noted).error());
      epochs_.noted(number);
    });
  });
}

}  // namespace afterbay::server
