// SPDX-License-Identifier: Apache-2.0
// Slots: memory that the model fills in place, acquired by the session or by an endpoint.
#include "session/facade.hpp"

namespace afterbay {
namespace {

/// The state of a slot, which must be acquired and not yet committed.
Slot::State& held(const std::shared_ptr<Slot::State>& state) {
  if (state == nullptr)
    throw Failure(
        Error(ErrorCode::bad_state,
              "the slot handle is empty: it was never acquired, or has been committed or given up"));
  return *state;
}

/// Row-major strides, in elements, of an array of `shape`.
std::vector<std::int64_t> dense_strides(const model::Index& shape) {
  std::vector<std::int64_t> strides(shape.size, 1);
  for (std::size_t d = shape.size; d-- > 1;)
    strides[d - 1] = strides[d] * static_cast<std::int64_t>(shape[d]);
  return strides;
}

Slot::Part part_of(const model::Box& box, const model::Index& shape, void* data) {
  Slot::Part part;
  part.data = data;
  part.start.assign(box.start.begin(), box.start.end());
  part.count.assign(box.count.begin(), box.count.end());
  part.strides = dense_strides(shape);
  return part;
}

/// Adds the boxes of a slot: inside the frames that the servers lent, or the private array.
/// `array`: the caller's box in the variable's index space. `visit(add)` calls add(piece's number
/// in the layout, offset of the move) for each piece.
template <class Pieces>
void add_parts(Slot::State& slot, const client::File& file, const model::Box& array, Type type, bool holds,
               Pieces pieces) {
  if (const auto* const frames = slot.frames()) {
    const model::HandoverLayout& layout = file.collection->layout();
    std::size_t i = 0;
    pieces([&](std::uint32_t number, const model::Move& gather) {
      const model::Piece& piece = layout.pieces[number];
      slot.parts.push_back(part_of(model::intersect(array, piece.box), piece.stored,
                                   (*frames)[i++] + piece.frame_offset + gather.to_offset));
    });
  } else if (holds) {
    slot.buffer.resize(array.points() * size_of(type));
    slot.parts.push_back(part_of(array, array.count, slot.buffer.data()));
  }
}

void add_parts(Slot::State& slot, const client::DirectPuts::Acquired& acquired, Type type) {
  const client::Handover& handover = acquired.handover;
  const client::VariableState& mine = handover.file->collection->variable(handover.variable);
  add_parts(slot, *handover.file, mine.mine, type, mine.contributes(), [&](auto add) {
    for (const client::PiecePlan& piece : handover.plan->pieces)
      add(piece.piece, std::get<client::PiecePlan::BoxMoves>(piece.moves).gather);
  });
}

void add_parts(Slot::State& slot, const client::PartEndpoint::Acquired& acquired, Type type) {
  add_parts(slot, *acquired.file, acquired.array, type, acquired.put != nullptr, [&](auto add) {
    for (const client::PartPiece& piece : acquired.plan->pieces)
      add(acquired.put->handover().plan->pieces[piece.number].piece, std::get<model::Move>(piece.move));
  });
}

}  // namespace

Slot OutputFile::acquire(std::string_view variable, std::uint64_t record, Type type) {
  State& it = alive(state_, "file");
  auto slot = std::make_shared<Slot::State>();
  slot->file = *this;
  slot->variable = std::string(variable);
  slot->session = it.session;
  const SessionCall call = call_of(it.session, "acquire");
  slot->acquired = unwrap(call->puts().acquire(it.file, variable, record, type));
  if (const auto* const mine = std::get_if<client::DirectPuts::Acquired>(&*slot->acquired)) {
    add_parts(*slot, *mine, type);
  } else {
    const auto& joint = std::get<client::PartEndpoint::Acquired>(*slot->acquired);
    add_parts(*slot, joint, type);
  }
  return Slot(std::move(slot));
}

Slot Endpoint::acquire(const OutputFile& file, std::string_view variable, std::uint64_t record, Type type) {
  State& it = alive(state_, "endpoint");
  const auto session = session_of(it.session);
  auto slot = std::make_shared<Slot::State>();
  slot->file = file;
  slot->variable = std::string(variable);
  slot->session = it.session;
  slot->endpoint = it.endpoint;
  auto acquired = unwrap(it.endpoint->acquire(file_of(file, session), variable, record, type));
  slot->acquired = std::move(acquired);
  const auto& joint = std::get<client::PartEndpoint::Acquired>(*slot->acquired);
  add_parts(*slot, joint, type);
  return Slot(std::move(slot));
}

Slot::State& Slot::state() const { return held(state_); }

const std::vector<Slot::Part>& Slot::parts() const { return held(state_).parts; }
bool Slot::direct() const { return held(state_).frames() != nullptr; }

void Slot::commit() {
  State& it = held(state_);
  if (it.committed)
    throw Failure(
        Error(ErrorCode::bad_state, "the slot has been committed already").in_variable(it.variable));
  if (it.endpoint) {
    (void)session_of(it.session);
    unwrap(it.endpoint->commit(std::get<client::PartEndpoint::Acquired>(*it.acquired), it.buffer.data()));
  } else {
    unwrap(call_of(it.session, "commit")->puts().commit(*it.acquired, it.buffer.data()));
  }
  it.committed = true;
}

Slot::State::~State() {
  const auto held = session.lock();
  if (!held || !acquired || committed) return;
  if (endpoint) {
    endpoint->forget(std::get<client::PartEndpoint::Acquired>(*acquired));
    return;
  }
  client::SessionLock& lock = held->puts().joint().links().lock();
  lock.take();
  held->puts().forget(*acquired);
  lock.unlock();
  held->puts().joint().send();
}

const std::vector<std::byte*>* Slot::State::frames() const {
  return std::visit([](const auto& it) { return it.frames ? &*it.frames : nullptr; }, *acquired);
}

bool Slot::State::is_out() const {
  if (endpoint) return endpoint->is_out(std::get<client::PartEndpoint::Acquired>(*acquired));
  return session.lock()->puts().is_out(*acquired);
}

}  // namespace afterbay
