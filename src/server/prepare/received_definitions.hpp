// SPDX-License-Identifier: Apache-2.0
// ReceivedDefinitions: what the model ranks have defined, from their first message to the answer
// that all of them get: the catalog, the checks of maps that servers make together, and the
// preparations for the first file. Used by the ingest thread.
#pragma once

#include <cstddef>

#include "base/ingest_thread.hpp"
#include "base/result.hpp"
#include "config/config.hpp"
#include "server/catalog.hpp"
#include "server/peers.hpp"
#include "server/prepare/preparations.hpp"
#include "server/server_identity.hpp"
#include "server/thread_functions.hpp"
#include "wire/model_messages.hpp"

namespace afterbay::server {

class ReceivedDefinitions {
 public:
  struct Host {
    /// The tasks of preparations. The identity of the server, the messages and `maps` are not read.
    Preparations::Host preparations;
    /// Ranks contradict each other, or one sent definitions that are wrong: ends the session.
    IngestFunction<void(Error)> contradiction;
    /// Files of some collection go to the least loaded server.
    IngestFunction<void()> balances_load;
    /// Some rank has defined files that are written.
    IngestFunction<void()> writes_files;
    /// A batch is complete: these collections are known now. Fails if they cannot be served.
    IngestFunction<Result<>(const wire::Defined&)> completed;
  };

  ReceivedDefinitions(const config::Config& config, const ServerIdentity& identity, Peers& peers, Host host);

  // Messages from model rank `peer`. Each call fails if ranks disagree, and names them.
  Result<> add(std::size_t peer, const wire::DefineCollection& message) AFTERBAY_REQUIRES(ingest_thread);
  Result<> end(std::size_t peer, const wire::DefineEnd& message) AFTERBAY_REQUIRES(ingest_thread);

  [[nodiscard]] Catalog& catalog() noexcept AFTERBAY_REQUIRES(ingest_thread) { return catalog_; }
  /// The checks of maps, for messages of other servers.
  [[nodiscard]] MapChecks& maps() noexcept AFTERBAY_REQUIRES(ingest_thread) { return preparations_.maps(); }
  [[nodiscard]] const Preparations& preparations() const noexcept AFTERBAY_REQUIRES(ingest_thread) {
    return preparations_;
  }
  /// Whether ranks wait: for definitions of other ranks, or for the answer.
  [[nodiscard]] bool awaited() const AFTERBAY_REQUIRES(ingest_thread) {
    return !catalog_.still_to_come().empty() || preparations_.holds_answer();
  }

 private:
  [[nodiscard]] Preparations::Host preparations_host(const ServerIdentity& identity);
  void complete(const wire::MapsChecked& checked) AFTERBAY_REQUIRES(ingest_thread);
  void answer(const wire::Defined& defined) AFTERBAY_REQUIRES(ingest_thread);

  Peers& peers_;
  Host host_;
  Catalog catalog_ AFTERBAY_GUARDED_BY(ingest_thread);
  Preparations preparations_ AFTERBAY_GUARDED_BY(ingest_thread);
};

}  // namespace afterbay::server
