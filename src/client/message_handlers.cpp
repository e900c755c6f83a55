// SPDX-License-Identifier: Apache-2.0
// What a model rank does with each message of a server.
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
      on<wire::Defined>([](S& s, Number from, const auto& m) {
        for (const auto& base : m.bases) {
          Collection& collection = *s.collections_.at(base.collection);
          collection.records().set_first_frame(from, base.first_frame);
          collection.set_packed(base.packed);
        }
        s.defined_[from] = m.serial;
      }),
      on<wire::MapLosses>([](S& s, Number, const auto& m) {
        std::vector<model::OffsetRun> lost;
        for (std::size_t i = 0; i < m.offsets.size(); ++i) lost.push_back({m.offsets[i], m.lengths.at(i)});
        s.decompositions_.at(m.id).map->lose(lost);
      }),
      on<wire::MapPacking>([](S& s, Number, auto&& m) {
        return s.decompositions_.at(m.id).map->set_packing(model::Index(m.part), m.cells,
                                                           std::move(m.before));
      }),
      // Output.
      on<wire::Assigned>(
          [](S& s, Number, const auto& m) { s.collections_.at(m.collection)->assigned[m.nth] = m.server; }),
      on<wire::FileRecords>([](S& s, Number, const auto& m) {
        for (const auto& file : s.open_files_)
          if (file->id == m.file) file->records = m.records;
      }),
      on<wire::Done>([](S& s, Number from, const auto& m) { s.tickets_.answer(m.ticket, from); }),
      // Input.
      on<wire::InputOpened>([](S& s, Number, auto&& m) {
        for (const auto& input : s.inputs_)
          if (input->id == m.input) {
            input->opened(std::move(m), s.config_.memory.input_sizes());
            break;
          }
      }),
      on<wire::InputMemory>([](S& s, Number from, const auto& m) -> Result<> {
        AFTERBAY_TRY_ASSIGN(s.input_memory_[from], transport::shm::Mapping::open(m.address, m.bytes));
        return {};
      }),
      on<wire::InputPiece>([](S& s, Number from, auto&& m) {
        if (const auto fetch = s.fetches_.find(m.request); fetch != s.fetches_.end())
          fetch->second->arrived.emplace_back(from, std::move(m));
      }),
      on<wire::InputStrings>([](S& s, Number, auto&& m) {
        if (const auto fetch = s.strings_fetches_.find(m.request); fetch != s.strings_fetches_.end())
          fetch->second = std::move(m);
      }),
      // Ends.
      on<wire::Failed>([](S& s, Number, auto&& m) { return s.core_.server_failed(std::move(m)); }),
      on<wire::Bye>([](S& s, Number from, const auto&) { s.core_.server_ended(from); }));

  if (!wire::ToModel::has(wire::kind_of(message).value_or(wire::Kind{0})))
    return fail(core_.record_failure(
        make_error(ErrorCode::internal, "I/O server {} sent a message of unknown kind", server)));
  return handlers(message, *this, server);
}

}  // namespace afterbay::client
