// SPDX-License-Identifier: Apache-2.0
#include "mpi/roll_call.hpp"

#include <algorithm>
#include <chrono>
#include <memory>

#include "mpi/request.hpp"

namespace afterbay::mpi {
namespace {

// Below the least upper bound of tags that MPI guarantees (32767), and unlikely to be a model's own.
constexpr int question = 32'741;
constexpr int presence = 32'742;
constexpr int finding = 32'743;
constexpr int ranks_that_ask = 2;
constexpr std::chrono::milliseconds time_to_answer{1000};
constexpr std::chrono::milliseconds time_to_be_told{2000};

/// Whether a message with that tag is there; if so, it is received.
bool receive(MPI_Comm comm, int tag, int& source, std::vector<int>& contents) {
  int there = 0;
  MPI_Status status;
  if (MPI_Iprobe(MPI_ANY_SOURCE, tag, comm, &there, &status) != MPI_SUCCESS || there == 0) return false;
  int count = 0;
  MPI_Get_count(&status, MPI_INT, &count);
  contents.resize(static_cast<std::size_t>(std::max(count, 0)));
  source = status.MPI_SOURCE;
  return MPI_Recv(contents.data(), count, MPI_INT, source, tag, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

}  // namespace

RollCall::RollCall(MPI_Comm comm) : comm_(comm) {
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
}

/// Nobody waits for it to arrive: a rank that is not there never takes it.
void RollCall::send(int to, int tag, const std::vector<int>& contents) const {
  auto kept = std::make_unique<std::vector<int>>(contents);
  Request request;
  (void)MPI_Isend(kept->data(), static_cast<int>(kept->size()), MPI_INT, to, tag, comm_, request.handle());
  (void)request.test();
  if (request.active()) static_cast<void>(kept.release());  // MPI may read it at any later time
  request.abandon();
}

void RollCall::answer() {
  int source = 0;
  std::vector<int> contents;
  while (receive(comm_, question, source, contents)) send(source, presence, {});
}

void RollCall::hear() {
  answer();
  int source = 0;
  std::vector<int> contents;
  while (receive(comm_, presence, source, contents))
    if (!here_.empty()) here_[static_cast<std::size_t>(source)] = true;
  while (receive(comm_, finding, source, contents)) {
    found_ = contents;
    told_ = true;
  }
}

void RollCall::ask() {
  here_.assign(static_cast<std::size_t>(size_), false);
  here_[static_cast<std::size_t>(rank_)] = true;
  for (int r = 0; r < size_; ++r)
    if (r != rank_) send(r, question, {});
}

void RollCall::tell() {
  for (int r = 0; r < size_; ++r)
    if (!here_[static_cast<std::size_t>(r)]) found_.push_back(r);
  for (int r = ranks_that_ask; r < size_; ++r)
    if (here_[static_cast<std::size_t>(r)]) send(r, finding, found_);
}

std::vector<int> RollCall::absent() {
  const bool asks = rank_ < ranks_that_ask;
  if (asks) ask();
  const auto end = std::chrono::steady_clock::now() + (asks ? time_to_answer : time_to_be_told);
  const BackOff back_off;
  const auto known = [&] { return asks ? std::ranges::find(here_, false) == here_.end() : told_; };
  do {
    back_off.sleep();
    hear();
  } while (!known() && std::chrono::steady_clock::now() < end);
  if (asks) {
    found_.clear();
    tell();
    hear();  // moves what was sent on
  }
  return found_;
}

}  // namespace afterbay::mpi
