// SPDX-License-Identifier: Apache-2.0
// How a model rank handles each kind of message from a server.
#include "client/model_session.hpp"
#include "wire/handlers.hpp"

namespace afterbay::client {

/// `server`: the sender.
Result<> ModelSession::handle(std::size_t server, std::span<const std::byte> message) {
  using S = ModelSession;
  using Number = std::size_t;
  using wire::on;
  static constexpr auto handlers = wire::handlers<wire::ToModel>(
      // Definitions.
      on<wire::Defined>([](S& s, Number from, const auto& m) { s.definitions_.answer(from, m); }),
      on<wire::MapLosses>([](S& s, Number, const auto& m) { s.definitions_.answer(m); }),
      on<wire::MapPacking>(
          [](S& s, Number from, auto&& m) { return s.definitions_.answer(from, std::move(m)); }),
      // Output.
      on<wire::Assigned>([](S& s, Number, const auto& m) { s.server_choice_.answer(m); }),
      on<wire::FileRecords>([](S& s, Number, const auto& m) {
        for (const auto& file : s.open_files_)
          if (file->id == m.file) file->records = m.records;
      }),
      on<wire::TicketDone>([](S& s, Number from, const auto& m) { s.tickets_.answer(m.ticket, from); }),
      // Input.
      on<wire::InputOpened>([](S& s, Number, auto&& m) { s.reader_.answer(std::move(m)); }),
      on<wire::InputMemory>([](S& s, Number from, const auto& m) { return s.reader_.map_memory(from, m); }),
      on<wire::InputPiece>([](S& s, Number from, const auto& m) { return s.reader_.answer(from, m); }),
      on<wire::InputStrings>([](S& s, Number, auto&& m) { s.reader_.answer(std::move(m)); }),
      // Ends.
      on<wire::SessionFailed>([](S& s, Number, auto&& m) { return s.core_.server_failed(std::move(m)); }),
      on<wire::Bye>([](S& s, Number from, const auto&) { s.core_.server_ended(from); }));

  if (!wire::ToModel::has(wire::kind_of(message).value_or(wire::Kind{0})))
    return fail(core_.record_failure(
        make_error(ErrorCode::internal, "I/O server {} sent a message of unknown kind", server)));
  return handlers(message, *this, server);
}

}  // namespace afterbay::client
