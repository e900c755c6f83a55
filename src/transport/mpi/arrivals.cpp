// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi/arrivals.hpp"

#include <algorithm>
#include <utility>

#include "mpi/check.hpp"

namespace afterbay::transport::network {
namespace {

bool is_large(std::size_t bytes) { return bytes > small_segment_bytes; }

/// Small data keep their place behind larger ones; headers and words do not.
bool keeps_place(const Bytes& message) {
  return message.size() > sizeof(SegmentHeader) && !is_large(message.size()) &&
         read_header<SegmentHeader>(message.data()).kind != SegmentKind::word;
}

}  // namespace

Arrivals::Arrivals(std::shared_ptr<const mpi::Communicator> comm, const std::vector<int>& far,
                   std::size_t common)
    : comm_(std::move(comm)), common_free_(common), most_large_(far.size() + common) {
  for (const int rank : far) far_.try_emplace(rank);
}

Arrivals::~Arrivals() {
  for (Incoming& it : incoming_) {
    if (it.request.active()) static_cast<void>(new Bytes(std::move(it.buffer)));  // MPI may still write it
    it.request.abandon();
  }
}

Result<Arrivals::Progress> Arrivals::look(const Deliver& deliver, const FoundData& found_data) {
  Progress progress;
  for (;;) {
    AFTERBAY_TRY_ASSIGN(const bool found, probe(found_data, progress));
    if (!found) break;
  }
  AFTERBAY_TRY(complete(deliver, progress));
  Result<void> taken;
  holding_.visit([&](std::size_t rank) {
    Sender& sender = far_.at(static_cast<int>(rank));
    if (taken) taken = take_held_back(static_cast<int>(rank), sender, deliver, progress);
    return !sender.held_back.empty();
  });
  AFTERBAY_TRY(std::move(taken));
  return progress;
}

bool Arrivals::holds_back(int rank) const {
  const auto sender = far_.find(rank);
  return sender != far_.end() && !sender->second.held_back.empty();
}

void Arrivals::give_back(int rank, Bytes segment) {
  if (!is_large(segment.size())) return;
  if (--far_.at(rank).large > 0) ++common_free_;
  if (--large_ + spare_.size() < most_large_) spare_.push_back(std::move(segment));
}

Result<bool> Arrivals::probe(const FoundData& found_data, Progress& progress) {
  int found = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  AFTERBAY_TRY(mpi::check(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_->get(), &found, &message, &status),
                          "MPI_Improbe"));
  if (found == 0) return false;
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  const auto bytes = static_cast<std::size_t>(count);
  progress.began = progress.began || bytes > sizeof(BatchHeader);
  if (is_relay_data(status.MPI_TAG)) {
    found_data(status.MPI_SOURCE, status.MPI_TAG, bytes, message);
    return true;
  }
  const std::uint64_t order = ++found_;
  const auto sender = far_.find(status.MPI_SOURCE);
  if (sender != far_.end() && is_large(bytes)) {
    hold_back(status.MPI_SOURCE, sender->second, sender->second.held_back.end(),
              {order, status.MPI_TAG, bytes, message, {}});
  } else {
    AFTERBAY_TRY(receive({order, status.MPI_SOURCE, status.MPI_TAG, {}, {}}, bytes, message));
  }
  return true;
}

Result<void> Arrivals::receive(Incoming incoming, std::size_t bytes, MPI_Message message) {
  Incoming& it = incoming_.emplace_back(std::move(incoming));
  if (is_large(bytes) && !spare_.empty()) {
    it.buffer = std::move(spare_.back());
    spare_.pop_back();
  }
  it.buffer.resize(bytes);
  return mpi::check(
      MPI_Imrecv(it.buffer.data(), static_cast<int>(bytes), MPI_BYTE, &message, it.request.handle()),
      "MPI_Imrecv");
}

/// A long transfer does not hold up what other processes send.
Result<void> Arrivals::complete(const Deliver& deliver, Progress& progress) {
  for (std::size_t i = 0; i < incoming_.size();) {
    AFTERBAY_TRY_ASSIGN(const bool done, incoming_[i].request.test_eagerly());
    const auto here = incoming_.begin() + static_cast<std::ptrdiff_t>(i);
    if (!done || is_receiving(here->source, here->order)) {
      ++i;
      continue;
    }
    Incoming it = std::move(*here);
    incoming_.erase(here);
    progress.delivered = progress.delivered || it.buffer.size() > sizeof(BatchHeader);
    arrived(std::move(it), deliver);
  }
  return {};
}

void Arrivals::arrived(Incoming incoming, const Deliver& deliver) {
  const auto sender = far_.find(incoming.source);
  const bool behind = sender != far_.end() && !sender->second.held_back.empty() &&
                      sender->second.held_back.front().order < incoming.order;
  if (!behind || !keeps_place(incoming.buffer)) {
    deliver(incoming.source, incoming.tag, std::move(incoming.buffer));
    return;
  }
  auto& queue = sender->second.held_back;
  const auto place = std::ranges::upper_bound(queue, incoming.order, {}, &HeldBack::order);
  const std::size_t bytes = incoming.buffer.size();
  hold_back(incoming.source, sender->second, place,
            {incoming.order, incoming.tag, bytes, MPI_MESSAGE_NULL, std::move(incoming.buffer)});
}

void Arrivals::hold_back(int rank, Sender& sender, std::deque<HeldBack>::iterator before, HeldBack held) {
  sender.held_back.insert(before, std::move(held));
  holding_.add(static_cast<std::size_t>(rank));
}

Result<void> Arrivals::take_held_back(int rank, Sender& sender, const Deliver& deliver, Progress& progress) {
  while (!sender.held_back.empty()) {
    const bool received = sender.held_back.front().message == MPI_MESSAGE_NULL;
    const bool waits =
        received ? is_receiving(rank, sender.held_back.front().order) : sender.large > 0 && common_free_ == 0;
    if (waits) break;
    HeldBack first = std::move(sender.held_back.front());
    sender.held_back.pop_front();
    progress.delivered = true;
    if (received) {
      deliver(rank, first.tag, std::move(first.small));
      continue;
    }
    if (sender.large++ > 0) --common_free_;
    ++large_;
    AFTERBAY_TRY(receive({first.order, rank, first.tag, {}, {}}, first.bytes, first.message));
  }
  return {};
}

bool Arrivals::is_receiving(int rank, std::uint64_t order) const {
  return std::ranges::any_of(incoming_,
                             [&](const Incoming& it) { return it.source == rank && it.order < order; });
}

}  // namespace afterbay::transport::network
