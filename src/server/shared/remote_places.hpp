// SPDX-License-Identifier: Apache-2.0
// RemotePlaces: workers request places in files that other servers create; the ingest thread
// exchanges the questions and answers.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ingest_thread.hpp"
#include "base/result.hpp"
#include "base/thread_safety.hpp"
#include "server/thread_functions.hpp"
#include "storage/store.hpp"
#include "wire/server_messages.hpp"

namespace afterbay::server {

class RemotePlaces {
 public:
  /// `wake`: makes the ingest thread look for questions; called by any thread. `work`: if the
  /// ingest thread itself asks (no workers), processes messages between servers.
  RemotePlaces(std::chrono::milliseconds deadline, AnyThreadFunction<void()> wake,
               AnyThreadFunction<void()> work)
      : deadline_(deadline), wake_(std::move(wake)), work_(std::move(work)) {}

  /// Any thread. Blocks until the leader has answered, the session has failed, or the deadline has
  /// passed.
  Result<std::vector<std::uint64_t>> ask(std::uint64_t file, std::size_t leader,
                                         std::span<const storage::PlaceRequest> requests);

  /// The questions to send, each with its recipient.
  std::vector<std::pair<std::size_t, wire::AskPlaces>> take_questions() AFTERBAY_REQUIRES(ingest_thread);
  void answer(wire::Places answer) AFTERBAY_REQUIRES(ingest_thread);
  /// `leader` is waiting for something itself, or no longer: waits for its answers are extended.
  void set_busy(std::size_t leader, bool busy) AFTERBAY_REQUIRES(ingest_thread);
  /// No further questions will be answered.
  void fail(const Error& error) AFTERBAY_REQUIRES(ingest_thread);

 private:
  [[nodiscard]] bool is_busy(std::size_t leader) AFTERBAY_EXCLUDES(mutex_);
  [[nodiscard]] std::optional<Result<std::vector<std::uint64_t>>> take_answer(std::uint64_t serial)
      AFTERBAY_EXCLUDES(mutex_);

  std::chrono::milliseconds deadline_;
  AnyThreadFunction<void()> wake_;
  AnyThreadFunction<void()> work_;
  Mutex mutex_;
  std::condition_variable_any answered_;
  std::uint64_t next_serial_ AFTERBAY_GUARDED_BY(mutex_) = 0;
  std::vector<std::pair<std::size_t, wire::AskPlaces>> questions_ AFTERBAY_GUARDED_BY(mutex_);
  std::map<std::uint64_t, wire::Places> answers_ AFTERBAY_GUARDED_BY(mutex_);
  std::set<std::size_t> busy_ AFTERBAY_GUARDED_BY(mutex_);
  std::optional<Error> failure_ AFTERBAY_GUARDED_BY(mutex_);
};

/// The places of one file.
class FilePlacer : public storage::Placer {
 public:
  FilePlacer(RemotePlaces& places, std::uint64_t file, std::size_t leader)
      : places_(places), file_(file), leader_(leader) {}
  Result<std::vector<std::uint64_t>> place(std::span<const storage::PlaceRequest> requests) override {
    return places_.ask(file_, leader_, requests);
  }

 private:
  RemotePlaces& places_;
  std::uint64_t file_;
  std::size_t leader_;
};

}  // namespace afterbay::server
