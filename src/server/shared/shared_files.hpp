// SPDX-License-Identifier: Apache-2.0
// SharedFiles: what servers that write a file together tell each other. The leader makes and publishes the
// file; members write their parts in place and hand them over. See wire/server_messages.hpp. Used by the
// ingest thread, except the placers.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "server/files/output_file.hpp"
#include "server/shared/remote_places.hpp"
#include "storage/store.hpp"
#include "wire/server_messages.hpp"

namespace afterbay::server {

class SharedFiles {
 public:
  struct Host {
    std::int64_t server = 0;  ///< number of this server
    /// Null if this server has no such file, or no longer.
    std::function<OutputFile*(std::uint64_t id)> file;
    /// Member: begins the file if nothing else is missing.
    std::function<void(OutputFile&)> begin;
    /// Leader: the file has one member's part more.
    std::function<void(OutputFile&, storage::MemberEpoch)> take_part;
    std::function<void(const OutputFile&, const wire::FileShared&)> send_to_members;
    std::function<Result<>(std::size_t server, const wire::AskPlaces&)> send_question;
    std::function<Result<>(std::size_t server, const wire::Places&)> send_places;
    std::function<Result<>(std::size_t server, const wire::PartDone&)> send_part;
    /// Ends the session.
    std::function<void(Error)> fail;
    /// Makes the ingest thread call `send_questions` soon; any thread.
    std::function<void()> wake;
    /// If the ingest thread itself asks for places because there are no workers: calls `send_questions` and
    /// takes what other servers send. Else empty.
    std::function<void()> work;
  };

  /// `deadline`: for an answer of the leader.
  SharedFiles(std::chrono::milliseconds deadline, Host host);

  // Member.
  /// The leader has made the file; it may not be open here yet.
  void leader_made(wire::FileShared message);
  [[nodiscard]] bool leader_is_ready(const OutputFile& file) const { return shares_.contains(file.id); }
  /// What the leader sent for `Store::join`, once.
  [[nodiscard]] std::vector<std::byte> take_share(const OutputFile& file);
  /// Asks the leader for places; any thread. The SharedFiles outlives it.
  [[nodiscard]] std::shared_ptr<storage::Placer> placer(const OutputFile& file);
  /// Sends what placers have asked since the last call; true: there was something.
  bool send_questions();
  void take_places(wire::Places answer) { places_.answer(std::move(answer)); }
  /// The leader waits for space, or no longer: its answers are waited for as long.
  void set_busy(std::size_t leader, bool busy) { places_.set_busy(leader, busy); }
  /// Gives the complete part to the leader.
  void hand_over(const OutputFile& file, std::vector<std::byte> account);

  // Leader.
  /// Gives the members what they need to join.
  void share(const OutputFile& file, std::vector<std::byte> share);
  void answer(std::size_t member, const wire::AskPlaces& question);
  /// The file takes the account when it is published: epochs that are behind are marked before, and count it
  /// themselves.
  Result<> part_done(std::size_t member, wire::PartDone message);

  /// The file has ended here.
  void removed(const OutputFile& file) { shares_.erase(file.id); }
  /// Nothing is answered any more.
  void session_failed(const Error& error);
  /// An error between this server and another one.
  [[nodiscard]] Error error_with(std::size_t server, Error error) const;

 private:
  void check(std::size_t server, Result<> sent);

  Host host_;
  std::map<std::uint64_t, std::vector<std::byte>> shares_;  ///< of files that are not joined yet
  bool session_failed_ = false;
  RemotePlaces places_;
};

}  // namespace afterbay::server
