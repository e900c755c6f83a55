// SPDX-License-Identifier: Apache-2.0
// The public handles of endpoints and their pools. Any thread calls them: none uses the session's
// core.
#include <algorithm>
#include <thread>
#include <vector>

#include "afterbay/endpoint_pool.hpp"
#include "client/endpoint_pool.hpp"
#include "session/facade.hpp"

namespace afterbay {

namespace {

/// The first endpoint of a session waits for its calls, others do not: the session may be waiting
/// for the thread that opens one.
Result<std::shared_ptr<client::PartEndpoint>> open_endpoint_of(
    client::ModelSession& model, const std::string& name) AFTERBAY_NO_THREAD_SAFETY_ANALYSIS {
  client::JointPuts& joint = model.puts().joint();
  client::SessionLock& lock = joint.links().lock();
  if (lock.is_in_call_here()) return model.puts().open_endpoint(name);
  if (!joint.started()) {
    lock.take();
  } else {
    while (!lock.try_lock()) {  // an endpoint sends, or the session is in a call
      if (lock.call() != nullptr) return model.puts().join(name);
      std::this_thread::yield();
    }
  }
  auto opened = model.puts().open_endpoint(name);
  lock.unlock();
  joint.send();
  return opened;
}

}  // namespace

Endpoint Session::endpoint(const std::string& name) {
  auto handle = std::make_shared<Endpoint::State>();
  client::ModelSession& model = state().model_side();
  handle->endpoint = unwrap(open_endpoint_of(model, name));
  handle->session = state().model;
  return Endpoint(std::move(handle));
}

Endpoint::State::~State() {
  if (const auto held = session.lock(); held && endpoint && !endpoint->close()) endpoint->give_up();
}

namespace {

/// A decomposition of the rank, for a part of the endpoint.
client::Decomposition decomposition_of(const Endpoint::State& endpoint, client::ModelSession& session,
                                       const std::string& name) {
  auto known = session.puts().decomposition(name);
  if (!known)
    throw Failure(known.error()
                      .add("by " + endpoint.endpoint->member().text())
                      .at_rank(session.identity().session_rank));
  return std::move(*known);
}

}  // namespace

void Endpoint::part(const std::string& decomposition, const Block& block) {
  State& it = alive(state_, "endpoint");
  const auto session = session_of(it.session);
  unwrap(it.endpoint->add_block(decomposition_of(it, *session, decomposition), block));
}

void Endpoint::part(const std::string& decomposition, const Map& map) {
  State& it = alive(state_, "endpoint");
  const auto session = session_of(it.session);
  unwrap(it.endpoint->add_map(decomposition_of(it, *session, decomposition), map));
}

void Endpoint::whole(const std::string& decomposition) {
  State& it = alive(state_, "endpoint");
  const auto session = session_of(it.session);
  if (decomposition.empty()) return unwrap(it.endpoint->add_whole(nullptr));
  const client::Decomposition known = decomposition_of(it, *session, decomposition);
  unwrap(it.endpoint->add_whole(&known));
}

bool Endpoint::put_raw(const OutputFile& file, std::string_view variable, std::uint64_t record,
                       const void* data, Type type, const MemoryLayout& memory, bool may_wait,
                       const Section& section) {
  State& it = alive(state_, "endpoint");
  const auto session = session_of(it.session);
  return unwrap(
      it.endpoint->put(file_of(file, session), variable, record, data, type, memory, section, may_wait));
}

void Endpoint::get_raw(const InputFile& file, std::string_view variable, const Selection& what, void* data,
                       Type type, const MemoryLayout& memory) {
  State& it = alive(state_, "endpoint");
  const auto session = session_of(it.session);
  // The session's thread may close the file, and give up its handle, while this thread waits.
  const std::shared_ptr<client::Input> input = file.state().input;
  if (file.state().session.lock() != session)
    throw Failure(
        make_error(ErrorCode::invalid_argument, "the file belongs to another session than the endpoint")
            .in_file(input->path));
  unwrap(it.endpoint->get(session->endpoint_reads(), input, variable, what, data, type, memory));
}

void Endpoint::end_step() {
  State& it = alive(state_, "endpoint");
  const auto session = session_of(it.session);
  unwrap(it.endpoint->end_step());
}

void Endpoint::close() {
  State& it = alive(state_, "endpoint");
  const auto session = session_of(it.session);
  unwrap(it.endpoint->close());
}

Endpoint::State& Endpoint::state() const { return alive(state_, "endpoint"); }

std::size_t Endpoint::number() const { return alive(state_, "endpoint").endpoint->member().number; }

// ---- EndpointPool

struct __attribute__((visibility("hidden"))) EndpointPool::State {
  std::weak_ptr<client::ModelSession> session;
  std::vector<Endpoint> endpoints;
  std::unique_ptr<client::EndpointPool> pool;
};

EndpointPool::EndpointPool(std::span<const Endpoint> endpoints) : state_(std::make_shared<State>()) {
  if (endpoints.empty())
    throw Failure(
        Error(ErrorCode::invalid_argument, "a pool needs at least one endpoint, but none was given"));
  const auto session = session_of(endpoints.front().state().session);
  std::vector<std::shared_ptr<client::PartEndpoint>> members;
  for (const Endpoint& endpoint : endpoints) {
    const Endpoint::State& it = endpoint.state();
    const auto refused = [&](const char* why) {
      return Failure(make_error(ErrorCode::invalid_argument, "a pool was made with {}, {}",
                                it.endpoint->member().text(), why)
                         .at_rank(session->identity().session_rank));
    };
    if (it.session.lock() != session)
      throw refused("which belongs to another session than that of the first endpoint");
    if (std::ranges::find(members, it.endpoint) != members.end()) throw refused("which is in its list twice");
    if (it.endpoint->is_closed()) throw refused("which has been closed: make it of open ones");
    members.push_back(it.endpoint);
  }
  state_->session = session;
  state_->endpoints.assign(endpoints.begin(), endpoints.end());
  state_->pool =
      std::make_unique<client::EndpointPool>(session->puts().joint(), session->identity().session_rank);
  for (auto& member : members) unwrap(state_->pool->add(std::move(member)));
}

std::size_t EndpointPool::size() const { return alive(state_, "pool").endpoints.size(); }

const Endpoint& EndpointPool::at(std::size_t index) const { return alive(state_, "pool").endpoints[index]; }

std::size_t EndpointPool::take_index(bool may_wait) {
  State& it = alive(state_, "pool");
  const auto session = session_of(it.session);
  auto taken = it.pool->take(may_wait);
  if (!taken && !may_wait && taken.error().code == ErrorCode::would_block) return it.endpoints.size();
  return unwrap(std::move(taken));
}

EndpointLoan EndpointPool::take() { return {*this, take_index(true)}; }

std::optional<EndpointLoan> EndpointPool::try_take() {
  const std::size_t index = take_index(false);
  if (index == size()) return std::nullopt;
  return EndpointLoan(*this, index);
}

void EndpointPool::give_back(std::size_t index) {
  State& it = alive(state_, "pool");
  const auto session = session_of(it.session);
  unwrap(it.pool->give_back(index));
}

EndpointLoan::EndpointLoan(EndpointPool pool, std::size_t index)
    : pool_(std::move(pool)), endpoint_(pool_.at(index)), index_(index) {}

EndpointLoan& EndpointLoan::operator=(EndpointLoan&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(endpoint_, other.endpoint_);
  std::swap(index_, other.index_);
  return *this;
}

EndpointLoan::~EndpointLoan() {
  try {
    give_back();
  } catch (const Failure&) {  // the endpoint's next end_step reports what it has left undone
  }
}

Endpoint& EndpointLoan::endpoint() {
  if (pool_.state_ == nullptr)
    throw Failure(Error(ErrorCode::bad_state, "the endpoint of this loan has been given back"));
  return endpoint_;
}

void EndpointLoan::give_back() {
  EndpointPool pool = std::exchange(pool_, EndpointPool());
  endpoint_ = Endpoint();
  if (pool.state_ != nullptr) pool.give_back(index_);
}

}  // namespace afterbay
