// SPDX-License-Identifier: Apache-2.0
#include "mpi/roll_call.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

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

/// Whether a message with that tag is there that can be one of ours; if so, it is received.
bool receive(MPI_Comm comm, int tag, int& source, std::vector<int>& contents) {
  int there = 0;
  MPI_Status status;
  if (MPI_Iprobe(MPI_ANY_SOURCE, tag, comm, &there, &status) != MPI_SUCCESS || there == 0) return false;
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  const bool ours = tag == finding ? bytes >= 0 && bytes % static_cast<int>(sizeof(int)) == 0 : bytes == 0;
  if (!ours) return false;  // the model's: it stays where it is
  const int count = bytes / static_cast<int>(sizeof(int));
  contents.resize(static_cast<std::size_t>(count));
  source = status.MPI_SOURCE;
  return MPI_Recv(contents.data(), count, MPI_INT, source, tag, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

/// While it lives a rank that has gone is no reason for MPI to end the job before anything is said.
class ErrorsReturn {
 public:
  explicit ErrorsReturn(MPI_Comm comm) : comm_(comm) {
    if (MPI_Comm_get_errhandler(comm_, &before_) == MPI_SUCCESS)
      MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }
  ErrorsReturn(const ErrorsReturn&) = delete;
  ErrorsReturn& operator=(const ErrorsReturn&) = delete;
  ~ErrorsReturn() {
    if (before_ == MPI_ERRHANDLER_NULL) return;
    MPI_Comm_set_errhandler(comm_, before_);
    MPI_Errhandler_free(&before_);
  }

 private:
  MPI_Comm comm_;
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

}  // namespace

RollCall::RollCall(MPI_Comm comm) : comm_(comm) {
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
  here_.resize(static_cast<std::size_t>(size_), false);
  here_[static_cast<std::size_t>(rank_)] = true;
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
  while (receive(comm_, presence, source, contents)) here_[static_cast<std::size_t>(source)] = true;
  while (receive(comm_, finding, source, contents)) {
    if (std::ranges::any_of(contents, [&](int r) { return r < 0 || r >= size_; })) continue;  // the model's
    if (!std::exchange(told_, true)) found_ = contents;  // who asks later may find nobody left to answer
  }
}

/// To those that ask, who may come when this rank has left.
void RollCall::say_present() {
  for (int r = 0; r < std::min(size_, ranks_that_ask); ++r)
    if (r != rank_) send(r, presence, {});
}

void RollCall::ask() {
  for (int r = 0; r < size_; ++r)
    if (r != rank_) send(r, question, {});
}

void RollCall::tell() {
  for (int r = 0; r < size_; ++r)
    if (!here_[static_cast<std::size_t>(r)]) found_.push_back(r);
  for (int r = 0; r < size_; ++r)
    if (r != rank_ && here_[static_cast<std::size_t>(r)]) send(r, finding, found_);
}

std::vector<int> RollCall::absent() {
  const ErrorsReturn meanwhile(comm_);
  hear();
  if (told_) return found_;
  say_present();
  const bool asks = rank_ < ranks_that_ask;
  if (asks) ask();
  const auto end = std::chrono::steady_clock::now() + (asks ? time_to_answer : time_to_be_told);
  const BackOff back_off;
  const auto known = [&] { return told_ || (asks && std::ranges::find(here_, false) == here_.end()); };
  do {
    back_off.sleep();
    hear();
  } while (!known() && std::chrono::steady_clock::now() < end);
  if (asks && !told_) {
    tell();
    hear();  // moves what was sent on
  }
  return found_;
}

}  // namespace afterbay::mpi
