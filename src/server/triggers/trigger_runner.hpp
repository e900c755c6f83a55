// SPDX-License-Identifier: Apache-2.0
// TriggerRunner: fires the configured triggers for published files and complete epochs, records
// their outcome, and limits how long the end of the run waits for them. Used by the ingest thread
// unless stated otherwise.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/ingest_thread.hpp"
#include "base/log.hpp"
#include "base/thread_safety.hpp"
#include "config/config.hpp"
#include "journal/line.hpp"
#include "server/server_identity.hpp"
#include "server/thread_functions.hpp"
#include "triggers/triggers.hpp"

namespace afterbay::server {

class TriggerRunner {
 public:
  struct Host {
    /// Records an outcome in the journal; any thread.
    AnyThreadFunction<void(journal::TriggerRan)> record;
    /// Tells the first server that an epoch is complete on this one.
    IngestFunction<void(std::uint64_t number, const std::string& name)> report_epoch;
    /// A trigger has ended: the end of the run may have waited for it. Any thread.
    AnyThreadFunction<void()> wake;
  };
  /// The data of a published file that triggers need.
  struct File {
    std::string path{};
    std::string collection{};
    std::uint64_t bytes = 0;
    std::uint64_t records = 0;
    std::optional<std::uint64_t> checksum{};
    std::optional<std::int64_t> step{};
    std::optional<std::int64_t> member{};
    std::string date{};
  };

  TriggerRunner(const config::Config& config, const ServerIdentity& identity, Logger logger, Host host);

  /// Names of the triggers that the publication of a file of `collection` fires; any thread.
  [[nodiscard]] std::vector<std::string> due_for_file(const std::string& collection) const;
  /// Names of the triggers that this server fires when an epoch is complete on all servers.
  [[nodiscard]] std::vector<std::string> due_for_epoch() const;

  void file_published(const File& file) AFTERBAY_REQUIRES(ingest_thread);
  /// The first server fires the triggers of an epoch when it is complete on all servers.
  void epoch_complete_here(std::uint64_t number, const std::string& name) AFTERBAY_REQUIRES(ingest_thread);
  void epoch_complete_elsewhere(std::uint64_t number) AFTERBAY_REQUIRES(ingest_thread);
  /// The session has failed: no further epoch completes.
  void forget_epochs() AFTERBAY_REQUIRES(ingest_thread);

  /// At the end of the run: whether nothing is left to wait for. Other servers may need
  /// `deadline_ns` to complete their epochs; triggers that run longer than `triggers.at_end` are
  /// killed.
  [[nodiscard]] bool ended(std::uint64_t now_ns, std::uint64_t deadline_ns) AFTERBAY_REQUIRES(ingest_thread);

 private:
  void ran(const triggers::Outcome& outcome);
  void fire_complete_epochs() AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] triggers::Event event_of(triggers::Occasion occasion) const;

  const config::Config& config_;
  const ServerIdentity& identity_;
  Logger logger_;
  Host host_;
  /// Epochs that are not complete elsewhere.
  std::map<std::uint64_t, std::string> complete_here_ AFTERBAY_GUARDED_BY(ingest_thread);
  /// Number of other servers on which the epoch is complete.
  std::map<std::uint64_t, std::size_t> complete_elsewhere_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::uint64_t epochs_until_ns_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;  ///< 0: the run has not ended
  std::uint64_t triggers_until_ns_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;
  Mutex failed_mutex_;
  std::set<std::string> failed_ AFTERBAY_GUARDED_BY(failed_mutex_);
  std::unique_ptr<triggers::Triggers> triggers_;  ///< null: none. Last: its threads call `ran`.
};

}  // namespace afterbay::server
