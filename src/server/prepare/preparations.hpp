// SPDX-License-Identifier: Apache-2.0
// Preparations: work before the first file of a collection is opened, and the answer to the model
// ranks' definitions, which waits for it. Such work takes no time from the model's first step, and
// while the ranks wait for the answer the cores are idle. Used by the ingest thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "base/ingest_thread.hpp"
#include "base/result.hpp"
#include "server/catalog.hpp"
#include "server/map_checks.hpp"
#include "server/thread_functions.hpp"
#include "storage/store.hpp"
#include "wire/server_answers.hpp"

namespace afterbay::server {

class Preparations {
 public:
  /// A task of a worker.
  using Task = AnyThreadFunction<Result<>()>;
  /// Continues in the ingest thread with the result of a task.
  using Then = IngestFunction<void(Result<>)>;
  struct Host {
    std::uint32_t server = 0;  ///< number of this server
    std::size_t workers = 0;   ///< number of workers; 0: the ingest thread runs tasks itself
    /// Gives a task to a worker.
    IngestFunction<void(Task, Then)> submit;
    /// Makes the structure that files of a format share; any thread.
    AnyThreadFunction<void(Format, const storage::FileRequest&)> make_structure;
    /// Writes the first lines of the journal; any thread. Empty: no journal is kept.
    AnyThreadFunction<Result<>()> begin_journal;
    /// Makes a buffer for a worker and faults in its first bytes; any thread.
    AnyThreadFunction<void(std::uint64_t bytes)> make_buffer;
    /// Whether files are open: workers may have much to write.
    IngestFunction<bool()> has_files;
    IngestFunction<bool()> session_failed;
    /// A task has failed.
    IngestFunction<void(Error)> fail;
    /// Sends the answer to all model ranks.
    IngestFunction<void(const wire::Defined&)> answer;
    std::size_t checkers = 1;  ///< number of servers that check maps together
    MapChecks::Host maps;
  };

  explicit Preparations(Host host)
      : host_(std::move(host)), maps_(host_.server, host_.checkers, std::move(host_.maps)) {}

  /// The maps of a batch of definitions are checked before it is complete.
  [[nodiscard]] MapChecks& maps() noexcept AFTERBAY_REQUIRES(ingest_thread) { return maps_; }

  /// Prepares a collection that was just defined: its schema is known.
  void begin(const ServedCollection& collection) AFTERBAY_REQUIRES(ingest_thread);
  /// The definitions of a batch are complete. Prepares buffers for its collections and sends the
  /// answer as soon as everything is ready; later batches are answered at once.
  void complete(const Catalog& catalog, wire::Defined answer) AFTERBAY_REQUIRES(ingest_thread);
  /// Whether ranks wait for an answer.
  [[nodiscard]] bool holds_answer() const noexcept AFTERBAY_REQUIRES(ingest_thread) {
    return answer_.has_value();
  }

 private:
  void make_structures() AFTERBAY_REQUIRES(ingest_thread);
  void begin_journal() AFTERBAY_REQUIRES(ingest_thread);
  void make_buffers(const Catalog& catalog, const wire::Defined& defined) AFTERBAY_REQUIRES(ingest_thread);
  void submit(Task task, IngestFunction<void()> then = {}) AFTERBAY_REQUIRES(ingest_thread);
  void answer_if_ready() AFTERBAY_REQUIRES(ingest_thread);

  Host host_;
  MapChecks maps_ AFTERBAY_GUARDED_BY(ingest_thread);
  /// Collections whose file structures must still be made.
  std::deque<const ServedCollection*> structures_ AFTERBAY_GUARDED_BY(ingest_thread);
  bool making_structure_ AFTERBAY_GUARDED_BY(ingest_thread) = false;
  std::size_t under_way_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;  ///< number of tasks
  bool has_buffers_ AFTERBAY_GUARDED_BY(ingest_thread) = false;
  bool has_journal_ AFTERBAY_GUARDED_BY(ingest_thread) = false;
  std::optional<wire::Defined> answer_ AFTERBAY_GUARDED_BY(ingest_thread);
};

}  // namespace afterbay::server
