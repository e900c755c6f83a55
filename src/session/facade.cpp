// SPDX-License-Identifier: Apache-2.0
// The public handles: each call is forwarded to the model's side, and its Error is thrown.
#include "base/ingest_thread.hpp"
#include "session/state.hpp"
#include "storage/structure/stored_names.hpp"

namespace afterbay {
namespace {

template <class T>
T unwrap(Result<T> result) {
  if (!result) throw Failure(std::move(result).error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

template <class State>
State& alive(const std::shared_ptr<State>& state, const char* what) {
  if (state == nullptr)
    throw Failure(make_error(ErrorCode::bad_state,
                             "the {} handle is empty: it was never opened, or has been closed", what));
  return *state;
}

/// The state of a slot, which must be acquired and not yet committed.
Slot::State& held(const std::shared_ptr<Slot::State>& state) {
  if (state == nullptr)
    throw Failure(
        Error(ErrorCode::bad_state,
              "the slot handle is empty: it was never acquired, or has been committed or given up"));
  return *state;
}

/// The session behind a handle.
std::shared_ptr<client::ModelSession> session_of(const std::weak_ptr<client::ModelSession>& session) {
  if (auto held = session.lock()) {
    set_terms(held->identity().terms);
    return held;
  }
  throw Failure(Error(ErrorCode::bad_state, "the session of this handle has been destroyed"));
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

/// Adds the boxes of a direct slot, inside the frames that the server lent.
void add_direct_parts(Slot::State& slot) {
  const client::Handover& handover = slot.acquired->handover;
  const model::HandoverLayout& layout = handover.file->collection->layout();
  const model::Box& mine = handover.file->collection->variable(handover.variable).mine;
  for (std::size_t i = 0; i < handover.plan->pieces.size(); ++i) {
    const client::PiecePlan& plan = handover.plan->pieces[i];
    const model::Piece& piece = layout.pieces[plan.piece];
    std::byte* const first = (*slot.acquired->frames)[i] + piece.frame_offset +
                             std::get<client::PiecePlan::BoxMoves>(plan.moves).gather.to_offset;
    slot.parts.push_back(part_of(model::intersect(mine, piece.box), piece.stored, first));
  }
}

}  // namespace

// ---- Session

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::Session() noexcept = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Session::State& Session::state() const {
  if (state_ == nullptr)
    throw Failure(
        Error(ErrorCode::bad_state,
              "the session handle is empty: the session was never opened, has been finalized, or was "
              "moved to another handle"));
  return *state_;
}

bool Session::is_server() const { return state().model == nullptr; }

int Session::model_rank() const { return state().model_side().identity().model_rank; }
int Session::model_size() const { return state().model_side().identity().model_size; }

void Session::decomposition(const std::string& name, const Block& block, const Coverage& coverage) {
  unwrap(state().model_side().decomposition(name, block, coverage));
}

void Session::decomposition(const std::string& name, const Map& map, const Coverage& coverage) {
  unwrap(state().model_side().decomposition(name, map, coverage));
}

Collection Session::collection(const std::string& name, const Schema& schema,
                               const CollectionOptions& options) {
  auto handle = std::make_shared<Collection::State>();
  client::ModelSession& model = state().model_side();
  unwrap(storage::check_stored_names(schema));
  handle->collection = unwrap(model.collection(name, schema, options));
  handle->session = state().model;
  return Collection(std::move(handle));
}

void Session::start() { unwrap(state().model_side().start()); }
void Session::end_step() {
  unwrap(state().model_side().end_step());
  state().model_side().call_back();
}
Ticket Session::flush() { return unwrap(state().model_side().flush()); }
Ticket Session::epoch(const std::string& name) { return unwrap(state().model_side().epoch(name)); }
void Session::wait(Ticket ticket) {
  unwrap(state().model_side().wait(ticket));
  state().model_side().call_back();
}
bool Session::is_complete(Ticket ticket) {
  const bool complete = unwrap(state().model_side().is_complete(ticket));
  state().model_side().call_back();
  return complete;
}
void Session::on_complete(Ticket ticket, std::function<void()> function) {
  unwrap(state().model_side().on_complete(ticket, std::move(function)));
}

void Session::finalize() {
  if (state().ended) return;
  unwrap(state().model_side().finalize());
  state().model_side().call_back();
  if (state().host.joinable()) state().host.join();
  // Hosted: other ranks may not have finished yet. No other thread steps the server.
  assert_role(ingest_thread);
  while (state().server && !state().server->finished()) {
    if (!state().server->step()) state().server->wait();
  }
  state().ended = true;
  unwrap(state().report());
  state().release();
}

// ---- Collection

OutputFile Collection::open(const FileName& name, const SchemaChanges& changes) {
  State& it = alive(state_, "collection");
  auto file = std::make_shared<OutputFile::State>();
  const auto session = session_of(it.session);
  unwrap(storage::check_stored_names(changes));
  file->session = it.session;
  file->file = unwrap(session->open(*it.collection, name, changes));
  return OutputFile(std::move(file));
}

const std::string& Collection::name() const {
  const State& it = alive(state_, "collection");
  (void)session_of(it.session);
  return it.collection->name();
}

// ---- OutputFile

bool OutputFile::put_raw(std::string_view variable, std::uint64_t record, const void* data, Type type,
                         const MemoryLayout& memory, bool may_wait) {
  State& it = alive(state_, "file");
  return unwrap(
      session_of(it.session)->endpoint().put(*it.file, variable, record, data, type, memory, may_wait));
}

void OutputFile::put_strings(std::string_view variable, std::uint64_t record,
                             std::span<const std::string> values) {
  State& it = alive(state_, "file");
  unwrap(session_of(it.session)->endpoint().put_strings(*it.file, variable, record, values));
}

Ticket OutputFile::close() {
  State& it = alive(state_, "file");
  return unwrap(session_of(it.session)->close(*it.file));
}

std::uint64_t OutputFile::records() const {
  State& it = alive(state_, "file");
  return unwrap(session_of(it.session)->records(*it.file));
}

OutputFile::State& OutputFile::state() const { return alive(state_, "file"); }

const std::string& OutputFile::path() const { return alive(state_, "file").file->path; }

Slot OutputFile::acquire(std::string_view variable, std::uint64_t record, Type type) {
  State& it = alive(state_, "file");
  auto slot = std::make_shared<Slot::State>();
  slot->file = *this;
  slot->variable = std::string(variable);
  slot->session = it.session;
  slot->acquired = unwrap(session_of(it.session)->endpoint().acquire(*it.file, variable, record, type));
  if (slot->acquired->frames) {
    add_direct_parts(*slot);
  } else {
    const client::VariableState& mine = it.file->collection->variable(slot->acquired->handover.variable);
    if (mine.contributes()) {
      slot->buffer.resize(mine.mine.points() * size_of(type));
      slot->parts.push_back(part_of(mine.mine, mine.mine.count, slot->buffer.data()));
    }
  }
  return Slot(std::move(slot));
}

// ---- InputFile

InputFile Session::open_input(const std::string& path, const InputOptions& options) {
  auto handle = std::make_shared<InputFile::State>();
  handle->input = unwrap(state().model_side().reader().open_input(path, options));
  handle->session = state().model;
  return InputFile(std::move(handle));
}

InputFile::State::~State() {
  const auto held = session.lock();
  if (held && input) (void)held->reader().close_input(*input);
}

void InputFile::get_raw(std::string_view variable, const Selection& what, void* data, Type type,
                        const MemoryLayout& memory) {
  State& it = alive(state_, "input");
  unwrap(session_of(it.session)->reader().get(*it.input, variable, what, data, type, memory));
}

void InputFile::prefetch(std::string_view variable, const Selection& what) {
  State& it = alive(state_, "input");
  unwrap(session_of(it.session)->reader().prefetch(*it.input, variable, what));
}

std::vector<std::string> InputFile::get_strings(std::string_view variable, std::uint64_t record) {
  State& it = alive(state_, "input");
  return unwrap(session_of(it.session)->reader().get_strings(*it.input, variable, record));
}

const Schema& InputFile::schema() const { return alive(state_, "input").input->schema; }
std::uint64_t InputFile::records() const { return alive(state_, "input").input->records; }
const std::string& InputFile::path() const { return alive(state_, "input").input->path; }

void InputFile::close() {
  State& it = alive(state_, "input");
  unwrap(session_of(it.session)->reader().close_input(*it.input));
}

// ---- Slot

Slot::State& Slot::state() const { return held(state_); }

const std::vector<Slot::Part>& Slot::parts() const { return held(state_).parts; }
bool Slot::direct() const { return held(state_).acquired->frames.has_value(); }

void Slot::commit() {
  State& it = held(state_);
  if (it.committed)
    throw Failure(
        Error(ErrorCode::bad_state, "the slot has been committed already").in_variable(it.variable));
  unwrap(session_of(it.session)->endpoint().commit(*it.acquired, it.buffer.data()));
  it.committed = true;
}

}  // namespace afterbay
