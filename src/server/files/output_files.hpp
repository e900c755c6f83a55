// SPDX-License-Identifier: Apache-2.0
// OutputFiles: the files that this server writes, each from the first rank's open to its end.
// Decides when a file is begun, when its tasks run, when it is published, and how it ends; `end` is
// the only way to end one. Used by the ingest thread. A call that ends files invalidates references
// to them: look them up again.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ingest_thread.hpp"
#include "base/result.hpp"
#include "server/files/output_file.hpp"
#include "server/thread_functions.hpp"
#include "wire/model_messages.hpp"

namespace afterbay::server {

class OutputFiles {
 public:
  using Task = WorkerTask;
  struct Host {
    std::size_t server = 0;  ///< number of this server
    std::size_t ranks = 0;   ///< number of model ranks
    /// Gives a task of the file to a worker.
    IngestFunction<void(const OutputFile&, Task)> run;
    /// Member: whether the leader has created the file.
    IngestFunction<bool(const OutputFile&)> leader_is_ready;
    /// Submits a task that creates or joins the file and finally calls `created` and `task_ended`.
    IngestFunction<void(OutputFile&, SchemaChanges)> create;
    /// Submits a task that records in the journal, if there is one, that the file was opened.
    IngestFunction<void(OutputFile&)> note_opened;
    /// Submits a task that publishes the file and finally calls `end` or `not_published`.
    IngestFunction<void(OutputFile&)> publish;
    /// Member: submits a task that completes the part and finally calls `part_complete` or
    /// `not_published`.
    IngestFunction<void(OutputFile&)> hand_over;
    /// Tells ranks the number of records in the file when it was opened.
    IngestFunction<void(const OutputFile&)> send_records;
    IngestFunction<void(std::size_t peer, std::uint64_t ticket)> answer;
    /// The file has its final name; for a member: its leader has published it.
    IngestFunction<void(const OutputFile&)> published;
    /// Records in the journal that the file will not be published.
    IngestFunction<void(const OutputFile&, const std::string& why)> not_published;
    /// The same for a file that was begun and is given up because the disk is full.
    IngestFunction<void(const OutputFile&, const std::string& why)> given_up;
    /// The file has ended and was removed.
    IngestFunction<void(const OutputFile&)> removed;
    /// Whether files of the collection are no longer written because the disk is full.
    IngestFunction<bool(const ServedCollection&)> is_given_up;
    /// Whether the session can continue without files of the collection if the disk is full.
    IngestFunction<bool(const ServedCollection&)> is_optional;
    /// Gives up the collection on all servers because the disk is full.
    IngestFunction<void(const ServedCollection&, const std::string& why)> give_up;
    /// From now on, calls that wait for space for the file fail.
    IngestFunction<void(const OutputFile&)> stop_space_waits;
    /// Whether all model ranks have ended.
    IngestFunction<bool()> ranks_ended;
    /// Ends the session; calls `session_failed`.
    IngestFunction<void(Error)> fail;
  };

  explicit OutputFiles(Host host) : host_(std::move(host)) {}

  // Messages from model rank `peer`.
  /// Fails (conflict) if another rank opens another file under this number.
  Result<> open(std::size_t peer, const ServedCollection& collection, wire::OpenFile message,
                std::uint64_t epochs = 0) AFTERBAY_REQUIRES(ingest_thread);
  /// Returns the file if this was the last rank to close it: call `all_closed` once its records
  /// have ended. Otherwise returns null.
  Result<OutputFile*> close(std::size_t peer, const wire::CloseFile& message)
      AFTERBAY_REQUIRES(ingest_thread);
  void all_closed(OutputFile& file) AFTERBAY_REQUIRES(ingest_thread);
  Result<> ask_records(std::size_t peer, std::uint64_t id) AFTERBAY_REQUIRES(ingest_thread);

  /// Begins a file if all its conditions are met: its changes are known, an older file of its name
  /// has ended, and for a member the leader has created it. Ranks need not wait between close and
  /// open of the same path.
  void begin(OutputFile& file) AFTERBAY_REQUIRES(ingest_thread);
  /// The file has been created. `task_ended` follows.
  void created(OutputFile& file, std::unique_ptr<storage::File> made) AFTERBAY_REQUIRES(ingest_thread);
  /// Submits a task once the file is open. The task finally calls `task_done` and `task_ended`.
  void submit(OutputFile& file, Task task) AFTERBAY_REQUIRES(ingest_thread);
  static void task_done(OutputFile& file) noexcept AFTERBAY_REQUIRES(ingest_thread) { --file.pending; }
  /// A task other than publication has ended. The file may now be published or end.
  void task_ended(OutputFile& file, std::optional<Error> error) AFTERBAY_REQUIRES(ingest_thread);
  /// The publication has failed, or a member's part could not be completed.
  void not_published(OutputFile& file, Error error) AFTERBAY_REQUIRES(ingest_thread);
  /// Member: the part is complete. Returns true if it must be handed to the leader; then call
  /// `end_hopeless`.
  [[nodiscard]] bool part_complete(OutputFile& file) AFTERBAY_REQUIRES(ingest_thread);
  /// Leader: a member has handed over its part.
  void take_part(OutputFile& file, storage::MemberEpoch part) AFTERBAY_REQUIRES(ingest_thread);

  /// Ends a file, or decides how it will end:
  ///   published   now, after its publication;
  ///   incomplete  now if its publication failed; otherwise when the session fails, as it must;
  ///   abandoned   as soon as no task uses it (after a failure of the session);
  ///   no_space    as soon as no task uses it and all ranks have closed it; then the next file of
  ///               its name may begin. If it is being published, it may still become complete.
  void end(OutputFile& file, Ending ending, const std::string& why = "") AFTERBAY_REQUIRES(ingest_thread);
  /// Model ranks contradicted each other: files that not all of them have closed end as incomplete.
  void end_unclosed() AFTERBAY_REQUIRES(ingest_thread);
  /// The session has failed. Files that all ranks have closed are still published; the others end.
  void session_failed(std::string why) AFTERBAY_REQUIRES(ingest_thread);
  /// After a failure: ends the files that can no longer become complete. Otherwise does nothing.
  void end_hopeless() AFTERBAY_REQUIRES(ingest_thread);

  [[nodiscard]] OutputFile* find(std::uint64_t id) AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] Result<OutputFile*> require(std::uint64_t id) AFTERBAY_REQUIRES(ingest_thread);
  /// Whether messages for the file are ignored, because it was given up or the session has failed.
  [[nodiscard]] bool ignores(std::uint64_t id) const AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] const std::map<std::uint64_t, OutputFile>& all() const noexcept
      AFTERBAY_REQUIRES(ingest_thread) {
    return files_;
  }
  /// Numbers of the files of a collection.
  [[nodiscard]] std::vector<std::uint64_t> of(const ServedCollection& collection) const
      AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] bool being_written() const AFTERBAY_REQUIRES(ingest_thread);
  /// Whether the ticket belongs to a close that has not been answered.
  [[nodiscard]] bool has_ticket(std::size_t peer, std::uint64_t ticket) const
      AFTERBAY_REQUIRES(ingest_thread);

 private:
  [[nodiscard]] bool can_do_without(const OutputFile& file, const Error& error) const
      AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] bool hopeless(const OutputFile& file) const AFTERBAY_REQUIRES(ingest_thread);
  /// Never returns to an earlier enumerator.
  static void set(OutputFile& file, Ending ending);
  void publish_if_complete(OutputFile& file) AFTERBAY_REQUIRES(ingest_thread);
  void submit_waiting(OutputFile& file) AFTERBAY_REQUIRES(ingest_thread);
  void send_records(OutputFile& file) AFTERBAY_REQUIRES(ingest_thread);
  void answer_tickets(const OutputFile& file) AFTERBAY_REQUIRES(ingest_thread);
  void end_for_want_of_space(OutputFile& file, const std::string& why) AFTERBAY_REQUIRES(ingest_thread);
  void close_for_want_of_space(OutputFile& file) AFTERBAY_REQUIRES(ingest_thread);
  void abandon(OutputFile& file, const std::string& why) AFTERBAY_REQUIRES(ingest_thread);
  void remove(std::uint64_t id, bool next_may_begin) AFTERBAY_REQUIRES(ingest_thread);

  Host host_;
  /// By number, which is the order of opening.
  std::map<std::uint64_t, OutputFile> files_ AFTERBAY_GUARDED_BY(ingest_thread);
  /// The reason why the session has failed.
  std::optional<std::string> failure_ AFTERBAY_GUARDED_BY(ingest_thread);
};

}  // namespace afterbay::server
