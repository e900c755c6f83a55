// SPDX-License-Identifier: Apache-2.0
// The work of an I/O server's process between open_session and its end: serves one session, or
// several.
#include <algorithm>

#include "base/batch_thread.hpp"
#include "base/clock.hpp"
#include "base/default_arithmetic.hpp"
#include "base/ingest_thread.hpp"
#include "server/server.hpp"
#include "session/facade.hpp"
#include "session/frontend.hpp"

namespace afterbay {
namespace {

/// The pause between two checks of sessions that share a thread: an eighth of the time without
/// work.
constexpr transport::Millis shortest_pause{1};
constexpr transport::Millis longest_pause{10};
constexpr transport::Millis workers_end{1000};  ///< after a failure: their disk may hang

/// The work of a process for a session: a server, a frontend, or none if the layout leaves the rank
/// spare. The thread that serves is the ingest thread of each server.
class Work {
 public:
  explicit Work(Session::State& state) : state_(&state) {}

  [[nodiscard]] Session::State& state() const { return *state_; }
  bool step() {
    assert_role(ingest_thread);
    return state_->server ? state_->server->step() : state_->frontend && state_->frontend->step();
  }
  void wait(transport::Millis most) {
    assert_role(ingest_thread);
    if (state_->server)
      state_->server->wait(most);
    else if (state_->frontend)
      state_->frontend->wait(most);
  }
  [[nodiscard]] bool finished() const {
    assert_role(ingest_thread);
    return state_->server ? state_->server->finished() : !state_->frontend || state_->frontend->finished();
  }
  /// Called after the last model rank has ended. Collective in the session.
  Result<> end() {
    assert_role(ingest_thread);
    if (state_->spare) return {};
    if (state_->server && state_->server->failure()) {
      state_->report_failure(*state_->server->failure());
      state_->server->await_workers(workers_end);
      return fail(*state_->server->failure());
    }
    if (state_->frontend) AFTERBAY_TRY(state_->frontend->end());
    state_->ended = true;
    AFTERBAY_TRY(state_->report());
    state_->release();
    return {};
  }

 private:
  Session::State* state_;
};

Work work_of(const Session& session) {
  if (!session.is_server())
    throw Failure(Error(ErrorCode::bad_state, "this rank is a model rank: only I/O servers serve"));
  Session::State& state = session.state();
  if (!state.server && !state.frontend && !state.spare)
    throw Failure(Error(ErrorCode::bad_state, "this server has served its session already"));
  unwrap(state.check_thread("serve"));
  return Work(state);
}

/// Marks sessions as being served: if the process exits meanwhile, they must not be entered again.
class Serving {
 public:
  explicit Serving(const std::vector<Work>& all) {
    for (const Work& work : all) states_.push_back(&work.state());
    for (Session::State* const state : states_) state->serving = state->served = true;
  }
  ~Serving() {
    for (Session::State* const state : states_) state->serving = false;
  }
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

 private:
  std::vector<Session::State*> states_;
};

/// The sessions that one thread serves in turn.
class Turns {
 public:
  explicit Turns(std::span<Session* const> sessions) {
    for (Session* const session : sessions) {
      if (session == nullptr)
        throw Failure(Error(ErrorCode::invalid_argument, "serve_all was given a null session"));
      left_.push_back(work_of(*session));
    }
  }

  Result<> run() {
    const BatchThread beside_the_model;
    const DefaultArithmetic arithmetic;
    const Serving serving(left_);
    while (!left_.empty()) {
      bool did = false;
      for (Work& work : left_) did = work.step() || did;
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
    std::erase_if(left_, [this](Work& work) {
      if (!work.finished()) return false;
      if (auto ended = work.end(); !ended && !failure_) failure_ = std::move(ended).error();
      return true;
    });
  }
  /// Waits for the doorbell of one session; the others are checked after the pause.
  void wait() {
    if (left_.empty()) return;
    const auto quiet = std::chrono::nanoseconds(now_ns() - quiet_since_ns_);
    const auto pause =
        std::clamp(std::chrono::duration_cast<transport::Millis>(quiet / 8), shortest_pause, longest_pause);
    left_[turn_++ % left_.size()].wait(left_.size() > 1 ? pause : server::Server::longest_sleep);
  }

  std::vector<Work> left_;
  std::size_t turn_ = 0;
  std::uint64_t quiet_since_ns_ = now_ns();
  std::optional<Error> failure_;
};

}  // namespace

void Session::serve() {
  std::vector<Session*> alone{this};
  serve_all(alone);
}

void serve_all(std::span<Session* const> sessions) {
  if (auto served = Turns(sessions).run(); !served) throw Failure(std::move(served).error());
}

}  // namespace afterbay
