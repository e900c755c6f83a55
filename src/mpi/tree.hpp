// SPDX-License-Identifier: Apache-2.0
// A binomial tree over the ranks of a communicator, on point-to-point messages with deadlines. Each
// rank exchanges messages with its parent and its children only: at most log2(N) + 1 other ranks.
// See design/0067-start-by-trees.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "mpi/communicator.hpp"

namespace afterbay::mpi {

/// A branch of the tree, whose root is rank 0. Its lowest rank and all ranks below it are the
/// consecutive ranks from the rank itself to `end` - 1.
struct TreeBranch {
  int parent = -1;            ///< -1: the root
  std::vector<int> children;  ///< ascending; child i has the ranks up to child i + 1, or up to `end`
  int end = 0;
  /// Levels below it; 0: no children.
  [[nodiscard]] int height() const noexcept { return static_cast<int>(children.size()); }
};

TreeBranch branch_of(int rank, int size);

/// The messages of one rank. All members are called by the MPI thread; the communicator must
/// outlive the tree. After a failure messages may be in transit: see Communicator::leave_behind.
class Tree {
 public:
  explicit Tree(const Communicator& comm);
  ~Tree();
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  [[nodiscard]] int rank() const noexcept { return comm_.rank(); }
  [[nodiscard]] int size() const noexcept { return comm_.size(); }
  [[nodiscard]] const TreeBranch& branch() const noexcept { return branch_; }
  /// The end, exclusive, of the ranks below child number `index`, the child included.
  [[nodiscard]] int end_of(std::size_t index) const noexcept;

  using Time = std::chrono::steady_clock::time_point;
  /// `to_root`: from any rank to the root, past the tree.
  enum class Direction : std::uint8_t { up, down, to_root };
  struct Incoming {
    int from = 0;
    Bytes bytes;
  };
  /// The first message of one of the ranks `from` in that direction; nothing: none arrived before
  /// `end`. `whole`: until when a message that has begun to arrive may take; then it is lost.
  Result<std::optional<Incoming>> receive(std::span<const int> from, Direction direction, Time end,
                                          Time whole);
  Result<std::optional<Incoming>> receive(std::span<const int> from, Direction direction, Time end) {
    return receive(from, direction, end, end);
  }
  Result<std::optional<Incoming>> receive(int from, Direction direction, Time end) {
    return receive(std::span(&from, 1), direction, end);
  }
  /// The first message of any rank; one probe per look, whatever the number of ranks.
  Result<std::optional<Incoming>> receive_any(Direction direction, Time end);
  /// Does not wait until the message is received. At most 2 GiB.
  Result<void> send(int to, Direction direction, Bytes bytes);
  /// Whether all messages of this rank were taken by MPI before `end`.
  Result<bool> settle(Time end);
  /// Messages of this rank that MPI had not taken at the last look.
  [[nodiscard]] std::size_t on_the_way() const noexcept { return outgoing_.size(); }

  /// Messages that this rank has sent and received with this tree.
  [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }

 private:
  struct Transfer;
  Result<bool> progress();
  Result<std::optional<Bytes>> take(MPI_Message message, int count, Time end);

  const Communicator& comm_;
  TreeBranch branch_;
  std::vector<std::unique_ptr<Transfer>> outgoing_;
  std::uint64_t messages_ = 0;
};

}  // namespace afterbay::mpi
