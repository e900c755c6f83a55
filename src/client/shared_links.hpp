// SPDX-License-Identifier: Apache-2.0
// SharedLinks: the links of a rank as all of its threads use them: what any thread may use at once,
// the messages that threads leave, and the lock of whoever sends them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "client/file.hpp"
#include "client/outbox.hpp"
#include "client/session_core.hpp"
#include "client/session_lock.hpp"

namespace afterbay::client {

class SharedLinks {
 public:
  /// `waited_for_files_ns`: total time that this rank waited for tickets, for the servers.
  SharedLinks(SessionCore& core, std::function<std::uint64_t()> waited_for_files_ns)
      : core_(core), waited_for_files_ns_(std::move(waited_for_files_ns)) {}

  /// Before any other thread uses it.
  void start();
  [[nodiscard]] SessionLock& lock() noexcept { return lock_; }
  /// Whether all servers share memory with the rank, so that any thread may use the links in turn.
  [[nodiscard]] bool any_thread_sends() const noexcept { return any_thread_sends_; }
  /// Null: data for that server go through the session's thread.
  [[nodiscard]] transport::ThreadEnd* end(std::size_t server) const { return ends_[server]; }
  /// Whether all servers of the file have an end for threads.
  [[nodiscard]] bool is_direct(const File& file) const;
  /// States to all servers that this rank will reserve nothing before that position.
  void publish(std::uint64_t position) const;

  /// Any thread.
  void add(std::size_t server, Outbox::Content content) { outbox_.add(server, std::move(content)); }
  [[nodiscard]] bool has_letters() const noexcept { return !outbox_.empty(); }
  /// Sends all messages. Under the lock. Errors are those of the session.
  Result<> deliver();
  /// In the session's thread: states the position on the links of which threads use nothing.
  void advance(std::uint64_t position);
  /// In the session's thread, before it hands over data itself: threads may still reserve memory
  /// for puts from this position on (ClientLink::hold).
  void hold(std::uint64_t position);

 private:
  Result<> deliver(Outbox::Message& message);

  SessionCore& core_;
  std::function<std::uint64_t()> waited_for_files_ns_;
  SessionLock lock_;
  Outbox outbox_;
  std::vector<transport::ThreadEnd*> ends_;  ///< by server
  bool any_thread_sends_ = false;
};

}  // namespace afterbay::client
