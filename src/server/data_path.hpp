// SPDX-License-Identifier: Apache-2.0
// DataPath: the output of the model ranks from their messages to published files. Knows the order
// of the steps: when frames and strings are given to workers, and what follows when a worker is
// done. Puts, files, epochs, shared files and the tasks of workers have their own classes. Used by
// the ingest thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/ingest_thread.hpp"
#include "base/result.hpp"
#include "config/config.hpp"
#include "server/completions.hpp"
#include "server/deadlines/diagnosis.hpp"
#include "server/epochs/epoch_keeper.hpp"
#include "server/files/file_tasks.hpp"
#include "server/files/output_files.hpp"
#include "server/peers.hpp"
#include "server/prepare/received_definitions.hpp"
#include "server/puts.hpp"
#include "server/reduce/reducer.hpp"
#include "server/server_identity.hpp"
#include "server/shared/shared_files.hpp"
#include "server/space/space_policy.hpp"
#include "server/telemetry/observation.hpp"
#include "server/thread_functions.hpp"
#include "wire/frame_messages.hpp"

namespace afterbay::server {

class DataPath {
 public:
  /// The parts of the server that it uses.
  struct Host {
    Peers& peers;
    ReceivedDefinitions& definitions;
    SpacePolicy& space;
    FileTasks& tasks;
    Observation& observation;
    /// Gives a task to a worker.
    IngestFunction<void(WorkerTask, int priority)> submit;
    /// Calls a function in the ingest thread; any thread.
    AnyThreadFunction<void(IngestFunction<void()>)> post;
    /// If there are no workers, the ingest thread itself waits for answers of other servers: then
    /// this receives and handles their messages. Otherwise empty.
    AnyThreadFunction<void()> work;
    /// Ends the session; calls `session_failed`.
    IngestFunction<void(Error)> fail;
    /// Whether all model ranks have ended.
    IngestFunction<bool()> ranks_ended;
    /// A file that was assigned to this server as the least loaded one has ended.
    IngestFunction<void()> assigned_file_ended;
  };

  DataPath(const config::Config& config, const ServerIdentity& identity, Host host);

  // Messages from model rank `peer`. Each call fails if the message contradicts those of other
  // ranks.
  Result<> open(std::size_t peer, wire::OpenFile message) AFTERBAY_REQUIRES(ingest_thread);
  Result<> begin_record(std::size_t peer, const wire::BeginRecord& message) AFTERBAY_REQUIRES(ingest_thread);
  Result<> put(std::size_t peer, const wire::Put& message) AFTERBAY_REQUIRES(ingest_thread);
  Result<> put_strings(std::size_t peer, wire::PutStrings message) AFTERBAY_REQUIRES(ingest_thread);
  /// All contributions to a frame have arrived, from any rank.
  Result<> frame_ready(const wire::FrameReady& message) AFTERBAY_REQUIRES(ingest_thread);
  Result<> end_records(std::size_t peer, const wire::EndRecords& message) AFTERBAY_REQUIRES(ingest_thread);
  Result<> close(std::size_t peer, const wire::CloseFile& message) AFTERBAY_REQUIRES(ingest_thread);
  Result<> reach_epoch(std::size_t peer, const wire::EndEpoch& message) AFTERBAY_REQUIRES(ingest_thread);

  // Other messages of ranks and servers go to these.
  [[nodiscard]] Puts& puts() noexcept AFTERBAY_REQUIRES(ingest_thread) { return puts_; }
  [[nodiscard]] OutputFiles& files() noexcept AFTERBAY_REQUIRES(ingest_thread) { return files_; }
  [[nodiscard]] EpochKeeper& epochs() noexcept AFTERBAY_REQUIRES(ingest_thread) { return epochs_; }
  [[nodiscard]] Reducer& reducer() noexcept AFTERBAY_REQUIRES(ingest_thread) { return reducer_; }
  [[nodiscard]] SharedFiles& shared() noexcept AFTERBAY_REQUIRES(ingest_thread) { return shared_; }

  /// Continues after a task of a worker. Fails if the file does not exist.
  Result<> complete(FileTaskResult result) AFTERBAY_REQUIRES(ingest_thread);
  /// A record was dropped because the server's memory is full: warns once per file.
  void note_dropped(const Overflow::RecordKey& key) AFTERBAY_REQUIRES(ingest_thread);
  /// Answers tickets and advances epochs. Called after anything else was done.
  void advance() AFTERBAY_REQUIRES(ingest_thread);
  /// Called when all ranks have ended. Continues with files and epochs that have not ended; returns
  /// true if there are none.
  [[nodiscard]] bool finish() AFTERBAY_REQUIRES(ingest_thread);
  /// Called when the session has failed: only files that all ranks have closed are still published.
  void session_failed(const std::string& why) AFTERBAY_REQUIRES(ingest_thread);

  // Read for statistics pages and error messages.
  /// Sets name, open files and lag of a collection in `state`.
  void fill(std::uint32_t collection, observe::CollectionState& state) AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] Diagnosis diagnosis(const Shutdown& shutdown) AFTERBAY_REQUIRES(ingest_thread);

 private:
  [[nodiscard]] Puts::Host puts_host();
  [[nodiscard]] OutputFiles::Host files_host(const ServerIdentity& identity);
  [[nodiscard]] EpochKeeper::Host epoch_host(const ServerIdentity& identity);
  [[nodiscard]] SharedFiles::Host shared_host(const ServerIdentity& identity);

  Result<> take_frame(const ServedCollection& collection, std::uint64_t seq, std::uint32_t number,
                      const transport::FrameView& view, std::vector<std::uint32_t> pieces)
      AFTERBAY_REQUIRES(ingest_thread);
  void submit(OutputFile& file, std::uint64_t epochs, WorkerTask task) AFTERBAY_REQUIRES(ingest_thread);
  Result<> end_record(const ServedCollection& collection, std::uint64_t seq) AFTERBAY_REQUIRES(ingest_thread);
  void written(std::uint32_t collection, std::uint64_t seq) AFTERBAY_REQUIRES(ingest_thread);
  void erase_record(std::uint32_t collection, std::uint64_t seq) AFTERBAY_REQUIRES(ingest_thread);
  void forget_record(const ServedCollection& collection, std::uint64_t seq) AFTERBAY_REQUIRES(ingest_thread);

  Result<> complete(FileCreated& it) AFTERBAY_REQUIRES(ingest_thread);
  Result<> complete(OpeningNoted& it) AFTERBAY_REQUIRES(ingest_thread);
  Result<> complete(FrameWritten& it) AFTERBAY_REQUIRES(ingest_thread);
  Result<> complete(StringsWritten& it) AFTERBAY_REQUIRES(ingest_thread);
  Result<> complete(EpochMarked& it) AFTERBAY_REQUIRES(ingest_thread);
  Result<> complete(PartHandedOver& it) AFTERBAY_REQUIRES(ingest_thread);
  Result<> complete(PublicationEnded& it) AFTERBAY_REQUIRES(ingest_thread);
  void published(const OutputFile& file) AFTERBAY_REQUIRES(ingest_thread);
  void note_epoch(std::uint64_t number, journal::EpochCompleted line) AFTERBAY_REQUIRES(ingest_thread);

  const config::Config& config_;
  Host host_;
  Catalog& catalog_ AFTERBAY_GUARDED_BY(ingest_thread);
  Puts puts_;
  SharedFiles shared_;  ///< its placers are used by `files_`, also as they end
  EpochKeeper epochs_ AFTERBAY_GUARDED_BY(ingest_thread);
  OutputFiles files_ AFTERBAY_GUARDED_BY(ingest_thread);
  Reducer reducer_;
};

}  // namespace afterbay::server
