// SPDX-License-Identifier: Apache-2.0
#include "mpi/communicator.hpp"

#include <climits>
#include <memory>
#include <numeric>
#include <utility>

#include "mpi/check.hpp"
#include "mpi/request.hpp"

namespace afterbay::mpi {
namespace {

/// What a collective operation reads and writes while it runs.
struct Buffers {
  Bytes own;
  int own_bytes = 0;
  std::vector<int> bytes;  ///< of each rank
  std::vector<int> begins;
  Bytes all;
};

/// Completes `request`; when it does not end, leaves the buffers to it for ever.
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
  if (comm_ != MPI_COMM_NULL && is_running()) MPI_Comm_free(&comm_);
}

Communicator::Communicator(Communicator&& other) noexcept
    : comm_(std::exchange(other.comm_, MPI_COMM_NULL)), rank_(other.rank_), size_(other.size_) {}

Communicator& Communicator::operator=(Communicator&& other) noexcept {
  std::swap(comm_, other.comm_);
  std::swap(rank_, other.rank_);
  std::swap(size_, other.size_);
  return *this;
}

Result<Communicator> Communicator::duplicate(MPI_Comm parent, Millis limit) {
  auto made = std::make_unique<MPI_Comm>(MPI_COMM_NULL);
  Request request;
  AFTERBAY_TRY(check(MPI_Comm_idup(parent, made.get(), request.handle()), "MPI_Comm_idup"));
  if (auto done = request.wait_until(limit, "duplicating the session's communicator"); !done) {
    request.abandon();
    static_cast<void>(made.release());  // MPI may still write there
    return fail(std::move(done).error());
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
