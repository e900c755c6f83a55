// SPDX-License-Identifier: Apache-2.0
#include "mpi/communicator.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/rank_names.hpp"
#include "mpi/check.hpp"
#include "mpi/request.hpp"
#include "mpi/roll_call.hpp"

namespace afterbay::mpi {

Communicator::Communicator(MPI_Comm comm) : comm_(comm) {
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
}

Communicator::~Communicator() {
  if (comm_ == MPI_COMM_NULL || !is_running() || farewell_ < Millis(0)) return;
  if (farewell_ == Millis(0) || empty_and_all_here()) MPI_Comm_free(&comm_);
}

namespace {

/// A message that is received and discarded.
class Discarded {
 public:
  /// False if none has arrived.
  bool begin(MPI_Comm comm) {
    int there = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    if (MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &there, &message, &status) != MPI_SUCCESS ||
        there == 0)
      return false;
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    bytes_.resize(static_cast<std::size_t>(std::max(count, 0)));
    MPI_Imrecv(bytes_.data(), count, MPI_BYTE, &message, request_.handle());
    return true;
  }
  bool complete() {
    const Result<bool> done = request_.test();
    return !done || *done;
  }
  /// MPI may still write there.
  void leave() {
    if (request_.active()) static_cast<void>(new Bytes(std::move(bytes_)));
    request_.abandon();
  }

 private:
  Bytes bytes_;
  Request request_;
};

}  // namespace

bool Communicator::empty_and_all_here() const {
  const auto end = std::chrono::steady_clock::now() + farewell_;
  constexpr int quiet_looks = 3;  // after all ranks have come: by then their earlier messages have
                                  // arrived
  Request all_here;
  if (MPI_Ibarrier(comm_, all_here.handle()) != MPI_SUCCESS) return false;
  Discarded message;
  BackOff back_off;
  int quiet = 0;
  while (quiet < quiet_looks && std::chrono::steady_clock::now() < end) {
    if (message.complete() && message.begin(comm_)) {
      quiet = 0;
      continue;
    }
    const Result<bool> here = all_here.test();
    if (!here) break;
    if (*here && message.complete()) ++quiet;
    back_off.sleep();
  }
  message.leave();
  if (all_here.active()) all_here.abandon();
  return quiet == quiet_looks;
}

Communicator::Communicator(Communicator&& other) noexcept
    : comm_(std::exchange(other.comm_, MPI_COMM_NULL)),
      rank_(other.rank_),
      size_(other.size_),
      farewell_(other.farewell_) {}

Communicator& Communicator::operator=(Communicator&& other) noexcept {
  std::swap(comm_, other.comm_);
  std::swap(rank_, other.rank_);
  std::swap(size_, other.size_);
  std::swap(farewell_, other.farewell_);
  return *this;
}

Result<Communicator> Communicator::duplicate(MPI_Comm parent, Millis limit, const Roll& roll) {
  auto made = std::make_unique<MPI_Comm>(MPI_COMM_NULL);
  Request request;
  AFTERBAY_TRY(check(MPI_Comm_idup(parent, made.get(), request.handle()), "MPI_Comm_idup"));
  RollCall roll_call(parent);
  if (auto done = request.wait_until(limit, "duplicating the session's communicator",
                                     [&roll_call] { roll_call.answer(); });
      !done) {
    request.abandon();
    static_cast<void>(made.release());  // MPI may still write there
    std::vector<int> absent = roll_call.absent();
    if (absent.empty()) return fail(std::move(done).error());
    if (roll.numbers != nullptr && !roll.numbers->empty())
      for (int& rank : absent) rank = roll.numbers->at(static_cast<std::size_t>(rank));
    return fail(ErrorCode::timed_out, "{} did not arrive within {} ms: {}", name_ranks(absent), limit.count(),
                roll.question);
  }
  AFTERBAY_TRY(check(MPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler"));
  return Communicator(*made);
}

Result<void> Communicator::barrier(Millis limit) const {
  Request request;
  AFTERBAY_TRY(check(MPI_Ibarrier(comm_, request.handle()), "MPI_Ibarrier"));
  auto done = request.wait_until(limit, "a barrier of all ranks");
  if (!done) request.abandon();
  return done;
}

}  // namespace afterbay::mpi
