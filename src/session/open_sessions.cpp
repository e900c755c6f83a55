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
/// How long sessions take to end early at most, besides the setting `deadline`.
constexpr std::chrono::milliseconds sessions_end{8000};

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
  deadline_ = std::max(deadline_, state.config->deadline);
  rank_ = state.group ? state.group->rank() : state.model ? state.model->identity().session_rank : 0;
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

std::chrono::milliseconds OpenSessions::time_to_end() {
  const MutexLock lock(mutex_);
  return deadline_ + sessions_end;
}

void OpenSessions::await_end(MutexLock& lock, std::chrono::steady_clock::time_point until,
                             const std::function<bool()>& goes_on) {
  if (stop_.changed.wait_until(lock, until) != std::cv_status::timeout || goes_on()) return;
  const double waited_s = std::chrono::duration<double>(time_to_end()).count();
  const int rank = [this] {
    const MutexLock its_lock(mutex_);
    return rank_;
  }();
  fmt::print(stderr,
             "afterbay: rank {}: a thread that stops with an error waited {} s for another thread, which "
             "ends the process for the same reason: it has not ended it. Probably an exit handler or the "
             "destructor of a static object waits for this thread: let none of them wait for threads that "
             "may stop. The process ends now, without further exit handlers\n",
             rank, waited_s);
  std::_Exit(1);
}

Error OpenSessions::begin_to_stop(const Error& error) {
  const bool has_sessions = !open_here(true).empty();
  const auto until = std::chrono::steady_clock::now() + time_to_end();
  MutexLock lock(stop_.mutex);
  if (!stop_.error) {
    stop_.error = error;
    stop_.first = std::this_thread::get_id();
    return error;
  }
  if (stop_.first == std::this_thread::get_id()) return error;  // in a destructor at exit
  const auto takes_over = [&] {
    assert_held(stop_.mutex);
    return has_sessions && stop_.waits_for_others && !stop_.another_ends_it;
  };
  for (;;) {
    if (takes_over()) {
      stop_.another_ends_it = true;
      stop_.first = std::this_thread::get_id();
      stop_.changed.notify_all();
      return *stop_.error;
    }
    await_end(lock, until, takes_over);
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
  const auto until = std::chrono::steady_clock::now() + time_to_end();
  const auto goes_on = [this] {
    assert_held(stop_.mutex);
    return !stop_.another_ends_it;
  };
  while (!goes_on()) await_end(lock, until, goes_on);
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
