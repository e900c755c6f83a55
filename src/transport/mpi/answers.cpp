// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi/answers.hpp"

#include <cstring>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "mpi/check.hpp"
#include "mpi/parts.hpp"

namespace afterbay::transport::network {

Answers::~Answers() {
  if (batch_request_.active()) static_cast<void>(new Bytes(std::move(batch_)));  // MPI may still read it
  batch_request_.abandon();
  for (DataTransit& it : data_) {
    if (it.request.active()) {
      static_cast<void>(new std::shared_ptr<const void>(std::move(it.data.keeper)));
      static_cast<void>(new Bytes(std::move(it.head)));
    }
    it.request.abandon();
  }
}

/// Synchronous: its data stay here until the rank receives it.
Result<void> Answers::send_data(std::span<const std::byte> message, OutgoingData data) {
  std::uint64_t bytes = 0;
  for (const auto& part : data.parts) bytes += part.size();
  DataTransit& it = data_.emplace_back();
  it.head = make_data_head(message, bytes);
  it.data = std::move(data);
  std::vector<std::span<const std::byte>> parts{it.head};
  parts.insert(parts.end(), it.data.parts.begin(), it.data.parts.end());
  return mpi::send_parts(parts, route_.rank, route_.data_tag, comm_->get(), it.request.handle());
}

Result<bool> Answers::complete_data() {
  bool moved = false;
  for (auto it = data_.begin(); it != data_.end();) {
    // Each look makes all transfers progress.
    AFTERBAY_TRY_ASSIGN(const bool done,
                        it == data_.begin() ? it->request.test_eagerly() : it->request.test());
    if (!done) {
      ++it;
      continue;
    }
    moved = true;
    progress_.fetch_add(1, std::memory_order_relaxed);
    const OutgoingData data = std::move(it->data);
    it = data_.erase(it);
    if (data.sent) data.sent();
  }
  return moved;
}

/// A rank that waits for an answer receives it long before, and a transfer has begun.
constexpr std::uint64_t slow_after_ns = 100'000'000;

/// A server has an end per rank: what an end keeps of its last batch must be small.
constexpr std::size_t most_kept_of_batch = 256;

void Answers::fill_batch() {
  const std::uint32_t share = std::exchange(share_due_, 0) << BatchHeader::allowance_bits;
  BatchHeader header{credits_due_, flags_due_ | share, progress_.load(std::memory_order_relaxed), 0};
  batch_.resize(sizeof header);
  while (!kept_.empty() && (header.bytes == 0 || header.bytes + kept_.front().size() <= most_batch_bytes_)) {
    const std::uint64_t bytes = kept_.front().size();
    const auto* length = reinterpret_cast<const std::byte*>(&bytes);
    batch_.insert(batch_.end(), length, length + sizeof bytes);
    batch_.insert(batch_.end(), kept_.front().begin(), kept_.front().end());
    header.bytes += sizeof bytes + bytes;
    kept_.pop_front();
  }
  std::memcpy(batch_.data(), &header, sizeof header);
  batch_has_messages_ = header.bytes != 0;
  credits_due_ = 0;
  flags_due_ = 0;
}

/// With messages it is a synchronous send, pending until the rank receives it: a rank that computes
/// for a long time does not make the network buffer without bound. Credits and signs of life are
/// few and small, and may arrive after the end of the rank, which then never receives them.
Result<bool> Answers::flush(SendTurn& turn) {
  const bool had_messages = batch_has_messages_ && batch_request_.active();
  const bool eager = had_messages && !is_slow_ && turn.eager_left > 0;
  if (eager) --turn.eager_left;
  AFTERBAY_TRY_ASSIGN(const bool done, eager ? batch_request_.test_eagerly() : batch_request_.test());
  if (!done) {
    is_slow_ = now_ns() - batch_begun_ns_ > slow_after_ns;
    return false;
  }
  if (batch_.capacity() > most_kept_of_batch) batch_ = {};
  if (!is_due()) return had_messages;  // wakes callers that wait for it to be sent
  if (!kept_.empty()) {
    if (turn.left == 0) return had_messages;
    --turn.left;
  }
  const bool only_a_pong = kept_.empty() && credits_due_ == 0;
  fill_batch();
  is_slow_ = false;
  batch_begun_ns_ = now_ns();
  const auto start = batch_.size() > sizeof(BatchHeader) ? MPI_Issend : MPI_Isend;
  AFTERBAY_TRY(mpi::check(start(batch_.data(), static_cast<int>(batch_.size()), MPI_BYTE, route_.rank,
                                route_.down_tag, comm_->get(), batch_request_.handle()),
                          "MPI_Isend"));
  return !only_a_pong;
}

}  // namespace afterbay::transport::network
