// SPDX-License-Identifier: Apache-2.0
#include "mpi/roll_call.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "mpi/request.hpp"

namespace afterbay::mpi {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::string_view mark = "Afterbay roll call ";
/// Each message begins with this many bytes (the mark, repeated) followed by 32-bit numbers. Its
/// odd length distinguishes it from the model's messages before it is received: those consist of
/// numbers of two or more bytes, or of text of other lengths. It is small enough for MPI to send it
/// eagerly.
constexpr std::size_t prefix_bytes = 251;

Bytes message_of(const std::vector<int>& contents) {
  Bytes bytes(prefix_bytes + contents.size() * sizeof(int));
  for (std::size_t i = 0; i < prefix_bytes; ++i) bytes[i] = static_cast<std::byte>(mark[i % mark.size()]);
  if (!contents.empty()) std::memcpy(&bytes[prefix_bytes], contents.data(), contents.size() * sizeof(int));
  return bytes;
}

/// Nothing: it is not one of ours.
std::optional<std::vector<int>> contents_of(const Bytes& bytes) {
  std::vector<int> contents((bytes.size() - prefix_bytes) / sizeof(int));
  if (!contents.empty()) std::memcpy(contents.data(), &bytes[prefix_bytes], contents.size() * sizeof(int));
  if (message_of(contents) != bytes) return std::nullopt;
  return contents;
}

constexpr int ranks_that_ask = 2;
constexpr std::chrono::milliseconds time_to_answer{1000};
constexpr std::chrono::milliseconds time_to_be_told{2000};

/// While it exists, a lost rank does not make MPI end the job before the error is reported.
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
  int* highest = nullptr;
  int known = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&highest), &known);
  if (known != 0 && highest != nullptr) highest_tag_ = *highest;
  here_.resize(static_cast<std::size_t>(size_), false);
  here_[static_cast<std::size_t>(rank_)] = true;
}

/// The message is not awaited: a missing rank never receives it.
void RollCall::send(int to, Subject subject, const std::vector<int>& contents) const {
  auto kept = std::make_unique<Bytes>(message_of(contents));
  Request request;
  (void)MPI_Isend(kept->data(), static_cast<int>(kept->size()), MPI_BYTE, to, highest_tag_ - subject, comm_,
                  request.handle());
  (void)request.test();
  if (request.active()) static_cast<void>(kept.release());  // MPI may read it at any later time
  request.abandon();
}

/// Whether a message of that subject has arrived; if so, it is received. A message whose length
/// shows that it is not one of ours is left alone.
bool RollCall::receive(Subject subject, int& source, std::vector<int>& contents) const {
  int there = 0;
  MPI_Status status;
  const int tag = highest_tag_ - subject;
  if (MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_, &there, &status) != MPI_SUCCESS || there == 0) return false;
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  const auto length = static_cast<std::size_t>(bytes);
  const std::size_t most = subject == finding ? static_cast<std::size_t>(size_) : 0;
  if (length < prefix_bytes || length > prefix_bytes + most * sizeof(int) ||
      (length - prefix_bytes) % sizeof(int) != 0)
    return false;
  Bytes message(length);
  source = status.MPI_SOURCE;
  if (MPI_Recv(message.data(), bytes, MPI_BYTE, source, tag, comm_, MPI_STATUS_IGNORE) != MPI_SUCCESS)
    return false;
  auto said = contents_of(message);
  if (said) contents = *std::move(said);
  return said.has_value();
}

void RollCall::answer() {
  int source = 0;
  std::vector<int> contents;
  while (receive(question, source, contents)) send(source, presence, {});
}

void RollCall::hear() {
  answer();
  int source = 0;
  std::vector<int> contents;
  while (receive(presence, source, contents)) here_[static_cast<std::size_t>(source)] = true;
  while (receive(finding, source, contents)) {
    if (std::ranges::any_of(contents, [&](int r) { return r < 0 || r >= size_; })) continue;  // the model's
    if (!std::exchange(told_, true)) found_ = contents;  // later, no rank may be left to answer
  }
}

/// Sends to the ranks that ask; they may ask after this rank has left.
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
    hear();  // makes MPI progress on the messages sent
  }
  return found_;
}

}  // namespace afterbay::mpi
