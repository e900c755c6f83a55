// SPDX-License-Identifier: Apache-2.0
// Arrivals: the messages that a frontend receives over MPI, from ranks on other nodes and from
// servers. What one process sends is delivered in order, except for pings and words. Memory for the
// large segments of ranks is bounded: one each, and a number of common ones; those for which there
// is none stay with the rank that sends them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "mpi/communicator.hpp"
#include "mpi/request.hpp"
#include "transport/active_list.hpp"
#include "transport/mpi/stream.hpp"

namespace afterbay::transport::network {

/// Used by one thread.
class Arrivals {
 public:
  using Deliver = std::function<void(int source, int tag, Bytes message)>;
  /// Receives a data message from a server.
  using FoundData = std::function<void(int source, int tag, std::size_t bytes, MPI_Message message)>;

  /// `far`: the ranks that send segments. `common`: number of large segments that may wait here in
  /// addition to one for each of them.
  Arrivals(std::shared_ptr<const mpi::Communicator> comm, const std::vector<int>& far, std::size_t common);
  ~Arrivals();
  Arrivals(const Arrivals&) = delete;
  Arrivals& operator=(const Arrivals&) = delete;

  struct Progress {
    bool began = false;      ///< the transfer of more than a header has begun
    bool delivered = false;  ///< more than headers were delivered
  };
  /// Receives what has arrived, as far as there is memory, and delivers what is complete.
  Result<Progress> look(const Deliver& deliver, const FoundData& found_data);
  /// Whether transfers are in progress, which only advance during a look.
  [[nodiscard]] bool receiving() const noexcept { return !incoming_.empty(); }
  /// Whether messages of this rank wait for memory.
  [[nodiscard]] bool holds_back(int rank) const;
  /// The memory of a segment that was delivered.
  void give_back(int rank, Bytes segment);

 private:
  struct Incoming {
    std::uint64_t order = 0;  ///< position in the order in which messages were found
    int source = 0;
    int tag = 0;
    Bytes buffer;
    mpi::Request request;
  };
  /// A large segment that waits for memory, or a small one behind it.
  struct HeldBack {
    std::uint64_t order = 0;
    int tag = 0;
    std::size_t bytes = 0;
    MPI_Message message = MPI_MESSAGE_NULL;  ///< not received yet; null: `small`
    Bytes small;
  };
  struct Sender {
    std::deque<HeldBack> held_back;  ///< in order
    std::size_t large = 0;           ///< large segments that wait here
  };

  Result<bool> probe(const FoundData& found_data, Progress& progress);
  Result<void> receive(Incoming incoming, std::size_t bytes, MPI_Message message);
  Result<void> complete(const Deliver& deliver, Progress& progress);
  /// Delivers, or holds back behind a large segment of the same rank.
  void arrived(Incoming incoming, const Deliver& deliver);
  Result<void> take_held_back(int rank, Sender& sender, const Deliver& deliver, Progress& progress);
  void hold_back(int rank, Sender& sender, std::deque<HeldBack>::iterator before, HeldBack held);
  /// Whether a message of this rank that was found before `order` is being received.
  [[nodiscard]] bool is_receiving(int rank, std::uint64_t order) const;

  std::shared_ptr<const mpi::Communicator> comm_;
  std::unordered_map<int, Sender> far_;
  std::size_t common_free_;
  std::size_t most_large_;
  std::size_t large_ = 0;    ///< large segments that wait here
  std::uint64_t found_ = 0;  ///< number of messages so far
  ActiveList holding_;       ///< ranks with something in their queues
  std::deque<Incoming> incoming_;
  std::vector<Bytes> spare_;  ///< free buffers of large segments; with those in use `most_large_`
};

}  // namespace afterbay::transport::network
