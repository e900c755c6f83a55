// SPDX-License-Identifier: Apache-2.0
// FileTasks: the tasks of workers on output files, and what only such tasks use: the stores, the
// memory of frames that wait for a worker, and the publication of several files together. A task
// ends by reporting its result, which continues in the ingest thread (completions.hpp). Used by the
// ingest thread unless stated otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/ingest_thread.hpp"
#include "base/result.hpp"
#include "config/config.hpp"
#include "server/completions.hpp"
#include "server/files/file_requests.hpp"
#include "server/files/output_file.hpp"
#include "server/memory/frame_memory.hpp"
#include "server/publish/publisher.hpp"
#include "server/records.hpp"
#include "server/reduce/frame_order.hpp"
#include "server/reduce/frame_states.hpp"
#include "server/server_identity.hpp"
#include "server/space/space_policy.hpp"
#include "server/telemetry/observation.hpp"
#include "server/thread_functions.hpp"
#include "wire/model_messages.hpp"

namespace afterbay::server {

class FileTasks {
 public:
  struct Host {
    /// Gives a task to a worker.
    IngestFunction<void(WorkerTask, int priority)> submit;
    /// Fails if there is no time left to write the file; any thread.
    AnyThreadFunction<Result<>(const std::string& path)> check_time;
    /// A task has ended; any thread. The file exists until this is called.
    AnyThreadFunction<void(FileTaskResult)> done;
    /// A frame was moved out of the server's memory: there is room. Any thread.
    AnyThreadFunction<void()> moved;
    /// A record was dropped because the server's memory is full.
    IngestFunction<void(const Overflow::RecordKey&)> dropped;
  };

  /// `workers`: their number; 0: the ingest thread runs tasks itself.
  FileTasks(const config::Config& config, const ServerIdentity& identity, Stores stores,
            transport::FramePool& frames, Observation& observation, SpacePolicy& space, std::size_t workers,
            Host host);

  // Each returns a task that is to be given to a worker.
  /// Creates the file with its changed schema. For a leader, also the data that members need to
  /// join.
  [[nodiscard]] WorkerTask create(const OutputFile& file, SchemaChanges changes)
      AFTERBAY_REQUIRES(ingest_thread);
  /// Member: opens the file that its leader created. `share`: the leader's data for Store::join.
  [[nodiscard]] WorkerTask join(const OutputFile& file, SchemaChanges changes, std::vector<std::byte> share,
                                std::shared_ptr<storage::Placer> placer) AFTERBAY_REQUIRES(ingest_thread);
  /// Records in the journal that the file was opened, before it is published, and before an epoch
  /// records that it is incomplete. The first line of a journal waits for the disk several times:
  /// another worker writes meanwhile.
  [[nodiscard]] WorkerTask note_opened(const OutputFile& file) const AFTERBAY_REQUIRES(ingest_thread);
  /// Writes pieces of a frame. The frame is in `memory` from this call on. `seq`: running number of
  /// the record.
  [[nodiscard]] WorkerTask write(OutputFile& file, FrameTask frame, std::uint64_t seq, bool droppable)
      AFTERBAY_REQUIRES(ingest_thread);
  /// Takes the samples of a frame into its states. The frame is in `memory` from this call on.
  /// `turn`: is given back with the result.
  [[nodiscard]] WorkerTask take_samples(FrameTask samples, std::uint64_t seq, const RecordHead& record,
                                        const FrameOrder::Frame& turn, FrameStates& states)
      AFTERBAY_REQUIRES(ingest_thread);
  /// Computes the results of pieces of a frame and writes them as if ranks had put them; for a file
  /// of states, a plane of these.
  [[nodiscard]] WorkerTask write_results(OutputFile& file, std::vector<std::uint32_t> pieces,
                                         std::uint64_t seq, const RecordHead& record,
                                         const FrameOrder::Frame& turn, FrameStates& states)
      AFTERBAY_REQUIRES(ingest_thread);
  /// `number`: returned by StringQueue::add.
  [[nodiscard]] WorkerTask write_strings(OutputFile& file, std::uint64_t number, wire::PutStrings message)
      AFTERBAY_REQUIRES(ingest_thread);
  /// Makes the file recoverable as it is at the epoch. `parts`: on the leader, the members' parts.
  [[nodiscard]] WorkerTask mark_epoch(OutputFile& file, storage::Epoch epoch,
                                      std::vector<storage::MemberEpoch> parts)
      AFTERBAY_REQUIRES(ingest_thread);
  /// Member: makes this server's part of the file durable and describes it for the leader.
  [[nodiscard]] WorkerTask hand_over(OutputFile& file) AFTERBAY_REQUIRES(ingest_thread);

  /// Publishes a complete file, together with others that are complete when a worker begins.
  void publish(OutputFile& file) AFTERBAY_REQUIRES(ingest_thread);

  /// Whether records of the collection may be dropped when the server's memory is full.
  [[nodiscard]] bool is_droppable(const ServedCollection& collection) AFTERBAY_REQUIRES(ingest_thread);
  /// The frames that wait for a worker or are being written. Any thread may use what is stated
  /// there.
  [[nodiscard]] FrameMemory& memory() noexcept { return memory_; }
  /// Makes the structure that files of a format share; any thread.
  void prepare(Format format, const storage::FileRequest& request);

 private:
  using CollectionTimers = ServerProfile::CollectionTimers;

  /// Fails if a task of the file must not run. Called by the worker that begins the task. Any
  /// thread.
  [[nodiscard]] Result<> check_wanted(const OutputFile& file) const;
  /// Called by a worker: writes a frame whose turn has come.
  [[nodiscard]] Result<storage::WriteCost> write_queued(Overflow::Frame& frame, const OutputFile& file,
                                                        const CollectionTimers& timers);
  [[nodiscard]] storage::FileRequest request_for(const OutputFile& file) AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] Publisher::Host publisher_host();

  const config::Config& config_;
  Observation& observation_;
  SpacePolicy& space_;
  Host host_;
  const FileRequests requests_;
  FrameMemory memory_;
  Publisher publisher_;
};

}  // namespace afterbay::server
