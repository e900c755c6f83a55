// SPDX-License-Identifier: Apache-2.0
// SessionCore: the state that a model rank has once per session, shared by all that put and read:
// the links to the servers, sending, polling, waits with deadlines, and the failure of the session.
// Used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/caller_terms.hpp"
#include "base/result.hpp"
#include "config/config.hpp"
#include "transport/link.hpp"
#include "wire/archive.hpp"
#include "wire/server_answers.hpp"

namespace afterbay::client {

/// Identifies this rank.
struct RankIdentity {
  int session_rank = 0;  ///< in the session's communicator, for messages
  int model_rank = 0;
  int model_size = 1;
  std::vector<std::size_t> pool_of_server;      ///< one per server; empty: there is one pool
  Terms terms = Terms::c;                       ///< terms of the caller's language, for messages
  std::vector<std::uint64_t> slab_shares = {};  ///< by server: see config::slab_shares
};

/// A wait for servers.
struct Wait {
  std::string what;  ///< description for errors
  std::string file;  ///< the awaited file, for errors; may be empty
  /// The servers that have not answered yet; an empty set, or no function, means all servers.
  std::function<std::set<std::size_t>()> servers;
  transport::Millis slice{50};  ///< longest sleep between two checks of `reached`
};

class SessionCore {
 public:
  using Links = std::vector<std::unique_ptr<transport::ClientLink>>;
  struct Host {
    /// Handles a message from a server.
    std::function<Result<>(std::size_t server, std::span<const std::byte> message)> handle;
    /// Adds the file and variable that this rank was working on to an error.
    std::function<void(Error&)> add_work;
    /// Adds the callers of this rank that a server's error about this rank concerns. May be empty.
    std::function<void(Error&)> add_callers = {};
    /// Called while this rank waits: does what endpoints left to the session's thread. Returns
    /// whether there are endpoints. May be empty.
    std::function<Result<bool>()> tend = {};
  };
  /// States that this rank has its answers; the returned function tells whether all ranks have
  /// theirs.
  using Arrive = std::function<Result<std::function<Result<bool>()>>()>;

  SessionCore(RankIdentity identity, const config::Config& config, Links links, Host host);

  [[nodiscard]] const RankIdentity& identity() const noexcept { return identity_; }
  [[nodiscard]] std::size_t servers() const noexcept { return links_.size(); }
  [[nodiscard]] std::set<std::size_t> all_servers() const;
  [[nodiscard]] transport::ClientLink& link(std::size_t server) const { return *links_[server]; }
  /// Called while this rank waits, besides what is called already; see ClientLink::set_idle.
  void add_idle(std::function<bool()> idle);
  /// Each rank that waits for answers also waits for the other ranks. See
  /// ModelSession::set_synchronous.
  void set_synchronous(Arrive arrive) { arrive_ = std::move(arrive); }
  [[nodiscard]] bool is_synchronous() const noexcept { return static_cast<bool>(arrive_); }

  /// Number of steps that have ended.
  [[nodiscard]] std::uint64_t step() const noexcept { return step_; }
  void count_step() noexcept { ++step_; }

  // ---- sending. Errors are those of the session: see `explain`.

  /// `buffer` is reused for the next message.
  template <class Message>
  Result<> send(std::size_t server, const Message& message, transport::Wake wake,
                std::vector<std::byte>& buffer) {
    wire::encode(message, buffer);
    return send_encoded(server, buffer, wake);
  }
  template <class Message>
  Result<> send(std::size_t server, const Message& message, transport::Wake wake) {
    return send(server, message, wake, encoded_);
  }
  /// Sends the message and everything that is queued before it.
  template <class Message>
  Result<> send_now(std::size_t server, const Message& message) {
    AFTERBAY_TRY(send(server, message, transport::Wake::now));
    return flush(server);
  }
  /// For messages that do not depend on earlier puts.
  template <class Message>
  Result<> send_ahead(std::size_t server, const Message& message) {
    wire::encode(message, encoded_);
    if (auto sent = links_[server]->send_ahead(encoded_); !sent)
      return fail(explain(server, std::move(sent).error()));
    return {};
  }
  Result<> flush(std::size_t server);

  // ---- receiving and waiting

  /// Handles what servers sent; fails with the session's error if one of them failed.
  Result<> poll();
  /// Polls until `reached` is true. Fails within the deadline if the servers make no progress.
  Result<> wait_until(const std::function<bool()>& reached, const Wait& wait);
  Result<> wait_until(const std::function<bool()>& reached, std::string what) {
    return wait_until(reached, Wait{std::move(what), {}, {}});
  }
  /// Synchronous sessions: serves until all ranks have their answers. Otherwise returns at once.
  Result<> wait_for_all(const std::string& what);

  // ---- failure and end

  /// Whether it has neither failed nor been finalized. A refused call does not end the session.
  [[nodiscard]] bool is_usable() const noexcept { return !failure_ && !finalized_; }
  [[nodiscard]] bool is_finalized() const noexcept { return finalized_ && !failure_; }
  [[nodiscard]] Result<> check_usable() const;
  /// The error after which the session cannot continue, if there was one.
  [[nodiscard]] const std::optional<Error>& failure() const noexcept { return failure_; }
  /// Records the first failure of the session, which all later calls return.
  Error record_failure(Error error);
  /// After a call of a link failed: the session's error, with the server's explanation if it sent
  /// one.
  Error explain(std::size_t server, Error error);
  /// For an error that is returned to this rank's caller: if the rank gives up because of it, the
  /// other ranks are told.
  tl::unexpected<Error> report_to_caller(Error error);
  /// A server reports that the session has failed.
  Result<> server_failed(wire::SessionFailed message);
  /// A server has published everything and ends.
  void server_ended(std::size_t server) { servers_[server].ended = true; }
  [[nodiscard]] bool all_servers_ended() const;
  void finish() noexcept { finalized_ = true; }
  /// See ModelSession.
  void abandon(const std::string& reason, const Error* cause, bool reports, bool for_all = false) noexcept;
  bool await_failure(transport::Millis limit) noexcept;
  void release_links() noexcept;

 private:
  struct Server {
    bool lost = false;            ///< its link failed; nothing more is sent to it
    bool never_answered = false;  ///< this rank has waited in vain for an answer
    bool silent = false;          ///< it made no progress for a deadline
    bool ended = false;           ///< it has said goodbye
  };

  Result<> send_encoded(std::size_t server, std::span<const std::byte> message, transport::Wake wake);
  Result<> wait_with_deadline(const std::function<bool()>& reached, const Wait& wait);
  [[nodiscard]] std::set<std::size_t> awaited_servers() const;
  [[nodiscard]] std::uint64_t progress() const;
  std::string only_never_heard(std::set<std::size_t>& servers);
  Error deadline_error(const std::string& what, std::uint64_t limit_ns);
  [[nodiscard]] Error with_work(Error error) const;

  Links links_;
  bool finalized_ = false;
  std::optional<Error> failure_;  ///< the session cannot continue
  RankIdentity identity_;
  const config::Config& config_;
  Host host_;
  Arrive arrive_;  ///< empty: not synchronous
  std::function<bool()> idle_;
  std::vector<Server> servers_;
  std::vector<std::byte> encoded_;  ///< the message being sent; kept to reuse its memory
  const Wait* wait_ = nullptr;      ///< the current wait, if any
  std::uint64_t step_ = 0;
  bool failure_came_from_server_ = false;
  /// The process that found the failure has reported it on stderr.
  bool reported_ = false;
  std::optional<Error> last_error_;  ///< the last error of a call; the session may continue
};

}  // namespace afterbay::client
