// SPDX-License-Identifier: Apache-2.0
// The sessions that this process has open, for the end of the process: one that comes without the calls that
// end a session must not leave servers and other ranks waiting. A Failure that nobody catches ends the
// process as afterbay::stop does.
#pragma once

#include <sys/types.h>

#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "afterbay/session.hpp"
#include "base/thread_safety.hpp"
#include "mpi/communicator.hpp"

namespace afterbay::session {

/// One per process, for the exit handler has no other way to find them. Any thread.
class OpenSessions {
 public:
  static OpenSessions& of_this_process();

  void add(Session::State& state);
  void remove(Session::State& state);
  /// Ends all of them early. Only in the thread and the process that opened them: elsewhere, say in a child
  /// that was forked and calls exit, nothing happens. True: there were some, and the failure of each has been
  /// reported on stderr.
  bool end_early(const std::string& reason, const Error* cause);

  /// The last session that could not be opened, for the same reason on all ranks of `comm`.
  void keep_failed(mpi::Communicator comm, std::string message);
  /// Prints an error that ended the process, unless another rank does: of a failure that all ranks have
  /// alike, the first rank prints it and the others wait for that.
  void print(const Error& error);

 private:
  OpenSessions();
  [[noreturn]] static void terminate();

  struct Entry {
    Session::State* state;
    std::thread::id thread;
    pid_t process;
  };
  Mutex mutex_;
  std::vector<Entry> entries_ AFTERBAY_GUARDED_BY(mutex_);
  std::terminate_handler at_terminate_ = nullptr;  ///< before this library's
  mpi::Communicator failed_;                       ///< by the MPI thread
  std::string failed_message_;
};

}  // namespace afterbay::session
