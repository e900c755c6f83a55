// SPDX-License-Identifier: Apache-2.0
// Server: receives messages and frames, schedules writing, publishes files, answers tickets. It
// joins transport, storage and observation. `step` is called by one thread (the ingest thread): the
// server process's own thread, or in the inline topology a background thread or the hosting model
// rank. Members and functions of that thread are annotated (base/ingest_thread.hpp); the others are
// for any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/ingest_thread.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "base/thread_safety.hpp"
#include "config/config.hpp"
#include "journal/recorder.hpp"
#include "observe/profile.hpp"
#include "server/catalog.hpp"
#include "server/completions.hpp"
#include "server/deadlines/deadline_watch.hpp"
#include "server/deadlines/diagnosis.hpp"
#include "server/epochs/epoch_keeper.hpp"
#include "server/executor.hpp"
#include "server/failure/session_failure.hpp"
#include "server/fellow_servers.hpp"
#include "server/files/file_requests.hpp"
#include "server/files/never_put.hpp"
#include "server/files/output_files.hpp"
#include "server/identity.hpp"
#include "server/inputs.hpp"
#include "server/journal/run_journal.hpp"
#include "server/load/load_balance.hpp"
#include "server/memory/frame_memory.hpp"
#include "server/prepare/preparations.hpp"
#include "server/publish/publisher.hpp"
#include "server/records.hpp"
#include "server/reduce/reducer.hpp"
#include "server/shared/shared_files.hpp"
#include "server/shutdown/shutdown.hpp"
#include "server/space/space_policy.hpp"
#include "server/string_queue.hpp"
#include "server/telemetry/server_profile.hpp"
#include "server/telemetry/telemetry.hpp"
#include "server/tickets.hpp"
#include "server/triggers/trigger_runner.hpp"
#include "server/workers.hpp"
#include "storage/store.hpp"
#include "transport/link.hpp"
#include "wire/frame_messages.hpp"

namespace afterbay::server {

class Server {
 public:
  /// `threads`: number of workers; 0: tasks run inside step(). `fellows`: links to the other
  /// servers; see FellowServers. `journal`: null: no journal is kept.
  Server(Identity identity, const config::Config& config, std::unique_ptr<transport::ServerPort> port,
         FellowServers::Links fellows, Stores stores, std::size_t threads, observe::Profile& profile,
         Logger logger, std::unique_ptr<journal::Recorder> journal = nullptr);
  ~Server();

  /// Does the work that is due; returns false if there was none.
  bool step() AFTERBAY_REQUIRES(ingest_thread);
  static constexpr transport::Millis longest_sleep{200};
  /// Sleeps until there may be work, for at most `most`.
  void wait(transport::Millis most = longest_sleep) AFTERBAY_REQUIRES(ingest_thread);
  /// The rank that hosts this server leaves after a failure: files that other ranks have not closed
  /// are given up.
  void leave() AFTERBAY_REQUIRES(ingest_thread);
  /// Before `serve`: receives the messages that have arrived. Returns whether the session has
  /// failed.
  bool catch_up() AFTERBAY_REQUIRES(ingest_thread);
  /// Ends this process before the session: all ranks and servers are told the reason. Returns when
  /// they have been told, or after `limit`. `reports`: this server prints the error; otherwise
  /// another does.
  void end_early(Error why, transport::Millis limit, bool reports = true) AFTERBAY_REQUIRES(ingest_thread);
  /// All model ranks have ended and all files are published or given up.
  [[nodiscard]] bool finished() const noexcept AFTERBAY_REQUIRES(ingest_thread) {
    return shutdown_.finished();
  }
  /// Calls step and wait until finished. Returns the first error of the session, if any.
  Result<> run() AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] const std::optional<Error>& failure() const noexcept AFTERBAY_REQUIRES(ingest_thread) {
    return failure_.error();
  }
  /// `signal` is called periodically and returns the signal that asks the run to stop, or 0. Call
  /// this before the first step.
  void stop_at(std::function<int()> signal) AFTERBAY_REQUIRES(ingest_thread) {
    shutdown_.stop_at(std::move(signal));
  }
  /// For the report; valid once the server has finished.
  [[nodiscard]] observe::ServerHistory history() const AFTERBAY_REQUIRES(ingest_thread);

 private:
  using CollectionTimers = ServerProfile::CollectionTimers;

  bool take_messages() AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] bool must_wait(std::span<const std::byte> message) const AFTERBAY_REQUIRES(ingest_thread);
  bool run_posted() AFTERBAY_REQUIRES(ingest_thread);
  Result<> handle(std::size_t peer, std::span<const std::byte> message) AFTERBAY_REQUIRES(ingest_thread);
  Result<> frame_ready(std::uint32_t pool_frame, std::uint64_t seq) AFTERBAY_REQUIRES(ingest_thread);
  Result<> define(std::size_t peer, const wire::DefineCollection& message) AFTERBAY_REQUIRES(ingest_thread);
  Result<> define(std::size_t peer, const wire::DefineEnd& message) AFTERBAY_REQUIRES(ingest_thread);
  Result<> open(std::size_t peer, wire::OpenFile message) AFTERBAY_REQUIRES(ingest_thread);
  Result<> put(std::size_t peer, const wire::Put& message) AFTERBAY_REQUIRES(ingest_thread);
  Result<> put_strings(std::size_t peer, wire::PutStrings message) AFTERBAY_REQUIRES(ingest_thread);
  Result<> end_records(std::size_t peer, const wire::EndRecords& message) AFTERBAY_REQUIRES(ingest_thread);
  Result<> close(std::size_t peer, const wire::CloseFile& message) AFTERBAY_REQUIRES(ingest_thread);
  void flush(std::size_t peer, const wire::Flush& message) AFTERBAY_REQUIRES(ingest_thread);
  void note_waiter(std::size_t peer, const wire::Waiting& message) AFTERBAY_REQUIRES(ingest_thread);
  void gave_up(std::size_t peer, wire::Abandon message) AFTERBAY_REQUIRES(ingest_thread);

  [[nodiscard]] OutputFiles::Host files_host();
  [[nodiscard]] Reducer::Host reducer_host();
  [[nodiscard]] Preparations::Host preparations_host(std::size_t workers);
  [[nodiscard]] LoadBalance::Host load_host();
  void create(OutputFile& file, SchemaChanges changes) AFTERBAY_REQUIRES(ingest_thread);
  /// Called by a worker: reports file system and stripes of a new file.
  void note_striping(const ServedCollection& collection, const storage::File& file);
  Result<> begin_record(std::size_t peer, const wire::BeginRecord& message) AFTERBAY_REQUIRES(ingest_thread);
  /// Queues what is to be done with a frame of a record with the pieces of these indices in the layout.
  Result<> take_frame(const ServedCollection& collection, std::uint64_t seq, std::uint32_t number,
                      const transport::FrameView& view, std::vector<std::uint32_t> pieces)
      AFTERBAY_REQUIRES(ingest_thread);
  /// Queues the write of a frame with the pieces of these indices in the layout.
  void write_frame(OutputFile& file, const ServedCollection& collection, std::uint64_t seq,
                   const transport::FrameView& view, std::vector<std::uint32_t> pieces)
      AFTERBAY_REQUIRES(ingest_thread);
  /// Called by a worker: writes a frame whose turn has come.
  Result<storage::WriteCost> write_queued(const Overflow::Handle& frame, const OutputFile& file,
                                          const CollectionTimers& timers);
  void erase_record(const ServedCollection& collection, std::uint64_t seq) AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] FrameMemory::Host memory_host();
  void relieve() AFTERBAY_REQUIRES(ingest_thread);
  void note_dropped(const Overflow::RecordKey& key) AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] bool is_droppable(const ServedCollection& collection) AFTERBAY_REQUIRES(ingest_thread);
  void account(const storage::WriteCost& cost, const CollectionTimers& timers);
  Result<> end_record(const ServedCollection& collection, std::uint64_t seq) AFTERBAY_REQUIRES(ingest_thread);
  void publish(OutputFile& file) AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] Publisher::Host publisher_host();

  // Called by workers, for the ingest thread; see completions.hpp.
  /// Any thread.
  template <class Completion>
  void post(Completion completion) {
    executor_.post([this, it = std::move(completion)]() AFTERBAY_REQUIRES(ingest_thread) mutable {
      // If a fellow server removed the file because the disk is full, its message arrived earlier.
      if (it.error) take_server_messages();
      if (auto done = complete(it); !done) fail(std::move(done).error());
    });
  }
  Result<> complete(FileCreated& it) AFTERBAY_REQUIRES(ingest_thread);
  Result<> complete(OpeningNoted& it) AFTERBAY_REQUIRES(ingest_thread);
  Result<> complete(FrameWritten& it) AFTERBAY_REQUIRES(ingest_thread);
  Result<> complete(SampleTaken& it) AFTERBAY_REQUIRES(ingest_thread);
  Result<> complete(StringsWritten& it) AFTERBAY_REQUIRES(ingest_thread);
  Result<> complete(EpochMarked& it) AFTERBAY_REQUIRES(ingest_thread);
  Result<> complete(PartHandedOver& it) AFTERBAY_REQUIRES(ingest_thread);
  Result<> complete(FilePublished& it) AFTERBAY_REQUIRES(ingest_thread);
  void published(const OutputFile& file) AFTERBAY_REQUIRES(ingest_thread);

  void submit_opened_note(OutputFile& file) AFTERBAY_REQUIRES(ingest_thread);
  /// Any thread: logs the warning and records it in the journal.
  void warn(const std::string& text);

  // Full disks, and stops by a signal.
  [[nodiscard]] Result<> check_wanted(const OutputFile& file) const;
  [[nodiscard]] SpacePolicy::Host space_host(bool has_workers);
  void forget_record(const ServedCollection& collection, std::uint64_t seq) AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] Shutdown::Host shutdown_host();
  void watch_links() AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] bool nothing_left() AFTERBAY_REQUIRES(ingest_thread);
  void say_goodbye() AFTERBAY_REQUIRES(ingest_thread);

  [[nodiscard]] TriggerRunner::Host trigger_host();
  void fire_published(const OutputFile& file) AFTERBAY_REQUIRES(ingest_thread);

  // Telemetry.
  [[nodiscard]] Telemetry::Host telemetry_host();
  void fill(observe::ServerState& state) AFTERBAY_REQUIRES(ingest_thread);
  void fill(std::uint32_t collection, observe::CollectionState& state) AFTERBAY_REQUIRES(ingest_thread);
  void note_taken(OutputFile& file, const Record& record) AFTERBAY_REQUIRES(ingest_thread);
  void note_written(std::uint32_t collection, const Record& record) AFTERBAY_REQUIRES(ingest_thread);

  // Files that several servers write.
  storage::FileRequest request_for(const OutputFile& file) AFTERBAY_REQUIRES(ingest_thread);
  bool take_server_messages() AFTERBAY_REQUIRES(ingest_thread);
  Result<> handle_server(std::size_t server, std::span<const std::byte> message)
      AFTERBAY_REQUIRES(ingest_thread);
  void join(OutputFile& file, SchemaChanges changes) AFTERBAY_REQUIRES(ingest_thread);
  void hand_over(OutputFile& file) AFTERBAY_REQUIRES(ingest_thread);
  void handed_over(OutputFile& file, std::vector<std::byte> account) AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] SharedFiles::Host shared_host(bool has_workers);

  // Epochs.
  [[nodiscard]] EpochKeeper::Host epoch_host();
  Result<> reach_epoch(std::size_t peer, const wire::Epoch& message) AFTERBAY_REQUIRES(ingest_thread);
  void submit_mark(OutputFile& file, storage::Epoch epoch, EpochKeeper::Parts parts)
      AFTERBAY_REQUIRES(ingest_thread);
  void note_epoch(std::uint64_t number, journal::EpochCompleted line) AFTERBAY_REQUIRES(ingest_thread);

  [[nodiscard]] Ticket ticket_for(std::size_t peer, std::uint64_t number, std::uint64_t strings) const
      AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] bool is_written(const Ticket& ticket) AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] bool is_outstanding(std::size_t peer, std::uint64_t ticket) const
      AFTERBAY_REQUIRES(ingest_thread);
  void watch() AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] Diagnosis diagnosis() AFTERBAY_REQUIRES(ingest_thread);
  void fail(Error error, Witness witness = Witness::this_server) AFTERBAY_REQUIRES(ingest_thread);
  void finish_if_done() AFTERBAY_REQUIRES(ingest_thread);

  // Members that are not guarded are constant, or their classes state for each call whether the
  // ingest thread or any thread makes it.
  Identity identity_;
  const config::Config& config_;
  std::unique_ptr<transport::ServerPort> port_;
  Logger logger_;
  RunJournal journal_;

  FileRequests requests_;
  FellowServers fellows_ AFTERBAY_GUARDED_BY(ingest_thread);
  LoadBalance load_ AFTERBAY_GUARDED_BY(ingest_thread){load_host()};
  SharedFiles shared_;

  Catalog catalog_ AFTERBAY_GUARDED_BY(ingest_thread);
  Records records_ AFTERBAY_GUARDED_BY(ingest_thread){catalog_};
  Tickets tickets_ AFTERBAY_GUARDED_BY(ingest_thread){
      [this](std::size_t peer, std::uint64_t ticket)
          AFTERBAY_REQUIRES(ingest_thread) { port_->send(peer, wire::encode(wire::Done{ticket})); }};
  EpochKeeper epochs_ AFTERBAY_GUARDED_BY(ingest_thread){epoch_host()};
  StringQueue strings_ AFTERBAY_GUARDED_BY(ingest_thread);
  Preparations preparations_ AFTERBAY_GUARDED_BY(ingest_thread);
  SpacePolicy space_;  ///< the disk of all files, also of those that `executor_` may still hold at the end
  OutputFiles files_ AFTERBAY_GUARDED_BY(ingest_thread){files_host()};
  NeverPut never_put_ AFTERBAY_GUARDED_BY(ingest_thread);
  SessionFailure failure_ AFTERBAY_GUARDED_BY(ingest_thread){identity_};
  Shutdown shutdown_;
  DeadlineWatch deadlines_ AFTERBAY_GUARDED_BY(ingest_thread);

  Executor executor_;
  FrameMemory memory_;  ///< posts to `executor_` while it ends
  Reducer reducer_;

  Telemetry telemetry_;
  TriggerRunner triggers_;

  Inputs inputs_ AFTERBAY_GUARDED_BY(ingest_thread);
  ServerProfile profile_;
  Publisher publisher_;
  Workers workers_;  ///< last member: its tasks use all of the above
};

}  // namespace afterbay::server
