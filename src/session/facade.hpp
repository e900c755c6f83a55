// SPDX-License-Identifier: Apache-2.0
// What all public handles need: the session behind a handle, its calls one at a time, and errors as
// exceptions.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "base/caller_terms.hpp"
#include "session/state.hpp"

namespace afterbay {

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

/// The session behind a handle.
inline std::shared_ptr<client::ModelSession> session_of(const std::weak_ptr<client::ModelSession>& session) {
  if (auto held = session.lock()) {
    set_terms(held->identity().terms);
    return held;
  }
  throw Failure(Error(ErrorCode::bad_state, "the session of this handle has been destroyed"));
}

/// A call of the session, which only one thread makes at a time: if it may use MPI, one that MPI
/// allows.
class SessionCall {
 public:
  /// `call`: its name, a literal.
  SessionCall(std::shared_ptr<client::ModelSession> session,
              const char* call) AFTERBAY_NO_THREAD_SAFETY_ANALYSIS : session_(std::move(session)) {
    const char* other = nullptr;
    if (!lock().is_allowed_here() || !lock().enter(call, other)) refuse(call, other);
  }
  ~SessionCall() AFTERBAY_NO_THREAD_SAFETY_ANALYSIS {
    lock().leave();
    session_->puts().joint().send();  // what endpoints have added meanwhile
  }
  SessionCall(const SessionCall&) = delete;
  SessionCall& operator=(const SessionCall&) = delete;
  client::ModelSession* operator->() const { return session_.get(); }

 private:
  /// `other`: the call in which another thread is; null: MPI does not allow this thread.
  [[noreturn]] void refuse(const char* call, const char* other) const;
  [[nodiscard]] client::SessionLock& lock() const { return session_->puts().joint().links().lock(); }
  std::shared_ptr<client::ModelSession> session_;
};

/// The same for a session whose handle is known.
inline SessionCall call_of(Session::State& state, const char* call) {
  (void)state.model_side();
  return SessionCall(state.model, call);
}

inline SessionCall call_of(const std::weak_ptr<client::ModelSession>& session, const char* call) {
  return SessionCall(session_of(session), call);
}

/// A file into which an endpoint puts.
inline const std::shared_ptr<client::File>& file_of(const OutputFile& file,
                                                    const std::shared_ptr<client::ModelSession>& session) {
  const OutputFile::State& it = file.state();
  if (it.session.lock() == session) return it.file;
  throw Failure(
      make_error(ErrorCode::invalid_argument, "the file belongs to another session than the endpoint")
          .in_file(it.file->path));
}

}  // namespace afterbay
