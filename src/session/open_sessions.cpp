// SPDX-License-Identifier: Apache-2.0
#include "session/open_sessions.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>

#include "mpi/check.hpp"
#include "session/state.hpp"

namespace afterbay::session {
namespace {

/// How long to wait until the other ranks stop, if they do.
constexpr std::chrono::milliseconds others_stop{2000};

/// A handler that the program installed itself is kept.
bool is_default(std::terminate_handler handler) {
#ifdef __GLIBCXX__
  return handler == &__gnu_cxx::__verbose_terminate_handler;
#else
  return handler != nullptr;
#endif
}

}  // namespace

/// Never destroyed: the exit handler may run after the destructors of static objects.
OpenSessions& OpenSessions::of_this_process() {
  static auto* const sessions = new OpenSessions;
  return *sessions;
}

OpenSessions::OpenSessions() {
  (void)std::atexit([] { of_this_process().end_early("the process ended", nullptr); });
  at_terminate_ = std::get_terminate();
  if (is_default(at_terminate_)) std::set_terminate(&OpenSessions::terminate);
}

void OpenSessions::add(Session::State& state) {
  const MutexLock lock(mutex_);
  entries_.push_back({&state, std::this_thread::get_id(), ::getpid()});
}

void OpenSessions::remove(Session::State& state) {
  const MutexLock lock(mutex_);
  std::erase_if(entries_, [&](const Entry& entry) { return entry.state == &state; });
}

/// Without this handler, an uncaught exception ends the process with SIGABRT: every rank prints it,
/// MPI adds a backtrace per rank, and the servers do not learn the reason.
void OpenSessions::terminate() {
  if (const std::exception_ptr thrown = std::current_exception()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Failure& failure) {
      stop(failure.error());
    } catch (...) {  // NOLINT: another library's or the program's
    }
  }
  if (const std::terminate_handler otherwise = of_this_process().at_terminate_) otherwise();
  std::abort();
}

std::vector<OpenSessions::Entry> OpenSessions::open_here(bool in_this_thread) {
  std::vector<Entry> some;
  const MutexLock lock(mutex_);
  std::ranges::copy_if(entries_, std::back_inserter(some), [&](const Entry& entry) {
    return (entry.thread == std::this_thread::get_id()) == in_this_thread && entry.process == ::getpid();
  });
  return some;
}

bool OpenSessions::end_early(const std::string& reason, const Error* cause) {
  const std::vector<Entry> mine = open_here(true);
  bool reported = !mine.empty();
  for (const Entry& entry : mine) reported = entry.state->end_early(reason, cause) && reported;
  return reported;
}

Error OpenSessions::begin_to_stop(const Error& error) {
  const bool has_sessions = !open_here(true).empty();
  MutexLock lock(stop_.mutex);
  if (!stop_.error) {
    stop_.error = error;
    stop_.first = std::this_thread::get_id();
    return error;
  }
  if (stop_.first == std::this_thread::get_id()) return error;  // in a destructor at exit
  for (;;) {
    if (has_sessions && stop_.waits_for_others && !stop_.another_ends_it) {
      stop_.another_ends_it = true;
      stop_.first = std::this_thread::get_id();
      stop_.changed.notify_all();
      return *stop_.error;
    }
    stop_.changed.wait(lock);
  }
}

bool OpenSessions::end_those_of_others(const std::string& reason, const Error& cause) {
  const std::vector<Entry> others = open_here(false);
  bool reported = !others.empty();
  for (const Entry& entry : others) reported = entry.state->end_from_other_thread(reason, cause) && reported;
  if (reported || others.empty()) return reported;
  MutexLock lock(stop_.mutex);
  stop_.waits_for_others = true;
  stop_.changed.notify_all();
  stop_.changed.wait_for(lock, others_stop, [this] {
    assert_held(stop_.mutex);
    return stop_.another_ends_it;
  });
  while (stop_.another_ends_it) stop_.changed.wait(lock);
  stop_.waits_for_others = false;
  return false;
}

void OpenSessions::keep(std::shared_ptr<Session::State> session) {
  const MutexLock lock(mutex_);
  kept_.push_back(std::move(session));
}

void OpenSessions::keep_failed(mpi::Communicator comm, std::string message) {
  failed_ = std::move(comm);
  failed_message_ = std::move(message);
}

void OpenSessions::print(const Error& error) {
  const auto print = [&] { fmt::print(stderr, "afterbay: {}\n", error.text()); };
  const bool alike = failed_.get() != MPI_COMM_NULL && mpi::is_running() && error.message == failed_message_;
  if (!alike || failed_.rank() == 0) print();
  if (!alike) return;
  failed_.leave_behind();
  if (!failed_.barrier(others_stop) && failed_.rank() != 0) print();
}

}  // namespace afterbay::session

namespace afterbay {

void stop(const Error& error) {
  constexpr const char* reason = "it stopped with an error";
  auto& sessions = session::OpenSessions::of_this_process();
  const Error first = sessions.begin_to_stop(error);
  if (!sessions.end_early(reason, &first) && !sessions.end_those_of_others(reason, first))
    sessions.print(first);
  std::exit(1);
}

}  // namespace afterbay
