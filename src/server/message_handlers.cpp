// SPDX-License-Identifier: Apache-2.0
// How the server handles each kind of message: tables for messages of model ranks, for those
// that the transport creates, and for those of other servers.
#include "server/server.hpp"
#include "wire/handlers.hpp"

/// On the handlers: they run in the ingest thread.
#define ON_INGEST AFTERBAY_REQUIRES(ingest_thread)

namespace afterbay::server {

using wire::on;

bool Server::take_messages() {
  // Strings stay with the rank while too many wait here to be written.
  const auto may_take = [this](std::span<const std::byte> message) AFTERBAY_REQUIRES(ingest_thread) {
    return wire::kind_of(message) != wire::PutStrings::kind || end_.failed() ||
           data_.puts().strings().has_room(message.size());
  };
  return peers_.receive(may_take, [this](std::size_t peer, std::span<const std::byte> message)
                                      AFTERBAY_REQUIRES(ingest_thread) {
                                        const observe::Timed timed(observation_.profile().timers().ingest);
                                        end_.add_activity(1);
                                        if (auto handled = handle(peer, message); !handled)
                                          end_.fail_by_contradiction(std::move(handled).error());
                                      });
}

bool Server::take_server_messages() {
  bool did = false;
  while (auto arrived = peers_.servers().next()) {
    end_.add_activity(1);
    did = true;
    if (auto handled = handle_server(arrived->first, arrived->second); !handled)
      fail(std::move(handled).error());
  }
  return data_.shared().send_questions() || did;
}

/// `peer`: the model rank.
Result<> Server::handle(std::size_t peer, std::span<const std::byte> message) {
  using S = Server;
  using Rank = std::size_t;
  using wire::Counts;
  static constexpr auto handlers = wire::handlers<wire::FromModel>(
      // Definitions.
      on<wire::DefineDecomposition>([](S& s, Rank p, const auto& m)
                                        ON_INGEST { return s.definitions_.catalog().add(p, m); }),
      on<wire::DefineMap>([](S& s, Rank p, auto&& m)
                              ON_INGEST { return s.definitions_.catalog().add(p, std::move(m)); }),
      on<wire::DefineCollection>([](S& s, Rank p, const auto& m)
                                     ON_INGEST { return s.definitions_.add(p, m); }),
      on<wire::DefineEnd>([](S& s, Rank p, const auto& m) ON_INGEST { return s.definitions_.end(p, m); }),
      // Output.
      on<wire::OpenFile>([](S& s, Rank p, auto&& m) ON_INGEST { return s.data_.open(p, std::move(m)); }),
      on<wire::AskServer>([](S& s, Rank, const auto& m) ON_INGEST { return s.load_.choose(m); }),
      on<wire::BeginRecord>([](S& s, Rank p, const auto& m) ON_INGEST { return s.data_.begin_record(p, m); }),
      on<wire::Put>([](S& s, Rank p, const auto& m) ON_INGEST { return s.data_.put(p, m); }),
      on<wire::PutStrings>([](S& s, Rank p, auto&& m)
                               ON_INGEST { return s.data_.put_strings(p, std::move(m)); }),
      on<wire::EndRecords>([](S& s, Rank p, const auto& m) ON_INGEST { return s.data_.end_records(p, m); }),
      on<wire::CloseFile>([](S& s, Rank p, const auto& m) ON_INGEST { return s.data_.close(p, m); }),
      on<wire::AskRecords>([](S& s, Rank p, const auto& m)
                               ON_INGEST { return s.data_.files().ask_records(p, m.file); }),
      on<wire::Flush>([](S& s, Rank p, const auto& m) ON_INGEST { s.data_.puts().flush(p, m); }),
      on<wire::EndEpoch>([](S& s, Rank p, const auto& m) ON_INGEST { return s.data_.reach_epoch(p, m); }),
      on<wire::Waiting>([](S& s, Rank p, const auto& m) ON_INGEST { s.data_.puts().note_waiter(p, m); }),
      // Input.
      on<wire::OpenInput>([](S& s, Rank p, const auto& m) ON_INGEST { return s.inputs_.open(p, m); }),
      on<wire::InputCells>([](S& s, Rank p, auto&& m)
                               ON_INGEST { return s.inputs_.add_cells(p, std::move(m)); }),
      on<wire::GetInput>([](S& s, Rank p, auto&& m) ON_INGEST { return s.inputs_.get(p, std::move(m)); }),
      on<wire::InputTaken>([](S& s, Rank p, const auto& m) ON_INGEST { return s.inputs_.taken(p, m); }),
      on<wire::GetInputStrings>([](S& s, Rank p, const auto& m)
                                    ON_INGEST { return s.inputs_.strings(p, m); }),
      on<wire::CloseInput>([](S& s, Rank p, const auto& m) ON_INGEST { return s.inputs_.close(p, m); }),
      // Ends.
      on<wire::Finalize, Counts::always>([](S& s, Rank p, const auto&) ON_INGEST { s.end_.rank_ended(p); }),
      on<wire::Abandon, Counts::always>([](S& s, Rank p, auto&& m)
                                            ON_INGEST { s.end_.gave_up(p, std::move(m)); }),
      on<wire::FrontendEnds, Counts::always>(
          [](S& s, Rank, auto&& m) ON_INGEST { s.end_.fail(std::move(m.error), Witness::reported); }));

  static constexpr auto from_transport = wire::handlers<wire::FromTransport>(
      on<wire::FrameReady>([](S& s, const auto& m) ON_INGEST { return s.data_.frame_ready(m); }));

  const wire::Kind kind = wire::kind_of(message).value_or(wire::Kind{0});
  peers_.port().mark_progress();
  if (wire::FromTransport::has(kind)) return from_transport(message, *this);
  // After a failure, files that all ranks have closed are still published: messages for them are
  // handled, unless ranks contradicted each other.
  if (!end_.ranks_consistent() && handlers.counts(kind) != Counts::always) return {};
  if (!wire::FromModel::has(kind))
    return afterbay::fail(ErrorCode::internal, "model rank {} sent a message of unknown kind {}", peer,
                          static_cast<std::uint32_t>(kind));
  return handlers(message, *this, peer);
}

/// `server`: the sender.
Result<> Server::handle_server(std::size_t server, std::span<const std::byte> message) {
  using S = Server;
  using Number = std::size_t;
  static constexpr auto handlers = wire::handlers<wire::BetweenServers>(
      // Files that several servers write.
      on<wire::FileShared>([](S& s, Number, auto&& m)
                               ON_INGEST { s.data_.shared().leader_made(std::move(m)); }),
      on<wire::AskPlaces>([](S& s, Number from, auto&& m) ON_INGEST {
        s.space_.when_no_call_waits([&s, from, m = std::move(m)]()
                                        ON_INGEST { s.data_.shared().answer(from, m); });
      }),
      on<wire::Places>([](S& s, Number, auto&& m) ON_INGEST { s.data_.shared().take_places(std::move(m)); }),
      on<wire::PartDone>([](S& s, Number from, auto&& m)
                             ON_INGEST { return s.data_.shared().part_done(from, std::move(m)); }),
      on<wire::FilePublished>([](S& s, Number, const auto& m) ON_INGEST {
        if (OutputFile* const file = s.data_.files().find(m.file))
          s.data_.files().end(*file, Ending::published);
      }),
      on<wire::EpochPart>([](S& s, Number, auto&& m) ON_INGEST { s.data_.epochs().take_part(std::move(m)); }),
      // The session.
      on<wire::EpochComplete>([](S& s, Number, const auto& m) ON_INGEST {
        s.observation_.triggers().epoch_complete_elsewhere(m.number);
      }),
      on<wire::ServerLoad>([](S& s, Number from, const auto& m) ON_INGEST { s.load_.take(from, m); }),
      on<wire::ServerFailed>([](S& s, Number from, auto&& m)
                                 ON_INGEST { s.end_.fail_like(from, std::move(m)); }),
      on<wire::CollectionDropped>([](S& s, Number from, const auto& m) ON_INGEST {
        s.space_.given_up_elsewhere(m.collection, fmt::format("I/O server {}: {}", from, m.why));
      }),
      on<wire::SpaceShort>([](S& s, Number from, const auto& m)
                               ON_INGEST { s.data_.shared().set_busy(from, m.is_short); }),
      on<wire::Farewell>([](S& s, Number from, const auto&) ON_INGEST { s.peers_.servers().ended(from); }),
      // Definitions.
      on<wire::MapVerdicts>([](S& s, Number from, auto&& m)
                                ON_INGEST { s.definitions_.maps().take(from, std::move(m)); }),
      on<wire::MapsChecked>([](S& s, Number, const auto& m) ON_INGEST { s.definitions_.maps().take(m); }));

  peers_.port().mark_progress();
  const wire::Kind kind = wire::kind_of(message).value_or(wire::Kind{0});
  if (!wire::BetweenServers::has(kind))
    return afterbay::fail(ErrorCode::internal, "I/O server {} sent a message of unknown kind {}", server,
                          static_cast<std::uint32_t>(kind));
  return handlers(message, *this, server);
}

}  // namespace afterbay::server

#undef ON_INGEST
