// SPDX-License-Identifier: Apache-2.0
// Server: the loop of an I/O server and the parts that it joins: peers, definitions, output, input,
// and the end of the session. `step` is called by one thread (the ingest thread): the server
// process's own thread, or in the inline topology a background thread or the hosting model rank.
// Members and functions of that thread are annotated (base/ingest_thread.hpp); the others are for
// any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "base/ingest_thread.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "config/config.hpp"
#include "journal/recorder.hpp"
#include "observe/profile.hpp"
#include "server/data_path.hpp"
#include "server/executor.hpp"
#include "server/files/file_tasks.hpp"
#include "server/inputs.hpp"
#include "server/load/load_balance.hpp"
#include "server/peers.hpp"
#include "server/prepare/received_definitions.hpp"
#include "server/server_identity.hpp"
#include "server/shutdown/session_end.hpp"
#include "server/space/space_policy.hpp"
#include "server/telemetry/observation.hpp"
#include "server/workers.hpp"
#include "transport/link.hpp"

namespace afterbay::server {

class Server {
 public:
  /// `threads`: number of workers; 0: tasks run inside step(). `fellows`: links to the other
  /// servers; see FellowServers. `journal`: null: no journal is kept.
  Server(ServerIdentity identity, const config::Config& config, std::unique_ptr<transport::ServerPort> port,
         FellowServers::Links fellows, Stores stores, std::size_t threads, observe::Profile& profile,
         Logger logger, std::unique_ptr<journal::Recorder> journal = nullptr);
  ~Server();

  /// Does the work that is due; returns false if there was none.
  bool step() AFTERBAY_REQUIRES(ingest_thread);
  /// Begins to send all answers: for a caller that may not call `step` again soon.
  void begin_answers() AFTERBAY_REQUIRES(ingest_thread) { peers_.port().begin_messages(); }
  static constexpr transport::Millis longest_sleep{200};
  /// Sleeps until there may be work, for at most `most`.
  void wait(transport::Millis most = longest_sleep) AFTERBAY_REQUIRES(ingest_thread);
  /// The rank that hosts this server leaves after a failure: files that other ranks have not closed
  /// are given up.
  void leave() AFTERBAY_REQUIRES(ingest_thread);
  /// Before `serve`: receives the messages that have arrived. Returns whether the session has
  /// failed.
  bool catch_up() AFTERBAY_REQUIRES(ingest_thread);
  /// Ends this process before the session: all ranks and servers are told the reason. Returns when
  /// they have been told, or after `limit`. `reports`: this server prints the error; otherwise
  /// another does.
  void end_early(Error why, transport::Millis limit, bool reports = true) AFTERBAY_REQUIRES(ingest_thread);
  /// All model ranks have ended and all files are published or given up.
  [[nodiscard]] bool finished() const noexcept AFTERBAY_REQUIRES(ingest_thread) {
    return end_.shutdown().finished();
  }
  /// Calls step and wait until finished. Returns the first error of the session, if any.
  Result<> run() AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] const std::optional<Error>& failure() const noexcept AFTERBAY_REQUIRES(ingest_thread) {
    return end_.failure();
  }
  /// `signal` is called periodically and returns the signal that asks the run to stop, or 0. Call
  /// this before the first step.
  void stop_at(std::function<int()> signal) AFTERBAY_REQUIRES(ingest_thread) {
    end_.stop_at(std::move(signal));
  }
  /// After a failure: waits until workers have ended what they do, or `limit`. The process may end
  /// then, and its exit handlers free what libraries use in tasks.
  void await_workers(transport::Millis limit) AFTERBAY_REQUIRES(ingest_thread) {
    (void)workers_.await_idle(limit);
  }
  /// For the report; valid once the server has finished.
  [[nodiscard]] observe::ServerHistory history() const AFTERBAY_REQUIRES(ingest_thread);
  /// Whether it has collections with `compress: auto` whose filters are to be chosen.
  [[nodiscard]] bool tries_codecs() const AFTERBAY_REQUIRES(ingest_thread) {
    return observation_.codecs().has_any();
  }

 private:
  // Messages; see message_handlers.cpp.
  bool take_messages() AFTERBAY_REQUIRES(ingest_thread);
  Result<> handle(std::size_t peer, std::span<const std::byte> message) AFTERBAY_REQUIRES(ingest_thread);
  bool take_server_messages() AFTERBAY_REQUIRES(ingest_thread);
  Result<> handle_server(std::size_t server, std::span<const std::byte> message)
      AFTERBAY_REQUIRES(ingest_thread);

  bool run_posted() AFTERBAY_REQUIRES(ingest_thread);
  /// Any thread: continues in the ingest thread after a task of a worker.
  void task_done(FileTaskResult result);
  void relieve() AFTERBAY_REQUIRES(ingest_thread);
  void watch() AFTERBAY_REQUIRES(ingest_thread);
  void fail(Error error) AFTERBAY_REQUIRES(ingest_thread) { end_.fail(std::move(error)); }
  void tell_failure(const Error& failed, const SessionFailure::Report& report)
      AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] bool nothing_left() AFTERBAY_REQUIRES(ingest_thread);
  void say_goodbye() AFTERBAY_REQUIRES(ingest_thread);
  void note_finished() AFTERBAY_REQUIRES(ingest_thread);

  // How the parts reach each other; see server_hosts.cpp.
  [[nodiscard]] SpacePolicy::Host space_host(bool has_workers);
  [[nodiscard]] ReceivedDefinitions::Host definitions_host(std::size_t workers, bool keeps_journal);
  [[nodiscard]] LoadBalance::Host load_host();
  [[nodiscard]] DataPath::Host data_host(bool has_workers);
  [[nodiscard]] SessionEnd::Host end_host();
  [[nodiscard]] Shutdown::Host shutdown_host();
  [[nodiscard]] Observation::Host observation_host();
  [[nodiscard]] FileTasks::Host tasks_host();

  // Members that are not guarded are constant, or their classes state for each call whether the
  // ingest thread or any thread makes it. They end in reverse order.
  const ServerIdentity identity_;
  Peers peers_;
  SpacePolicy space_;  ///< the disk of all files, also of those that `executor_` may still hold at the end
  ReceivedDefinitions definitions_;
  LoadBalance load_ AFTERBAY_GUARDED_BY(ingest_thread){load_host()};
  DataPath data_;
  SessionEnd end_;
  Executor executor_;
  Inputs inputs_ AFTERBAY_GUARDED_BY(ingest_thread);
  Observation observation_;  ///< its triggers post to `executor_` while it ends
  FileTasks tasks_;          ///< its memory posts to `executor_`, too
  Workers workers_;          ///< last member: its tasks use all of the above
};

}  // namespace afterbay::server
