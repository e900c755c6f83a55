// SPDX-License-Identifier: Apache-2.0
// LoadBalance: files that go to the least loaded server. Each server reports its load to one server
// of the session (wire::choosing_server), which chooses for all ranks. Used by the ingest thread.
#pragma once

#include <cstdint>

#include "base/ingest_thread.hpp"
#include "base/result.hpp"
#include "server/dispatcher.hpp"
#include "server/thread_functions.hpp"
#include "wire/model_messages.hpp"
#include "wire/server_answers.hpp"
#include "wire/server_messages.hpp"

namespace afterbay::server {

class LoadBalance {
 public:
  struct Host {
    std::uint32_t server = 0;   ///< number of this server
    std::uint32_t servers = 1;  ///< number of servers in the session
    /// Bytes that this server has taken in and not yet written.
    IngestFunction<std::uint64_t()> backlog_bytes;
    /// Whether the last messages have been sent.
    IngestFunction<bool()> said_goodbye;
    /// Sends this server's load to the choosing server. May end the session.
    IngestFunction<void(const wire::ServerLoad&)> send;
    /// Tells all model ranks which server gets a file.
    IngestFunction<void(const wire::Assigned&)> answer;
  };

  explicit LoadBalance(Host host) : host_(std::move(host)) {}

  /// Files of some collection go to the least loaded server: from now on, `report` reports.
  void activate() noexcept AFTERBAY_REQUIRES(ingest_thread) { active_ = true; }
  /// A file that was assigned to this server has ended, published or given up.
  void assigned_file_ended() AFTERBAY_REQUIRES(ingest_thread);
  /// Reports this server's load if it has changed. Called often enough for the report to be useful.
  void report() AFTERBAY_REQUIRES(ingest_thread);

  // On the choosing server.
  /// Another server has reported its load.
  void take(std::size_t server, const wire::ServerLoad& load) AFTERBAY_REQUIRES(ingest_thread);
  /// Chooses a server for a file and answers. Fails if the candidates are not servers of the
  /// session.
  Result<> choose(const wire::AskServer& message) AFTERBAY_REQUIRES(ingest_thread);

 private:
  Host host_;
  bool active_ AFTERBAY_GUARDED_BY(ingest_thread) = false;
  wire::ServerLoad reported_ AFTERBAY_GUARDED_BY(ingest_thread);  ///< the last report
  std::uint64_t files_ended_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;
  Dispatcher dispatcher_ AFTERBAY_GUARDED_BY(ingest_thread);  ///< used on the choosing server
};

}  // namespace afterbay::server
