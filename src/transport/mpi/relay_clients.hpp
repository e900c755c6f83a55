// SPDX-License-Identifier: Apache-2.0
// RelayClients: the state that a frontend keeps of its model ranks: which are still present, the
// rings of those on its node, and the answers that wait for room in a ring. Only rings that have
// been written to are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/process_watch.hpp"
#include "transport/active_list.hpp"
#include "transport/mpi/relay_options.hpp"
#include "transport/relay/channel.hpp"

namespace afterbay::transport::network {

/// Used by one thread. Refers to the options.
class RelayClients {
 public:
  enum class Life : std::uint8_t { present, ended, died };
  /// Returns whether the note counts as work.
  using TakeNote =
      std::function<bool(std::size_t client, const relay::Note& note, std::span<const std::byte> message)>;
  using ForClient = std::function<void(std::size_t client)>;

  explicit RelayClients(const RelayOptions& options);

  [[nodiscard]] std::size_t size() const noexcept { return states_.size(); }
  [[nodiscard]] const RelayOptions::Client& of(std::size_t client) const { return options_.clients[client]; }
  /// Whether it is on this node; otherwise it sends and receives by MPI.
  [[nodiscard]] bool is_near(std::size_t client) const { return of(client).slot.has_value(); }
  [[nodiscard]] Life life(std::size_t client) const { return states_[client].life; }
  [[nodiscard]] bool is_present(std::size_t client) const { return life(client) == Life::present; }
  /// Number of those that have ended or died.
  [[nodiscard]] std::size_t gone() const noexcept { return gone_; }
  /// It has ended, if it was present.
  void end(std::size_t client);

  /// Reads the rings of ranks that have written since the last call. Returns whether there was
  /// work.
  bool take_notes(const TakeNote& take);
  /// Number of rings that `take_notes` has looked into so far.
  [[nodiscard]] std::uint64_t rings_read() const noexcept { return rings_read_; }
  /// Looks after some ranks of this node in each call: whether they have ended or died. Calls
  /// `left` for those that just did, and `reclaim` once for each of them, after its ring has been
  /// read.
  void watch(const ForClient& left, const ForClient& reclaim);

  /// An answer for a rank of this node, in the form of relay::Answer and what follows it.
  void keep(std::size_t client, Bytes answer);
  /// Answers of this rank that have not been written to its ring.
  [[nodiscard]] std::size_t kept(std::size_t client) const { return states_[client].kept.size(); }
  /// Writes as far as there is room; true: did something. `written`: an answer that is complete.
  bool write_answers(const std::function<void(const Bytes& answer)>& written);

  /// Names of the clients that are present, as in errors.
  [[nodiscard]] std::string names_of_present() const;
  /// Memory of one of them.
  static std::size_t state_bytes() noexcept {
    return sizeof(State) + sizeof(RelayOptions::Client) + sizeof(shm::RingReader) + sizeof(shm::RingWriter) +
           sizeof(std::size_t);
  }

 private:
  struct State {
    Life life = Life::present;
    std::unique_ptr<shm::RingReader> notes;
    std::unique_ptr<shm::RingWriter> down;
    std::list<Bytes> kept;  ///< answers that did not fit into the ring
    std::size_t kept_sent = 0;
    std::optional<ProcessWatch> process;
    bool reclaimed = false;  ///< it is gone, and the segments that it had taken are free again
  };
  void set_life(std::size_t client, Life life);
  bool read(std::size_t client, const TakeNote& take);
  bool write(std::size_t client, const std::function<void(const Bytes& answer)>& written);
  void watch_one(std::size_t client, const ForClient& left, const ForClient& reclaim);
  [[nodiscard]] bool has_note(std::size_t client);

  const RelayOptions& options_;
  std::vector<State> states_;
  std::vector<std::size_t> by_slot_;
  ActiveList writing_;    ///< clients whose rings may have something to read
  ActiveList answering_;  ///< with kept answers
  std::size_t gone_ = 0;
  std::size_t next_watched_ = 0;
  std::uint64_t rings_read_ = 0;
};

}  // namespace afterbay::transport::network
