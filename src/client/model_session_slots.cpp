// SPDX-License-Identifier: Apache-2.0
// Slots: puts that are begun by acquire and end with commit.
#include <algorithm>

#include "base/caller_terms.hpp"
#include "client/model_session.hpp"

namespace afterbay::client {

Result<ModelSession::Acquired> ModelSession::acquire(File& file, std::string_view variable,
                                                     std::uint64_t record, Type type) {
  const auto failed = [&](Error error) {
    return told(error.in_file(file.path).in_variable(std::string(variable)).at_rank(place_.session_rank));
  };
  auto handover = begin(file, variable, record, type, {});
  if (!handover) return failed(std::move(handover).error());
  if (auto is_new = file.check_not_put(handover->variable, handover->record); !is_new)
    return failed(std::move(is_new).error());
  file.mark_put(handover->variable, handover->record);
  take_position(*handover);
  Acquired slot{*handover, ++next_slot_, {}};
  slots_out_[slot.number] = {
      file.id, file.collection, file.server, handover->seq,
      fmt::format("{}, variable {}, record {}", file.path, variable, said_index(record))};
  auto frames = lend_frames(*handover);
  if (!frames) {
    forget(slot);
    return failed(std::move(frames).error());
  }
  slot.frames = *std::move(frames);
  // The model computes now. Ranks that are ahead do not wait for this one: it asks for nothing until its next
  // put, or commit.
  for (const std::size_t s : file.servers) links_[s]->set_position(handover->position + 1);
  return slot;
}

/// Where this rank's pieces lie in the servers' frames, if data of the type can be computed there and there
/// is room for all of them now. Nothing else: the rank computes in an array of its own, as ranks on other
/// nodes do. A rank that waited here would hold the frames that it has already, and those of other slots:
/// ranks that hold a part of the memory each would wait for one another, and one whose part is larger than
/// the memory for ever.
Result<std::optional<std::vector<std::byte*>>> ModelSession::lend_frames(const Handover& handover) {
  using Frames = std::optional<std::vector<std::byte*>>;
  if (!lies_in_frames(handover)) return Frames();
  AFTERBAY_TRY_ASSIGN(const bool room, has_room(handover, transport::RoomFor::slot));
  if (!room) return Frames();
  const model::FileLayout& layout = handover.file->collection->layout();
  std::vector<std::byte*> frames;
  for (const PiecePlan& part : handover.plan->pieces) {
    const std::uint32_t first = layout.frames[layout.pieces[part.piece].frame].first_piece;
    const std::size_t server = owner(handover, part);
    auto landing =
        links_[server]->reserve(slot(handover, part), part.piece - first, part.packed_bytes, false);
    if (!landing) return fail(explain(server, std::move(landing).error()));
    frames.push_back(landing->base);
  }
  return Frames(std::move(frames));
}

/// Whether this rank can compute its part in the servers' frames.
bool ModelSession::lies_in_frames(const Handover& handover) const {
  const Collection& collection = *handover.file->collection;
  const Type type = collection.schema().variables[handover.variable].type;
  const bool same_order = !model::needs_swap(collection.layout().big_endian) || size_of(type) == 1;
  const bool on_map = collection.variable(handover.variable).map != nullptr;  // its points lie apart there
  return handover.plan->type == type && same_order && !on_map &&
         std::ranges::none_of(handover.file->servers, [&](auto s) { return links_[s]->packs(); });
}

void ModelSession::forget(const Acquired& slot) noexcept { slots_out_.erase(slot.number); }

/// Memory that was lent must not go back to the server while the model may write to it.
Result<> ModelSession::check_no_slot_out(const char* call, const File* file) {
  for (const auto& [position, slot] : slots_out_)
    if (file == nullptr || slot.file == file->id)
      return told(make_error(ErrorCode::bad_state,
                             "{} while a slot is out ({}): commit it or destroy it before", call, slot.what)
                      .at_rank(place_.session_rank));
  return {};
}

Result<> ModelSession::commit(const Acquired& slot, const void* buffer) {
  Handover handover = slot.handover;
  File& file = *handover.file;
  observe::Timed timed(file.collection->put_timer);
  AFTERBAY_TRY(check_usable());
  const auto failed = [&](Error error) {
    return told(error.in_file(file.path)
                    .in_variable(file.collection->schema().variables[handover.variable].name)
                    .at_rank(place_.session_rank));
  };
  if (!slot.frames)
    if (auto good = check_range(handover, buffer); !good) return failed(std::move(good).error());
  forget(slot);
  take_position(handover);  // what comes now follows the puts since acquire
  if (!slot.frames) {
    const std::uint64_t waited_before_ns = waited_for_room_ns(file);
    if (auto copied = copy_pieces(handover, buffer); !copied) return failed(std::move(copied).error());
    account_for_room(waited_for_room_ns(file) - waited_before_ns);
  }
  const model::FileLayout& layout = file.collection->layout();
  for (std::size_t i = 0; slot.frames && i < handover.plan->pieces.size(); ++i) {
    const PiecePlan& part = handover.plan->pieces[i];
    const std::uint32_t in_frame = part.piece - layout.frames[layout.pieces[part.piece].frame].first_piece;
    const std::size_t server = owner(handover, part);
    if (auto done = links_[server]->commit(this->slot(handover, part), in_frame); !done)
      return failed(explain(server, std::move(done).error()));
  }
  timed.bytes(handover.plan->packed_bytes);
  return finish(handover);
}

}  // namespace afterbay::client
