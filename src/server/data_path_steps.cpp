// SPDX-License-Identifier: Apache-2.0
// What files, epochs and shared files ask of each other and of the workers, and how the data path
// continues after the tasks of workers.
#include <algorithm>
#include <utility>
#include <variant>

#include "base/caller_terms.hpp"
#include "base/clock.hpp"
#include "server/data_path.hpp"

namespace afterbay::server {

// ---- after tasks of workers

Result<> DataPath::complete(FileTaskResult result) {
  return std::visit([this](auto& it) AFTERBAY_REQUIRES(ingest_thread) { return complete(it); }, result);
}

Result<> DataPath::complete(FileCreated& it) {
  AFTERBAY_TRY_ASSIGN(OutputFile* const file, files_.require(it.file));
  if (it.created && it.share) shared_.share(*file, std::move(*it.share));
  files_.created(*file, std::move(it.created));
  files_.task_ended(*file, std::move(it.error));
  return {};
}

Result<> DataPath::complete(OpeningNoted& it) {
  AFTERBAY_TRY_ASSIGN(OutputFile* const file, files_.require(it.file));
  OutputFiles::task_done(*file);
  file->noted = true;
  files_.task_ended(*file, std::move(it.error));
  return {};
}

Result<> DataPath::complete(FrameWritten& it) {
  OutputFile* file = nullptr;
  if (it.file != wire::no_file) {
    AFTERBAY_TRY_ASSIGN(file, files_.require(it.file));
    OutputFiles::task_done(*file);
    model::merge(file->errors, it.errors);
  }
  if (it.turn) reducer_.done(*it.turn);
  Record* const record = puts_.records().find(it.collection, it.seq);
  if (record != nullptr && --record->writes == 0 && record->ended) written(it.collection, it.seq);
  if (file != nullptr)
    files_.task_ended(*file, std::move(it.error));
  else if (it.error)
    return fail(std::move(*it.error));
  return {};
}

Result<> DataPath::complete(StringsWritten& it) {
  AFTERBAY_TRY_ASSIGN(OutputFile* const file, files_.require(it.file));
  OutputFiles::task_done(*file);
  puts_.strings().written(it.number);
  files_.task_ended(*file, std::move(it.error));
  return {};
}

Result<> DataPath::complete(EpochMarked& it) {
  AFTERBAY_TRY_ASSIGN(OutputFile* const file, files_.require(it.file));
  OutputFiles::task_done(*file);
  epochs_.marked(*file, it.epoch, std::move(it.part));
  // If the leader is gone, this has ended the session, and perhaps the file.
  if (OutputFile* const still = files_.find(it.file)) files_.task_ended(*still, std::move(it.error));
  return {};
}

Result<> DataPath::complete(PartHandedOver& it) {
  AFTERBAY_TRY_ASSIGN(OutputFile* const file, files_.require(it.file));
  if (it.error) {
    files_.not_published(*file, std::move(*it.error));
  } else if (files_.part_complete(*file)) {
    shared_.hand_over(*file, std::move(it.account));
    files_.end_hopeless();
  }
  return {};
}

Result<> DataPath::complete(PublicationEnded& it) {
  AFTERBAY_TRY_ASSIGN(OutputFile* const file, files_.require(it.file));
  file->as_published.bytes = it.bytes;
  file->as_published.checksum = it.checksum;
  model::merge(file->errors, it.errors);
  if (!it.warning.empty()) host_.observation.warn(it.warning);
  if (it.error)
    files_.not_published(*file, std::move(*it.error));
  else
    files_.end(*file, Ending::published);
  return {};
}

/// The file has its final name; for a member: its leader has published it.
void DataPath::published(const OutputFile& file) {
  if (file.role == OutputFile::Role::member) return;
  host_.observation.published(file);
  if (file.role == OutputFile::Role::leader)
    host_.peers.servers().send_all(file.collection->servers, wire::FilePublished{file.id});
}

// ---- ends

bool DataPath::finish() {
  files_.end_hopeless();
  for (const std::string& warning : epochs_.forget_unreachable()) host_.observation.warn(warning);
  if (!files_.all().empty()) return false;
  if (epochs_.empty()) return true;
  epochs_.advance();
  return false;
}

void DataPath::session_failed(const std::string& why) {
  puts_.tickets().clear();
  epochs_.stop();
  files_.session_failed(why);
}

// ---- for observers

void DataPath::fill(std::uint32_t id, observe::CollectionState& state) {
  const ServedCollection& collection = *catalog_.find(id);
  state.name = collection.name;
  state.shared = collection.sharing != model::FileSharing::none;
  const std::uint64_t now = now_ns();
  for (const auto& [seq, record] : puts_.records().of(id))
    if (record.ended && now > record.ended_ns)
      state.lag_s = std::max(state.lag_s, static_cast<double>(now - record.ended_ns) * 1e-9);
  state.files_open += files_.of(collection).size();
}

Diagnosis DataPath::diagnosis(const Shutdown& shutdown) {
  return Diagnosis({config_, catalog_, host_.definitions.preparations(), puts_.records(), files_,
                    puts_.tickets(), puts_.strings(), epochs_, shutdown, host_.peers.frames()});
}

// ---- hosts

Puts::Host DataPath::puts_host() {
  Puts::Host host;
  host.answer = [this](std::size_t peer, std::uint64_t ticket)
                    AFTERBAY_REQUIRES(ingest_thread) { host_.peers.send(peer, wire::TicketDone{ticket}); };
  host.closed_files = [this](std::size_t peer) AFTERBAY_REQUIRES(ingest_thread) {
    std::vector<std::uint64_t> closed;
    for (const auto& [id, file] : files_.all())
      if (file.closes.by(peer)) closed.push_back(id);
    return closed;
  };
  host.is_open = [this](std::uint64_t id)
                     AFTERBAY_REQUIRES(ingest_thread) { return files_.find(id) != nullptr; };
  host.has_other_ticket = [this](std::size_t peer, std::uint64_t ticket) AFTERBAY_REQUIRES(ingest_thread) {
    return epochs_.has_ticket(peer, ticket) || files_.has_ticket(peer, ticket);
  };
  return host;
}

OutputFiles::Host DataPath::files_host(const ServerIdentity& identity) {
  OutputFiles::Host host;
  host.server = static_cast<std::size_t>(identity.number);
  host.ranks = identity.session_ranks.size();
  host.run = [this](const OutputFile& file, OutputFiles::Task task) AFTERBAY_REQUIRES(ingest_thread) {
    host_.submit(std::move(task), host_.space.of(*file.collection).priority);
  };
  host.leader_is_ready = [this](const OutputFile& file)
                             AFTERBAY_REQUIRES(ingest_thread) { return shared_.leader_is_ready(file); };
  host.create = [this](OutputFile& file, SchemaChanges changes) AFTERBAY_REQUIRES(ingest_thread) {
    if (file.role == OutputFile::Role::member)
      host_.submit(host_.tasks.join(file, std::move(changes), shared_.take_share(file), shared_.placer(file)),
                   0);
    else
      host_.submit(host_.tasks.create(file, std::move(changes)), 0);
  };
  host.note_opened = [this](OutputFile& file) AFTERBAY_REQUIRES(ingest_thread) {
    if (host_.observation.journal().records_opening(file)) files_.submit(file, host_.tasks.note_opened(file));
  };
  host.publish = [this](OutputFile& file) AFTERBAY_REQUIRES(ingest_thread) { host_.tasks.publish(file); };
  host.hand_over = [this](OutputFile& file)
                       AFTERBAY_REQUIRES(ingest_thread) { host_.submit(host_.tasks.hand_over(file), 0); };
  host.send_records = [this](const OutputFile& file) AFTERBAY_REQUIRES(ingest_thread) {
    const wire::FileRecords answer{file.id, file.file ? file.file->records() : 0};
    for (const std::size_t peer : file.asked_records) host_.peers.send(peer, answer);
  };
  host.answer = [this](std::size_t peer, std::uint64_t ticket)
                    AFTERBAY_REQUIRES(ingest_thread) { puts_.tickets().answer(peer, ticket); };
  host.published = [this](const OutputFile& file) AFTERBAY_REQUIRES(ingest_thread) {
    published(file);
    epochs_.published(file.path);
  };
  host.not_published = [this](const OutputFile& file, const std::string& why)
                           AFTERBAY_REQUIRES(ingest_thread) {
                             host_.observation.journal().given_up(file, why);
                             if (file.ending == Ending::no_space && file.role != OutputFile::Role::member)
                               epochs_.lost(file.path);
                           };
  host.given_up = [this](const OutputFile& file, const std::string& why) AFTERBAY_REQUIRES(ingest_thread) {
    host_.observation.given_up(file, why);
    if (file.role != OutputFile::Role::member) epochs_.lost(file.path);
  };
  host.removed = [this](const OutputFile& file) AFTERBAY_REQUIRES(ingest_thread) {
    shared_.removed(file);
    if (file.assigned) host_.assigned_file_ended();
  };
  host.is_given_up = [this](const ServedCollection& it)
                         AFTERBAY_REQUIRES(ingest_thread) { return host_.space.is_given_up(it); };
  host.is_optional = [this](const ServedCollection& it)
                         AFTERBAY_REQUIRES(ingest_thread) { return host_.space.of(it).optional; };
  host.give_up = [this](const ServedCollection& it, const std::string& why)
                     AFTERBAY_REQUIRES(ingest_thread) { host_.space.give_up(it, why); };
  host.stop_space_waits = [this](const OutputFile& file) AFTERBAY_REQUIRES(ingest_thread) {
    host_.space.stop_waits(storage::part_path(file.path));
  };
  host.ranks_ended = host_.ranks_ended;
  host.fail = host_.fail;
  return host;
}

EpochKeeper::Host DataPath::epoch_host(const ServerIdentity& identity) {
  EpochKeeper::Host host;
  host.ranks = identity.session_ranks.size();
  host.file = [this](std::uint64_t id) AFTERBAY_REQUIRES(ingest_thread) { return files_.find(id); };
  host.is_written = [this](const OpenTicket& ticket)
                        AFTERBAY_REQUIRES(ingest_thread) { return puts_.is_written(ticket); };
  host.awaits_journal = [this](const OutputFile& file) AFTERBAY_REQUIRES(ingest_thread) {
    return host_.observation.journal().records_opening(file) && !file.noted;
  };
  host.mark = [this](OutputFile& file, storage::Epoch epoch, EpochKeeper::Parts parts)
                  AFTERBAY_REQUIRES(ingest_thread) {
                    files_.submit(file, host_.tasks.mark_epoch(file, std::move(epoch), std::move(parts)));
                  };
  host.send_part = [this](const OutputFile& file, wire::EpochPart part) AFTERBAY_REQUIRES(ingest_thread) {
    if (auto sent = host_.peers.servers().send(file.parts.leader, part); !sent)
      host_.fail(shared_.error_with(file.parts.leader, std::move(sent).error()));
  };
  host.note = [this](std::uint64_t number, journal::EpochCompleted line)
                  AFTERBAY_REQUIRES(ingest_thread) { note_epoch(number, std::move(line)); };
  host.submit = [this](OutputFile& file, WorkerTask task)
                    AFTERBAY_REQUIRES(ingest_thread) { files_.submit(file, std::move(task)); };
  host.answer = [this](std::size_t peer, std::uint64_t ticket)
                    AFTERBAY_REQUIRES(ingest_thread) { puts_.tickets().answer(peer, ticket); };
  host.complete = [this](std::uint64_t number, const std::string& name) AFTERBAY_REQUIRES(ingest_thread) {
    host_.observation.log().info("epoch {} ('{}') is complete here", number, name);
    host_.observation.triggers().epoch_complete_here(number, name);
  };
  return host;
}

/// Records in the journal that the epoch is complete on this server.
void DataPath::note_epoch(std::uint64_t number, journal::EpochCompleted line) {
  line.triggers = host_.observation.triggers().due_for_epoch();
  const auto task = [this, number, line = std::move(line)]() mutable {
    auto noted = host_.observation.journal().epoch_completed(std::move(line));
    host_.post([this, number, noted = std::move(noted)]() AFTERBAY_REQUIRES(ingest_thread) mutable {
      if (!noted) return host_.fail(std::move(noted).error());
      epochs_.noted(number);
    });
  };
  host_.submit(task, 0);
}

SharedFiles::Host DataPath::shared_host(const ServerIdentity& identity) {
  SharedFiles::Host host;
  host.server = identity.number;
  host.file = [this](std::uint64_t id) AFTERBAY_REQUIRES(ingest_thread) { return files_.find(id); };
  host.begin = [this](OutputFile& file) AFTERBAY_REQUIRES(ingest_thread) { files_.begin(file); };
  host.take_part = [this](OutputFile& file, storage::MemberEpoch part)
                       AFTERBAY_REQUIRES(ingest_thread) { files_.take_part(file, std::move(part)); };
  host.send_to_members = [this](const OutputFile& file, const wire::FileShared& message)
                             AFTERBAY_REQUIRES(ingest_thread) {
                               host_.peers.servers().send_all(file.collection->servers, message);
                             };
  host.send_question = [this](std::size_t to, const wire::AskPlaces& it)
                           AFTERBAY_REQUIRES(ingest_thread) { return host_.peers.servers().send(to, it); };
  host.send_places = [this](std::size_t to, const wire::Places& it)
                         AFTERBAY_REQUIRES(ingest_thread) { return host_.peers.servers().send(to, it); };
  host.send_part = [this](std::size_t to, const wire::PartDone& it)
                       AFTERBAY_REQUIRES(ingest_thread) { return host_.peers.servers().send(to, it); };
  host.fail = host_.fail;
  host.wake = [this] { host_.peers.port().wake(); };
  host.work = host_.work;
  return host;
}

}  // namespace afterbay::server
