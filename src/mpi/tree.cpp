// SPDX-License-Identifier: Apache-2.0
#include "mpi/tree.hpp"

#include <algorithm>
#include <climits>
#include <utility>

#include "mpi/check.hpp"
#include "mpi/request.hpp"

namespace afterbay::mpi {
namespace {

/// The transport uses 1, 2, and 16 and more on the same communicator, but only after the set-up.
constexpr int tag_of(Tree::Direction direction) {
  switch (direction) {
    case Tree::Direction::up: return 8;
    case Tree::Direction::down: return 9;
    case Tree::Direction::to_root: break;
  }
  return 10;
}

}  // namespace

TreeBranch branch_of(int rank, int size) {
  TreeBranch branch;
  branch.end = size;
  const std::int64_t lowest_bit = rank == 0 ? size : rank & -rank;
  if (rank != 0) {
    branch.parent = rank - static_cast<int>(lowest_bit);
    branch.end = static_cast<int>(std::min<std::int64_t>(rank + lowest_bit, size));
  }
  for (std::int64_t step = 1; step < lowest_bit && rank + step < size; step *= 2)
    branch.children.push_back(rank + static_cast<int>(step));
  return branch;
}

struct Tree::Transfer {
  Bytes bytes;
  Request request;
};

Tree::Tree(const Communicator& comm) : comm_(comm), branch_(branch_of(comm.rank(), comm.size())) {}

Tree::~Tree() {
  for (auto& it : outgoing_) {
    if (!it->request.active()) continue;
    it->request.abandon();
    static_cast<void>(it.release());  // MPI may still read it
  }
}

int Tree::end_of(std::size_t index) const noexcept {
  return index + 1 < branch_.children.size() ? branch_.children[index + 1] : branch_.end;
}

Result<bool> Tree::progress() {
  for (std::size_t i = 0; i < outgoing_.size();) {
    AFTERBAY_TRY_ASSIGN(const bool done, outgoing_[i]->request.test_eagerly());
    if (done)
      outgoing_.erase(outgoing_.begin() + static_cast<std::ptrdiff_t>(i));
    else
      ++i;
  }
  return outgoing_.empty();
}

Result<void> Tree::send(int to, Direction direction, Bytes bytes) {
  if (bytes.size() > INT_MAX)
    return fail(ErrorCode::resources, "a message of {} bytes between ranks: at most 2 GiB are possible",
                bytes.size());
  auto message = std::make_unique<Transfer>();
  message->bytes = std::move(bytes);
  AFTERBAY_TRY(check(MPI_Isend(message->bytes.data(), static_cast<int>(message->bytes.size()), MPI_BYTE, to,
                               tag_of(direction), comm_.get(), message->request.handle()),
                     "MPI_Isend"));
  ++messages_;
  outgoing_.push_back(std::move(message));
  AFTERBAY_TRY(progress());
  return {};
}

Result<bool> Tree::settle(Time end) {
  const BackOff back_off;
  for (;;) {
    AFTERBAY_TRY_ASSIGN(const bool all, progress());
    if (all) return true;
    if (std::chrono::steady_clock::now() >= end) return false;
    back_off.sleep(std::chrono::hours(1), true);  // long messages progress only during a look
  }
}

Result<std::optional<Tree::Incoming>> Tree::receive(std::span<const int> from, Direction direction, Time end,
                                                    Time whole) {
  const BackOff back_off;
  for (;;) {
    for (const int source : from) {
      int there = 0;
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      AFTERBAY_TRY(check(MPI_Improbe(source, tag_of(direction), comm_.get(), &there, &message, &status),
                         "MPI_Improbe"));
      if (there == 0) continue;
      int count = 0;
      MPI_Get_count(&status, MPI_BYTE, &count);
      AFTERBAY_TRY_ASSIGN(std::optional<Bytes> bytes, take(message, count, whole));
      if (!bytes) return std::nullopt;
      ++messages_;
      return Incoming{status.MPI_SOURCE, *std::move(bytes)};
    }
    AFTERBAY_TRY(progress());
    if (std::chrono::steady_clock::now() >= end) return std::nullopt;
    back_off.sleep();
  }
}

Result<std::optional<Tree::Incoming>> Tree::receive_any(Direction direction, Time end) {
  constexpr int any = MPI_ANY_SOURCE;
  return receive(std::span(&any, 1), direction, end);
}

/// A message that has begun to arrive; nothing: it is not complete at `end`.
Result<std::optional<Bytes>> Tree::take(MPI_Message message, int count, Time end) {
  auto incoming = std::make_unique<Transfer>();
  incoming->bytes.resize(static_cast<std::size_t>(count));
  AFTERBAY_TRY(
      check(MPI_Imrecv(incoming->bytes.data(), count, MPI_BYTE, &message, incoming->request.handle()),
            "MPI_Imrecv"));
  const BackOff back_off;
  for (;;) {
    Result<bool> done = incoming->request.test_eagerly();
    if (done && *done) return std::move(incoming->bytes);
    if (!done || std::chrono::steady_clock::now() >= end) {
      incoming->request.abandon();
      static_cast<void>(incoming.release());  // MPI may still write there
      if (!done) return fail(std::move(done).error());
      return std::nullopt;
    }
    AFTERBAY_TRY(progress());
    back_off.sleep(std::chrono::hours(1), true);
  }
}

}  // namespace afterbay::mpi
