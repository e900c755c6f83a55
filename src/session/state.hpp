// SPDX-License-Identifier: Apache-2.0
// What stands behind the public handles: Session, Collection, OutputFile, Slot.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "afterbay/session.hpp"
#include "base/caller_terms.hpp"
#include "base/log.hpp"
#include "base/signal_catcher.hpp"
#include "base/thread_safety.hpp"
#include "client/model_session.hpp"
#include "config/config.hpp"
#include "mpi/communicator.hpp"
#include "mpi/finalize_hook.hpp"
#include "observe/profile.hpp"
#include "server/server.hpp"
#include "session/frontend.hpp"
#include "session/group.hpp"
#include "session/report.hpp"
#include "storage/store.hpp"

namespace afterbay {

/// Owns everything of one process's session. Destruction order: the model's side first, then the
/// thread that hosts a server, then the server.
struct __attribute__((visibility("hidden"))) Session::State {
  std::string name;
  Terms terms = Terms::c;                       ///< of the model ranks, for messages and reports
  std::unique_ptr<config::Config> config;       ///< at a fixed address: model and server refer to it
  std::unique_ptr<config::Config> pool_config;  ///< of the pool that a server belongs to; likewise
  std::unique_ptr<session::Group> group;        ///< null: no report (threads, spare ranks)
  session::ReportFiles report_files;
  observe::Profile model_profile;
  observe::Profile server_profile;
  Mutex stores_mutex;
  std::map<Format, std::unique_ptr<storage::Store>> stores AFTERBAY_GUARDED_BY(stores_mutex);

  std::unique_ptr<SignalCatcher> stop_signals;     ///< of a server
  std::unique_ptr<session::FrontendRun> frontend;  ///< null: this rank is none
  std::unique_ptr<server::Server> server;          ///< of this process: dedicated, or hosted (inline)
  std::jthread host;                               ///< inline, thread mode
  std::shared_ptr<client::ModelSession> model;  ///< null on dedicated servers; handles keep weak references
  std::vector<std::shared_ptr<mpi::Communicator>> communicators;  ///< of the connections; let go of last
  std::unique_ptr<mpi::FinalizeHook> at_mpi_finalize;
  bool ended = false;
  bool ended_early = false;
  bool spare = false;    ///< this rank has nothing to do
  bool serving = false;  ///< serve() has not returned yet
  bool served = false;   ///< serve() has been called
  pid_t process = 0;     ///< that opened the session, not a child of it

  /// `began_ns`: when open_session was called, on the monotonic clock.
  State(std::string session_name, std::unique_ptr<config::Config> configuration,
        std::uint64_t began_ns = now_ns());
  ~State();

  /// The store of a format, made at first use. Any thread.
  storage::Store& store(Format format);
  /// Serves the hosted server: in a thread, or whenever this rank waits.
  void host_server(bool in_thread);
  /// Notes the time since `began_ns` as that of open_session, and which reports there are already.
  /// `server_number`: of the server of this process, if any.
  void opened(std::uint64_t began_ns, std::int64_t server_number = 0);
  /// Everyone's part of the report. Collective.
  Result<> report();
  /// What the server of this process knows of a run that failed.
  void report_failure(const Error& why);
  client::ModelSession& model_side();
  /// Lets go of links and port, so that MPI_Finalize may come before the destructor.
  void release();
  /// The process ends, or MPI does, while the session is open: the session fails, and all its ranks and
  /// servers learn why: `event`, the call that was forgotten before it or the error that led to it. Takes a
  /// few seconds at most. True: the failure has been reported on stderr, once for all ranks that end alike.
  bool end_early(const std::string& event, const Error* cause);
  /// Watches for the end of MPI and of the process. The state stays where it is from then on.
  Result<> watch_for_end();

 private:
  [[nodiscard]] session::Account account();
  bool end_model_early(const std::string& reason, const Error* cause);
  bool end_server_early(const std::string& reason, const Error* cause);
};

struct __attribute__((visibility("hidden"))) Collection::State {
  std::weak_ptr<client::ModelSession> session;
  client::Collection* collection = nullptr;
};

struct __attribute__((visibility("hidden"))) OutputFile::State {
  std::weak_ptr<client::ModelSession> session;
  std::shared_ptr<client::File> file;
};

struct __attribute__((visibility("hidden"))) InputFile::State {
  std::weak_ptr<client::ModelSession> session;
  std::shared_ptr<client::Input> input;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();
};

struct __attribute__((visibility("hidden"))) Slot::State {
  OutputFile file;
  std::string variable;
  std::vector<Slot::Part> parts;
  std::weak_ptr<client::ModelSession> session;
  std::optional<client::Endpoint::Acquired> acquired;
  std::vector<std::byte> buffer;  ///< private data, unless they lie in the servers' frames
  bool committed = false;

  ~State() {
    if (const auto held = session.lock(); held && acquired && !committed) held->endpoint().forget(*acquired);
  }
};

}  // namespace afterbay
