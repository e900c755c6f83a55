// SPDX-License-Identifier: Apache-2.0
// SpacePolicy: the behaviour of a server while a disk is full. Calls wait for space as long as
// SpaceGuard permits; then optional collections are given up on all servers, so that the run can
// continue without them. Used by the ingest thread unless stated otherwise.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/ingest_thread.hpp"
#include "base/result.hpp"
#include "config/config.hpp"
#include "server/catalog.hpp"
#include "server/space/space_guard.hpp"
#include "server/thread_functions.hpp"
#include "storage/block_writer/disk.hpp"

namespace afterbay::server {

/// The settings for the files of a collection.
struct CollectionPolicy {
  bool optional = false;
  bool droppable = false;
  bool readable = false;
  int priority = 0;
};

class SpacePolicy {
 public:
  struct Host {
    std::int64_t server = 0;  ///< number of this server
    /// Called often while a call waits; any thread.
    AnyThreadFunction<void()> alive;
    /// Called often if the ingest thread itself waits because there are no workers; otherwise
    /// empty.
    AnyThreadFunction<void()> work;
    /// Calls a function in the ingest thread; any thread.
    AnyThreadFunction<void(IngestFunction<void()>)> post;
    /// Logs a warning and records it in the journal.
    IngestFunction<void(const std::string&)> warn;
    /// Null if this server has no such collection.
    IngestFunction<const ServedCollection*(std::uint32_t id)> collection;
    /// Number of open files of the collection.
    IngestFunction<std::size_t(const ServedCollection&)> open_files;
    /// Ends them because the disk is full.
    IngestFunction<void(const ServedCollection&, const std::string& why)> end_files;
    /// Tells the other servers that calls of this one are waiting for space, or no longer.
    IngestFunction<void(bool is_short)> report_short;
    /// Tells the other servers that the collection is given up.
    IngestFunction<void(std::uint32_t id, const std::string& why)> report_given_up;
  };

  /// `disk`: performs the system calls. `clock` must outlive the policy.
  SpacePolicy(const config::Config& config, Host host,
              std::shared_ptr<storage::Disk> disk = storage::Disk::real(),
              SpaceClock& clock = SpaceClock::real());

  /// The disk whose calls wait for space.
  [[nodiscard]] const std::shared_ptr<storage::Disk>& disk() const noexcept { return disk_; }
  /// The settings of a collection. An optional collection can be given up after it was passed to
  /// this call.
  const CollectionPolicy& of(const ServedCollection& collection) AFTERBAY_REQUIRES(ingest_thread);

  /// Gives the collection up, here and on the other servers: neither its open files nor later ones
  /// are written any more. Model ranks are not told.
  void give_up(const ServedCollection& collection, const std::string& why) AFTERBAY_REQUIRES(ingest_thread);
  /// Another server has given it up.
  void given_up_elsewhere(std::uint32_t id, const std::string& why) AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] bool is_given_up(const ServedCollection& collection) const AFTERBAY_REQUIRES(ingest_thread) {
    return given_up_.contains(collection.id);
  }

  /// From now on, calls for the file fail instead of waiting.
  void stop_waits(const std::string& path) AFTERBAY_REQUIRES(ingest_thread) { guard_.give_up(path); }
  /// Calls `then` now, or as soon as no call waits for space: a waiting call may hold the lock of
  /// the format library, which `then` needs.
  void when_no_call_waits(IngestFunction<void()> then) AFTERBAY_REQUIRES(ingest_thread);

  /// From now on, nothing is given up and no call waits, unless the run was asked to stop: then
  /// complete files are still published.
  void session_failed(const Error& error) AFTERBAY_REQUIRES(ingest_thread);
  /// From now on, no call waits.
  void stop() AFTERBAY_REQUIRES(ingest_thread) { guard_.stop(); }
  /// Remaining writes are of no use: such calls fail.
  void cut_off() AFTERBAY_REQUIRES(ingest_thread) { guard_.cut_off(); }

 private:
  void take(const SpaceNotice& notice) AFTERBAY_REQUIRES(ingest_thread);
  void give_up_optional(const std::string& why) AFTERBAY_REQUIRES(ingest_thread);
  void end_collection(std::uint32_t id, const std::string& why) AFTERBAY_REQUIRES(ingest_thread);

  const config::Config& config_;
  Host host_;
  std::map<std::uint32_t, CollectionPolicy> policies_ AFTERBAY_GUARDED_BY(ingest_thread);  ///< by collection
  std::set<std::uint32_t> given_up_ AFTERBAY_GUARDED_BY(ingest_thread);                    ///< collections
  /// Functions that wait until no call waits.
  std::vector<IngestFunction<void()>> put_off_ AFTERBAY_GUARDED_BY(ingest_thread);
  bool session_failed_ AFTERBAY_GUARDED_BY(ingest_thread) = false;
  SpaceGuard guard_;
  std::shared_ptr<storage::Disk> disk_;
};

}  // namespace afterbay::server
