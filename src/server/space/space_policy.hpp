// SPDX-License-Identifier: Apache-2.0
// SpacePolicy: the behaviour of a server while a disk is full. Calls wait for space as long as
// SpaceGuard permits; then optional collections are given up on all servers, so that the run can
// continue without them. Used by the ingest thread unless stated otherwise.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"
#include "server/catalog.hpp"
#include "server/space/space_guard.hpp"
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
    std::function<void()> alive;
    /// Likewise, if the ingest thread itself waits because there are no workers; otherwise empty.
    std::function<void()> work;
    /// Calls a function in the ingest thread; any thread.
    std::function<void(std::function<void()>)> post;
    /// Logs a warning and records it in the journal.
    std::function<void(const std::string&)> warn;
    /// Null if this server has no such collection.
    std::function<const ServedCollection*(std::uint32_t id)> collection;
    /// Number of open files of the collection.
    std::function<std::size_t(const ServedCollection&)> open_files;
    /// Ends them because the disk is full.
    std::function<void(const ServedCollection&, const std::string& why)> end_files;
    /// Tells the other servers that calls of this one are waiting for space, or no longer.
    std::function<void(bool is_short)> report_short;
    /// Tells the other servers that the collection is given up.
    std::function<void(std::uint32_t id, const std::string& why)> report_given_up;
  };

  /// `disk`: performs the system calls.
  SpacePolicy(const config::Config& config, Host host,
              std::shared_ptr<storage::Disk> disk = storage::Disk::real());

  /// The disk whose calls wait for space.
  [[nodiscard]] const std::shared_ptr<storage::Disk>& disk() const noexcept { return disk_; }
  /// The settings of a collection. An optional collection can be given up after it was passed to
  /// this call.
  const CollectionPolicy& of(const ServedCollection& collection);

  /// Gives the collection up, here and on the other servers: neither its open files nor later ones
  /// are written any more. Model ranks are not told.
  void give_up(const ServedCollection& collection, const std::string& why);
  /// Another server has given it up.
  void given_up_elsewhere(std::uint32_t id, const std::string& why);
  [[nodiscard]] bool is_given_up(const ServedCollection& collection) const {
    return given_up_.contains(collection.id);
  }

  /// From now on, calls for the file fail instead of waiting.
  void stop_waits(const std::string& path) { guard_.give_up(path); }
  /// Calls `then` now, or as soon as no call waits for space: a waiting call may hold the lock of
  /// the format library, which `then` needs.
  void when_no_call_waits(std::function<void()> then);

  /// From now on, nothing is given up and no call waits, unless the run was asked to stop: then
  /// complete files are still published.
  void session_failed(const Error& error);
  /// From now on, no call waits.
  void stop() { guard_.stop(); }
  /// Remaining writes are of no use: such calls fail.
  void cut_off() { guard_.cut_off(); }

 private:
  void take(const SpaceNotice& notice);
  void give_up_optional(const std::string& why);
  void end_collection(std::uint32_t id, const std::string& why);

  const config::Config& config_;
  Host host_;
  std::map<std::uint32_t, CollectionPolicy> policies_;  ///< by collection
  std::set<std::uint32_t> given_up_;                    ///< collections
  std::vector<std::function<void()>> put_off_;          ///< functions that wait until no call waits
  bool session_failed_ = false;
  SpaceGuard guard_;
  std::shared_ptr<storage::Disk> disk_;
};

}  // namespace afterbay::server
