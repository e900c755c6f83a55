// SPDX-License-Identifier: Apache-2.0
// SharedFiles: the messages between servers that write a file together. The leader creates and
// publishes the file; members write their parts in place and hand them over. See
// wire/server_messages.hpp. Used by the ingest thread, except the placers.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/ingest_thread.hpp"
#include "base/result.hpp"
#include "server/files/output_file.hpp"
#include "server/shared/remote_places.hpp"
#include "server/thread_functions.hpp"
#include "storage/store.hpp"
#include "wire/server_messages.hpp"

namespace afterbay::server {

class SharedFiles {
 public:
  struct Host {
    std::int64_t server = 0;  ///< number of this server
    /// Null if this server does not have the file, or no longer has it.
    IngestFunction<OutputFile*(std::uint64_t id)> file;
    /// Member: begins the file if all other conditions are met.
    IngestFunction<void(OutputFile&)> begin;
    /// Leader: adds a member's part to the file.
    IngestFunction<void(OutputFile&, storage::MemberEpoch)> take_part;
    IngestFunction<void(const OutputFile&, const wire::FileShared&)> send_to_members;
    IngestFunction<Result<>(std::size_t server, const wire::AskPlaces&)> send_question;
    IngestFunction<Result<>(std::size_t server, const wire::Places&)> send_places;
    IngestFunction<Result<>(std::size_t server, const wire::PartDone&)> send_part;
    /// Ends the session.
    IngestFunction<void(Error)> fail;
    /// Makes the ingest thread call `send_questions` soon; any thread.
    AnyThreadFunction<void()> wake;
    /// If there are no workers, the ingest thread itself requests places: then this calls
    /// `send_questions` and receives messages of other servers. Otherwise empty.
    AnyThreadFunction<void()> work;
  };

  /// `deadline`: for an answer of the leader.
  SharedFiles(std::chrono::milliseconds deadline, Host host);

  // Member.
  /// The leader has created the file; it may not be open on this server yet.
  void leader_made(wire::FileShared message) AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] bool leader_is_ready(const OutputFile& file) const AFTERBAY_REQUIRES(ingest_thread) {
    return shares_.contains(file.id);
  }
  /// Returns, once, the leader's data for `Store::join`.
  [[nodiscard]] std::vector<std::byte> take_share(const OutputFile& file) AFTERBAY_REQUIRES(ingest_thread);
  /// Requests places from the leader; any thread. The SharedFiles must outlive it.
  [[nodiscard]] std::shared_ptr<storage::Placer> placer(const OutputFile& file);
  /// Sends the questions that placers have asked since the last call; returns true if there were
  /// any.
  bool send_questions() AFTERBAY_REQUIRES(ingest_thread);
  void take_places(wire::Places answer) AFTERBAY_REQUIRES(ingest_thread) {
    places_.answer(std::move(answer));
  }
  /// The leader is waiting for space, or no longer: waits for its answers are extended.
  void set_busy(std::size_t leader, bool busy) AFTERBAY_REQUIRES(ingest_thread) {
    places_.set_busy(leader, busy);
  }
  /// Hands the complete part over to the leader.
  void hand_over(const OutputFile& file, std::vector<std::byte> account) AFTERBAY_REQUIRES(ingest_thread);

  // Leader.
  /// Sends the members the data that they need to join.
  void share(const OutputFile& file, std::vector<std::byte> share) AFTERBAY_REQUIRES(ingest_thread);
  void answer(std::size_t member, const wire::AskPlaces& question) AFTERBAY_REQUIRES(ingest_thread);
  /// The file adds the part when it is published: epochs that are still in progress are marked
  /// before that, and add the part themselves.
  Result<> part_done(std::size_t member, wire::PartDone message) AFTERBAY_REQUIRES(ingest_thread);

  /// The file has ended here.
  void removed(const OutputFile& file) AFTERBAY_REQUIRES(ingest_thread) { shares_.erase(file.id); }
  /// No further questions are answered.
  void session_failed(const Error& error) AFTERBAY_REQUIRES(ingest_thread);
  /// An error between this server and another one.
  [[nodiscard]] Error error_with(std::size_t server, Error error) const;

 private:
  void check(std::size_t server, Result<> sent) AFTERBAY_REQUIRES(ingest_thread);

  Host host_;
  /// Shares of files that are not joined yet.
  std::map<std::uint64_t, std::vector<std::byte>> shares_ AFTERBAY_GUARDED_BY(ingest_thread);
  bool session_failed_ AFTERBAY_GUARDED_BY(ingest_thread) = false;
  RemotePlaces places_;
};

}  // namespace afterbay::server
