// SPDX-License-Identifier: Apache-2.0
// Observation: everything by which users and their tools see the work of a server: log, journal,
// profile, telemetry and triggers. States once for each event which of them it concerns. Used by
// the ingest thread unless stated otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/ingest_thread.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "config/config.hpp"
#include "journal/recorder.hpp"
#include "observe/profile.hpp"
#include "server/codecs/codec_trials.hpp"
#include "server/files/never_put_warnings.hpp"
#include "server/files/output_file.hpp"
#include "server/journal/run_journal.hpp"
#include "server/records.hpp"
#include "server/server_identity.hpp"
#include "server/telemetry/server_profile.hpp"
#include "server/telemetry/telemetry.hpp"
#include "server/thread_functions.hpp"
#include "server/triggers/trigger_runner.hpp"

namespace afterbay::server {

class Observation {
 public:
  /// Data that only the rest of the server has.
  struct Host {
    /// Phase, files, tasks and ranks of the server.
    IngestFunction<void(observe::ServerState&)> fill;
    /// Bytes that wait to be written outside the frame pool.
    IngestFunction<std::uint64_t()> other_backlog_bytes;
    /// Name, open files and lag of a collection.
    IngestFunction<void(std::uint32_t collection, observe::CollectionState&)> fill_collection;
    /// Whether the end of the run is in the journal.
    IngestFunction<bool()> said_goodbye;
    /// Tells the first server that an epoch is complete on this one.
    IngestFunction<void(std::uint64_t number, const std::string& name)> report_epoch;
    /// A trigger has ended: the end of the run may have waited for it. Any thread.
    AnyThreadFunction<void()> wake;
    /// Gives workers a task for the time when they have nothing else to do.
    AnyThreadFunction<void(WorkerTask)> submit_last;
  };

  /// `recorder`: null: no journal is kept. `workers`: their number.
  Observation(const config::Config& config, const ServerIdentity& identity,
              const transport::FramePool& frames, Logger logger, std::unique_ptr<journal::Recorder> recorder,
              observe::Profile& profile, std::size_t workers, Host host);

  // Each states the thread rules of its functions.
  [[nodiscard]] const Logger& log() const noexcept { return logger_; }
  [[nodiscard]] const RunJournal& journal() const noexcept { return journal_; }
  [[nodiscard]] ServerProfile& profile() noexcept { return profile_; }
  [[nodiscard]] Telemetry& telemetry() noexcept { return telemetry_; }
  [[nodiscard]] const Telemetry& telemetry() const noexcept { return telemetry_; }
  [[nodiscard]] TriggerRunner& triggers() noexcept { return triggers_; }
  [[nodiscard]] CodecTrials& codecs() noexcept { return codecs_; }
  [[nodiscard]] const CodecTrials& codecs() const noexcept { return codecs_; }

  // Any thread.
  /// Logs a warning and records it in the journal.
  void warn(const std::string& text) const;
  /// A worker has created the file: counts its file system and stripes, if they are known.
  void created(const ServedCollection& collection, const storage::File& file);
  /// A worker has written a frame or strings.
  void wrote(const storage::WriteCost& cost, const ServerProfile::CollectionTimers& timers);
  /// A worker wrote bytes while it completed a file.
  void wrote_at_end(std::uint64_t bytes);

  /// All ranks have handed over the record.
  void taken(OutputFile& file, const Record& record) AFTERBAY_REQUIRES(ingest_thread);
  /// The record is in its file.
  void written(std::uint32_t collection, const Record& record) AFTERBAY_REQUIRES(ingest_thread);
  /// The memory for data that wait to be written is in use to this extent.
  void backlog(std::uint64_t bytes) AFTERBAY_REQUIRES(ingest_thread);
  /// This server has published the file, alone or as its leader.
  void published(const OutputFile& file) AFTERBAY_REQUIRES(ingest_thread);
  /// The file was begun and is given up because the disk is full.
  void given_up(const OutputFile& file, const std::string& why) AFTERBAY_REQUIRES(ingest_thread);

 private:
  [[nodiscard]] Telemetry::Host telemetry_host(const ServerIdentity& identity);
  [[nodiscard]] TriggerRunner::Host trigger_host();
  void fire_published(const OutputFile& file) AFTERBAY_REQUIRES(ingest_thread);

  Host host_;
  const Logger logger_;
  const RunJournal journal_;
  NeverPutWarnings never_put_warnings_ AFTERBAY_GUARDED_BY(ingest_thread);
  Telemetry telemetry_;
  TriggerRunner triggers_;  ///< its threads use the journal
  ServerProfile profile_;
  CodecTrials codecs_;
};

}  // namespace afterbay::server
