// SPDX-License-Identifier: Apache-2.0
// The sessions that this process has open. If the process ends without the calls that end a
// session, servers and other ranks must not be left waiting. An uncaught Failure ends the process
// in the same way as afterbay::stop.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "afterbay/session.hpp"
#include "base/thread_safety.hpp"
#include "mpi/communicator.hpp"

namespace afterbay::session {

/// One per process, because the exit handler has no other way to find the sessions. Any thread.
class OpenSessions {
 public:
  static OpenSessions& of_this_process();

  void add(Session::State& state);
  void remove(Session::State& state);
  /// Ends all of them early, but only in the thread and the process that opened them: elsewhere,
  /// for example in a forked child that calls exit, it does nothing. Returns true if there were
  /// any, and the failure of each has been reported on stderr.
  bool end_early(const std::string& reason, const Error* cause);

  /// The process ends because of `error`. One thread ends it; for all others this does not return:
  /// if that thread does not end it within a deadline, they do so at once, without exit handlers.
  /// Returns the error of the thread that was first.
  Error begin_to_stop(const Error& error);
  /// Ends the sessions that other threads have opened. If this thread cannot, it waits some seconds
  /// for one of them to stop as well, because its calls fail with the same error. Returns true if
  /// there were any, and the failure of each has been reported on stderr.
  bool end_those_of_others(const std::string& reason, const Error& cause);

  /// The program has destroyed a session in a thread that must not call MPI. Never destroyed:
  /// MPI_Finalize, or the end of the process, ends it in the right thread.
  void keep(std::shared_ptr<Session::State> session);

  /// Keeps the message of the last session that could not be opened, for the same reason on all
  /// ranks of `comm`.
  void keep_failed(mpi::Communicator comm, std::string message);
  /// Prints an error that ended the process, unless another rank does: if a failure is the same on
  /// all ranks, the first rank prints it and the others wait for that.
  void print(const Error& error);

 private:
  OpenSessions();
  [[noreturn]] static void terminate();

  struct Entry {
    Session::State* state;
    std::thread::id thread;
    pid_t process;
  };
  /// Waits for a change of `stop_`; ends the process after `until`, unless `goes_on`.
  void await_end(MutexLock& lock, std::chrono::steady_clock::time_point until,
                 const std::function<bool()>& goes_on);
  /// How long ending takes at most, unless exit handlers of the program wait.
  [[nodiscard]] std::chrono::milliseconds time_to_end() AFTERBAY_EXCLUDES(mutex_);
  [[nodiscard]] std::vector<Entry> open_here(bool in_this_thread) AFTERBAY_EXCLUDES(mutex_);

  Mutex mutex_;
  std::vector<Entry> entries_ AFTERBAY_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<Session::State>> kept_ AFTERBAY_GUARDED_BY(mutex_);
  /// The longest setting `deadline` of any session, and the rank in the last one that was opened.
  std::chrono::milliseconds deadline_ AFTERBAY_GUARDED_BY(mutex_){0};
  int rank_ AFTERBAY_GUARDED_BY(mutex_) = 0;
  /// How the process stops.
  struct Stop {
    Mutex mutex;
    std::condition_variable_any changed;
    std::optional<Error> error AFTERBAY_GUARDED_BY(mutex);  ///< error of the first thread that stops
    std::thread::id first AFTERBAY_GUARDED_BY(mutex);       ///< the thread that ends the process
    bool waits_for_others AFTERBAY_GUARDED_BY(mutex) = false;
    bool another_ends_it AFTERBAY_GUARDED_BY(mutex) = false;
  } stop_;
  std::terminate_handler at_terminate_ = nullptr;  ///< the handler before this library's
  mpi::Communicator failed_;                       ///< accessed by the MPI thread
  std::string failed_message_;
};

}  // namespace afterbay::session
