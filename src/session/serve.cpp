// SPDX-License-Identifier: Apache-2.0
// What an I/O server's process does between open_session and the end: serve one session, or several.
#include <algorithm>

#include "base/batch_thread.hpp"
#include "base/clock.hpp"
#include "session/state.hpp"

namespace afterbay {
namespace {

/// Between two looks at sessions that share a thread: an eighth of the time in which nothing came.
constexpr transport::Millis shortest_pause{1};
constexpr transport::Millis longest_pause{10};

server::Server& server_of(const Session& session) {
  if (!session.is_server())
    throw Failure(Error(ErrorCode::bad_state, "this rank is a model rank: only I/O servers serve"));
  if (!session.state().server)
    throw Failure(Error(ErrorCode::bad_state, "this server has served its session already"));
  return *session.state().server;
}

/// After the last model rank has gone. Collective in the session.
Result<> end(Session::State& state) {
  const std::optional<Error> failure = state.server->failure();
  if (failure) return fail(*failure);
  state.ended = true;
  AFTERBAY_TRY(state.report());
  state.release();
  return {};
}

/// The sessions that one thread serves in turn.
class Turns {
 public:
  explicit Turns(std::span<Session* const> sessions) {
    for (Session* const session : sessions) {
      if (session == nullptr)
        throw Failure(Error(ErrorCode::invalid_argument, "serve_all was given a null session"));
      (void)server_of(*session);
      left_.push_back(&session->state());
    }
  }

  Result<> run() {
    const BatchThread beside_the_model;
    while (!left_.empty()) {
      bool did = false;
      for (Session::State* const state : left_) did = state->server->step() || did;
      end_finished();
      if (did)
        quiet_since_ns_ = now_ns();
      else
        wait();
    }
    if (failure_) return fail(*failure_);
    return {};
  }

 private:
  void end_finished() {
    std::erase_if(left_, [this](Session::State* state) {
      if (!state->server->finished()) return false;
      if (auto ended = end(*state); !ended && !failure_) failure_ = std::move(ended).error();
      return true;
    });
  }
  /// On one session's doorbell; the others are looked at when the pause is over.
  void wait() {
    if (left_.empty()) return;
    const auto quiet = std::chrono::nanoseconds(now_ns() - quiet_since_ns_);
    const auto pause =
        std::clamp(std::chrono::duration_cast<transport::Millis>(quiet / 8), shortest_pause, longest_pause);
    left_[turn_++ % left_.size()]->server->wait(left_.size() > 1 ? pause : server::Server::longest_sleep);
  }

  std::vector<Session::State*> left_;
  std::size_t turn_ = 0;
  std::uint64_t quiet_since_ns_ = now_ns();
  std::optional<Error> failure_;
};

}  // namespace

void Session::serve() {
  server::Server& server = server_of(*this);
  auto served = server.run();
  if (served) served = end(state());
  if (!served) throw Failure(std::move(served).error());
}

void serve_all(std::span<Session* const> sessions) {
  if (auto served = Turns(sessions).run(); !served) throw Failure(std::move(served).error());
}

}  // namespace afterbay
