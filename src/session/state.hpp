// SPDX-License-Identifier: Apache-2.0
// The state behind the public handles: Session, Collection, OutputFile, Slot.
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
#include "mpi/thread_level.hpp"
#include "observe/profile.hpp"
#include "session/group.hpp"
#include "session/output_of_session.hpp"
#include "session/report.hpp"
#include "storage/store.hpp"

namespace afterbay {

namespace server {
class Server;
}
namespace session {
class FrontendRun;
}

/// Owns everything of one process's session. Destruction order: the model's side first, then the
/// thread that hosts a server, then the server.
struct __attribute__((visibility("hidden"))) Session::State {
  std::string name;
  /// The terms of the model ranks, for messages and reports.
  Terms terms = Terms::c;
  mpi::ThreadLevel threads;                ///< default: the session was opened without MPI
  std::unique_ptr<config::Config> config;  ///< at a fixed address: model and server refer to it
  /// For a server: the configuration of its pool; also at a fixed address.
  std::unique_ptr<config::Config> pool_config;
  std::unique_ptr<session::Group> group;  ///< null: no report (threads, spare ranks)
  bool joins_reports = true;              ///< the first rank joins the figures of all ranks at the end
  session::ReportFiles report_files;
  observe::Profile model_profile;
  observe::Profile server_profile;
  Mutex stores_mutex;
  std::map<Format, std::unique_ptr<storage::Store>> stores AFTERBAY_GUARDED_BY(stores_mutex);

  std::unique_ptr<SignalCatcher> stop_signals;     ///< used by a server
  std::unique_ptr<session::FrontendRun> frontend;  ///< null: this rank is not a frontend
  /// The server of this process: dedicated, or hosted (inline).
  std::unique_ptr<server::Server> server;
  std::jthread host;  ///< used inline in thread mode
  /// Null on dedicated servers; handles keep weak references.
  std::shared_ptr<client::ModelSession> model;
  std::size_t servers = 0;  ///< servers with which the model's side talks
  /// Communicators of the connections; released last.
  std::vector<std::shared_ptr<mpi::Communicator>> communicators;
  std::unique_ptr<mpi::FinalizeHook> at_mpi_finalize;
  session::OutputOfSession output;
  bool ended = false;
  bool ended_early = false;
  bool spare = false;    ///< this rank has nothing to do
  bool serving = false;  ///< serve() has not returned yet
  bool served = false;   ///< serve() has been called
  pid_t process = 0;     ///< the process that opened the session, not a child of it

  /// `began_ns`: when open_session was called, on the monotonic clock.
  State(std::string session_name, std::unique_ptr<config::Config> configuration,
        std::uint64_t began_ns = now_ns());
  ~State();

  /// The store of a format, made at first use. Any thread.
  storage::Store& store(Format format);
  /// Runs the hosted server in a thread, or whenever this rank waits.
  void host_server(bool in_thread);
  /// Records the time since `began_ns` as the time of open_session, and the reports that already
  /// exist. `server_number`: the number of this process's server, if any.
  void opened(std::uint64_t began_ns, std::int64_t server_number = 0);
  /// Joins the reports of all processes. Collective.
  Result<> report();
  /// Reports the data of this process's server about a failed run.
  void report_failure(const Error& why);
  client::ModelSession& model_side();
  /// Fails (bad_state) if this thread must not call MPI. For calls that use MPI on every rank.
  /// `call`: for errors. Any thread.
  [[nodiscard]] Result<> check_thread(const char* call) const;
  /// Reports on stderr that this thread must not destroy the session.
  void destroyed_in_wrong_thread() const noexcept;
  /// `may_use_mpi`: calls that put, read or wait may, and will be refused in threads that must not
  /// call MPI. In the thread that opens the session, before its first call.
  void bind_threads(bool may_use_mpi);
  /// Releases links and port, so that MPI_Finalize may come before the destructor.
  void release();
  /// Called if the process or MPI ends while the session is open: the session fails, and all its
  /// ranks and servers are told the reason: `event`, and the forgotten call or the error that led
  /// to it. Takes a few seconds at most. Returns true if the failure has been reported on stderr,
  /// once for all ranks that end alike.
  bool end_early(const std::string& event, const Error* cause);
  /// The same for a model rank in a thread that did not open the session, when the process is about
  /// to end.
  bool end_from_other_thread(const std::string& event, const Error& cause);
  /// Watches for the end of MPI and of the process. The state must not move from then on.
  Result<> watch_for_end();

 private:
  [[nodiscard]] session::ProcessReport process_report();
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
  std::shared_ptr<client::PartEndpoint> endpoint;  ///< endpoint that acquired it; null: the session did
  std::optional<client::AcquiredSlot> acquired;
  std::vector<std::byte> buffer;  ///< private buffer, unless the data lie in the servers' frames
  bool committed = false;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();
  /// Where the pieces lie in the servers' frames; null: nowhere, in `buffer`.
  [[nodiscard]] const std::vector<std::byte*>* frames() const;
  /// Whether it has been neither committed nor given up. The session must exist.
  [[nodiscard]] bool is_out() const;
};

struct __attribute__((visibility("hidden"))) Endpoint::State {
  std::weak_ptr<client::ModelSession> session;
  std::shared_ptr<client::PartEndpoint> endpoint;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();
};

}  // namespace afterbay
