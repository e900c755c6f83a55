// SPDX-License-Identifier: Apache-2.0
// SessionFailure: the error with which the session failed on this server, and who reports it.
// Several servers may detect the same failure by themselves; exactly one of them prints it on
// stderr. Used by the ingest thread.
#pragma once

#include <cstddef>
#include <optional>

#include "base/ingest_thread.hpp"
#include "base/result.hpp"
#include "server/server_identity.hpp"
#include "wire/model_messages.hpp"
#include "wire/server_messages.hpp"

namespace afterbay::server {

/// The servers that detect a failure by themselves; one of them reports it on stderr.
enum class Witness {
  this_server,  ///< it reports the failure
  all_servers,  ///< the first server reports it
  reported,     ///< it has been reported already
};

class SessionFailure {
 public:
  explicit SessionFailure(const ServerIdentity& identity) : identity_(identity) {}

  /// The first error of the session, if any.
  [[nodiscard]] const std::optional<Error>& error() const noexcept AFTERBAY_REQUIRES(ingest_thread) {
    return error_;
  }
  [[nodiscard]] bool happened() const noexcept AFTERBAY_REQUIRES(ingest_thread) { return error_.has_value(); }

  struct Report {
    bool here = false;  ///< this server must print the error on stderr
    bool done = false;  ///< this server or another has printed it, or will have
  };
  /// Called once. Adds this server to the error.
  Report record(Error error, Witness witness) AFTERBAY_REQUIRES(ingest_thread);

  /// No rank contradicted another one: messages of ranks can be trusted.
  [[nodiscard]] bool ranks_consistent() const noexcept AFTERBAY_REQUIRES(ingest_thread) {
    return ranks_consistent_;
  }
  void ranks_contradict() noexcept AFTERBAY_REQUIRES(ingest_thread) { ranks_consistent_ = false; }

  // The server that reports a failure.
  /// The link to another server is lost: the first of the remaining servers reports it.
  [[nodiscard]] Witness of_lost_server(std::size_t server) const noexcept;
  /// A model rank forwards a failure of the session: the first server that the rank can still reach
  /// reports it, if it has not been reported.
  [[nodiscard]] Witness of_forwarded(const wire::Abandon& message) const;
  /// Another server has failed.
  [[nodiscard]] static Witness of_failed(const wire::ServerFailed& message) noexcept;
  /// A model rank sent something wrong. `linked`: the servers exchange messages. Several servers
  /// detect contradictions between ranks; the first server always does.
  [[nodiscard]] static Witness of_wrong_message(bool linked) noexcept;

 private:
  const ServerIdentity& identity_;
  std::optional<Error> error_ AFTERBAY_GUARDED_BY(ingest_thread);
  bool ranks_consistent_ AFTERBAY_GUARDED_BY(ingest_thread) = true;
};

}  // namespace afterbay::server
