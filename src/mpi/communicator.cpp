// SPDX-License-Identifier: Apache-2.0
#include "mpi/communicator.hpp"

#include <algorithm>
#include <climits>
#include <memory>
#include <numeric>
#include <utility>

#include "base/rank_names.hpp"
#include "mpi/check.hpp"
#include "mpi/request.hpp"
#include "mpi/roll_call.hpp"

namespace afterbay::mpi {
namespace {

/// The buffers that a collective operation reads and writes while it runs.
struct Buffers {
  Bytes own;
  int own_bytes = 0;
  std::vector<int> bytes;  ///< per rank
  std::vector<int> begins;
  Bytes all;
};

/// Completes `request`; if it does not end, leaks the buffers, because MPI may still use them.
Result<void> finish(Request& request, Millis limit, const char* what, std::unique_ptr<Buffers>& buffers) {
  auto done = request.wait_until(limit, what);
  if (!done && request.active()) {
    request.abandon();
    static_cast<void>(buffers.release());  // MPI may still write there
  }
  return done;
}

Result<void> place_parts(Buffers& buffers) {
  std::int64_t sum = 0;
  buffers.begins.resize(buffers.bytes.size());
  for (std::size_t i = 0; i < buffers.bytes.size(); ++i) {
    buffers.begins[i] = static_cast<int>(sum);
    sum += buffers.bytes[i];
    if (sum > INT_MAX)
      return fail(ErrorCode::resources, "ranks exchange more than 2 GiB in one collective operation");
  }
  buffers.all.resize(static_cast<std::size_t>(sum));
  return {};
}

std::vector<Bytes> split_parts(const Buffers& buffers) {
  std::vector<Bytes> parts(buffers.bytes.size());
  for (std::size_t i = 0; i < parts.size(); ++i)
    parts[i].assign(buffers.all.begin() + buffers.begins[i],
                    buffers.all.begin() + buffers.begins[i] + buffers.bytes[i]);
  return parts;
}

Result<std::unique_ptr<Buffers>> make_buffers(std::span<const std::byte> own, int ranks) {
  if (own.size() > INT_MAX)
    return fail(ErrorCode::resources, "a rank hands {} bytes to one collective operation", own.size());
  auto buffers = std::make_unique<Buffers>();
  buffers->own.assign(own.begin(), own.end());
  buffers->own_bytes = static_cast<int>(own.size());
  buffers->bytes.resize(static_cast<std::size_t>(ranks));
  return buffers;
}

}  // namespace

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
    if (!roll.numbers.empty())
      for (int& rank : absent) rank = roll.numbers[static_cast<std::size_t>(rank)];
    return fail(ErrorCode::timed_out, "{} did not come here within {} ms: {}", name_ranks(absent),
                limit.count(), roll.question);
  }
  AFTERBAY_TRY(check(MPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler"));
  return Communicator(*made);
}

Result<void> Communicator::barrier(Millis limit) const {
  Request request;
  AFTERBAY_TRY(check(MPI_Ibarrier(comm_, request.handle()), "MPI_Ibarrier"));
  std::unique_ptr<Buffers> none;
  return finish(request, limit, "a barrier of all ranks", none);
}

Result<std::vector<Bytes>> Communicator::all_gather(std::span<const std::byte> own, Millis limit) const {
  AFTERBAY_TRY_ASSIGN(auto buffers, make_buffers(own, size_));
  Request request;
  AFTERBAY_TRY(check(MPI_Iallgather(&buffers->own_bytes, 1, MPI_INT, buffers->bytes.data(), 1, MPI_INT, comm_,
                                    request.handle()),
                     "MPI_Iallgather"));
  AFTERBAY_TRY(finish(request, limit, "an exchange between all ranks", buffers));
  AFTERBAY_TRY(place_parts(*buffers));
  AFTERBAY_TRY(
      check(MPI_Iallgatherv(buffers->own.data(), buffers->own_bytes, MPI_BYTE, buffers->all.data(),
                            buffers->bytes.data(), buffers->begins.data(), MPI_BYTE, comm_, request.handle()),
            "MPI_Iallgatherv"));
  AFTERBAY_TRY(finish(request, limit, "an exchange between all ranks", buffers));
  return split_parts(*buffers);
}

Result<std::vector<Bytes>> Communicator::gather(std::span<const std::byte> own, int root,
                                                Millis limit) const {
  AFTERBAY_TRY_ASSIGN(auto buffers, make_buffers(own, size_));
  Request request;
  AFTERBAY_TRY(check(MPI_Igather(&buffers->own_bytes, 1, MPI_INT, buffers->bytes.data(), 1, MPI_INT, root,
                                 comm_, request.handle()),
                     "MPI_Igather"));
  AFTERBAY_TRY(finish(request, limit, "a gather from all ranks", buffers));
  if (rank_ == root) AFTERBAY_TRY(place_parts(*buffers));
  AFTERBAY_TRY(check(
      MPI_Igatherv(buffers->own.data(), buffers->own_bytes, MPI_BYTE, buffers->all.data(),
                   buffers->bytes.data(), buffers->begins.data(), MPI_BYTE, root, comm_, request.handle()),
      "MPI_Igatherv"));
  AFTERBAY_TRY(finish(request, limit, "a gather from all ranks", buffers));
  return rank_ == root ? split_parts(*buffers) : std::vector<Bytes>();
}

Result<Bytes> Communicator::broadcast(std::span<const std::byte> from_root, int root, Millis limit) const {
  AFTERBAY_TRY_ASSIGN(auto buffers,
                      make_buffers(rank_ == root ? from_root : std::span<const std::byte>{}, size_));
  Request request;
  AFTERBAY_TRY(
      check(MPI_Ibcast(&buffers->own_bytes, 1, MPI_INT, root, comm_, request.handle()), "MPI_Ibcast"));
  AFTERBAY_TRY(finish(request, limit, "a broadcast to all ranks", buffers));
  buffers->own.resize(static_cast<std::size_t>(buffers->own_bytes));
  AFTERBAY_TRY(
      check(MPI_Ibcast(buffers->own.data(), buffers->own_bytes, MPI_BYTE, root, comm_, request.handle()),
            "MPI_Ibcast"));
  AFTERBAY_TRY(finish(request, limit, "a broadcast to all ranks", buffers));
  return std::move(buffers->own);
}

}  // namespace afterbay::mpi
