// SPDX-License-Identifier: Apache-2.0
// The public handles of sessions and files: each call is forwarded to the model's side, and its
// Error is thrown.
#include "session/facade.hpp"
#include "base/ingest_thread.hpp"
#include "mpi/check.hpp"
#include "server/server.hpp"
#include "session/frontend.hpp"
#include "session/open_sessions.hpp"
#include "storage/structure/stored_names.hpp"

namespace afterbay {
namespace {

/// Runs a call of the session, then the functions of tickets that are complete; these may call the
/// session.
template <class Task>
auto call_and_call_back(Session::State& state, const char* name, Task task) {
  std::vector<std::function<void()>> due;
  auto result = [&] {
    const SessionCall call = call_of(state, name);
    auto done = task(*call.operator->());
    if (done) due = call->take_due();
    return done;
  }();
  if (!result) throw Failure(std::move(result).error());
  for (const auto& function : due) function();
  return result;
}

}  // namespace

void SessionCall::refuse(const char* call, const char* other) const {
  const int rank = session_->identity().session_rank;
  const char* const level = lock().rule().mpi_level;
  if (other == nullptr) throw Failure(mpi::wrong_thread(call, level, rank));
  throw Failure(
      make_error(ErrorCode::bad_state,
                 "{} was called while another thread is in a call of the session ({}): one thread at a time "
                 "uses it{}{}. Let the threads take turns; at the same time they put through endpoints of "
                 "their own",
                 call, other, *level == '\0' ? "" : ", at every level of MPI_Init_thread; here it is ", level)
          .at_rank(rank));
}

// ---- Session

Session::Session(std::shared_ptr<State> state) : state_(std::move(state)) {}
Session::Session() noexcept = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&& other) noexcept {
  if (this != &other) const Session before(std::exchange(state_, std::move(other.state_)));
  return *this;
}
Session::~Session() {
  if (state_ == nullptr || !mpi::is_running() || state_->threads.allows_this_thread()) return;
  state_->destroyed_in_wrong_thread();
  session::OpenSessions::of_this_process().keep(std::move(state_));
}

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
  unwrap(call_of(state(), "decomposition")->decomposition(name, block, coverage));
}

void Session::decomposition(const std::string& name, const Map& map, const Coverage& coverage) {
  unwrap(call_of(state(), "decomposition")->decomposition(name, map, coverage));
}

Collection Session::collection(const std::string& name, const Schema& schema,
                               const CollectionOptions& options) {
  auto handle = std::make_shared<Collection::State>();
  const SessionCall model = call_of(state(), "collection");
  unwrap(storage::check_stored_names(schema));
  handle->collection = unwrap(model->collection(name, schema, options));
  handle->session = state().model;
  return Collection(std::move(handle));
}

void Session::start() { unwrap(call_of(state(), "start")->start()); }
void Session::end_step() {
  call_and_call_back(state(), "end_step", [](client::ModelSession& model) { return model.end_step(); });
}
void Session::progress() { unwrap(call_of(state(), "progress")->progress()); }
Ticket Session::flush() { return unwrap(call_of(state(), "flush")->flush()); }
Ticket Session::epoch(const std::string& name) { return unwrap(call_of(state(), "epoch")->epoch(name)); }
void Session::wait(Ticket ticket) {
  call_and_call_back(state(), "wait", [&](client::ModelSession& model) { return model.wait(ticket); });
}
bool Session::is_complete(Ticket ticket) {
  return *call_and_call_back(state(), "is_complete",
                             [&](client::ModelSession& model) { return model.is_complete(ticket); });
}
void Session::on_complete(Ticket ticket, std::function<void()> function) {
  unwrap(call_of(state(), "on_complete")->on_complete(ticket, std::move(function)));
}

void Session::finalize() {
  if (state().ended) return;
  unwrap(state().check_thread("finalize"));
  if (const auto& asked = state().output.refusal)
    if (auto refused = asked()) {
      state().model_side().abandon("a file must not be published", &*refused);
      throw Failure(*std::move(refused));
    }
  const bool failed = state().model && state().model->failure();
  if (const auto& asked = state().output.unfinished; asked && !failed)
    if (auto unfinished = asked()) throw Failure(*std::move(unfinished));
  call_and_call_back(state(), "finalize", [](client::ModelSession& model) { return model.finalize(); });
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
  const SessionCall session = call_of(it.session, "open");
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
                         const MemoryLayout& memory, bool may_wait, const Section& section) {
  State& it = alive(state_, "file");
  return unwrap(call_of(it.session, "put")
                    ->puts()
                    .put(it.file, variable, record, data, type, memory, section, may_wait));
}

void OutputFile::put_strings(std::string_view variable, std::uint64_t record,
                             std::span<const std::string> values) {
  State& it = alive(state_, "file");
  unwrap(call_of(it.session, "put_strings")->puts().put_strings(*it.file, variable, record, values));
}

Ticket OutputFile::close() {
  State& it = alive(state_, "file");
  return unwrap(call_of(it.session, "close")->close(*it.file));
}

std::uint64_t OutputFile::records() const {
  State& it = alive(state_, "file");
  return unwrap(call_of(it.session, "records")->records(*it.file));
}

OutputFile::State& OutputFile::state() const { return alive(state_, "file"); }

const std::string& OutputFile::path() const { return alive(state_, "file").file->path; }

// ---- InputFile

InputFile Session::open_input(const std::string& path, const InputOptions& options) {
  auto handle = std::make_shared<InputFile::State>();
  handle->input = unwrap(call_of(state(), "open_input")->reader().open_input(path, options));
  handle->session = state().model;
  return InputFile(std::move(handle));
}

InputFile::State::~State() {
  const auto held = session.lock();
  if (!held || !input) return;
  client::SessionLock& lock = held->puts().joint().links().lock();
  // Otherwise the session closes it at its end.
  const bool may_send =
      lock.is_allowed_here() && (held->puts().joint().links().any_thread_sends() ||
                                 lock.is_callers_thread() || !held->puts().joint().started());
  if (!may_send || !lock.try_lock()) return;
  (void)held->reader().close_input(*input);
  lock.unlock();
  held->puts().joint().send();
}

void InputFile::get_raw(std::string_view variable, const Selection& what, void* data, Type type,
                        const MemoryLayout& memory) {
  State& it = alive(state_, "input");
  unwrap(call_of(it.session, "get")->reader().get(it.input, variable, what, data, type, memory));
}

void InputFile::prefetch(std::string_view variable, const Selection& what) {
  State& it = alive(state_, "input");
  unwrap(call_of(it.session, "prefetch")->reader().prefetch(*it.input, variable, what));
}

std::vector<std::string> InputFile::get_strings(std::string_view variable, std::uint64_t record) {
  State& it = alive(state_, "input");
  return unwrap(call_of(it.session, "get_strings")->reader().get_strings(*it.input, variable, record));
}

InputFile::State& InputFile::state() const { return alive(state_, "input"); }

const Schema& InputFile::schema() const { return alive(state_, "input").input->schema; }
std::uint64_t InputFile::records() const { return alive(state_, "input").input->records; }
const std::string& InputFile::path() const { return alive(state_, "input").input->path; }

void InputFile::close() {
  State& it = alive(state_, "input");
  unwrap(call_of(it.session, "close")->reader().close_input(*it.input));
}

}  // namespace afterbay
