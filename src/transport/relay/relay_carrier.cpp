// SPDX-License-Identifier: Apache-2.0
#include "transport/relay/relay_carrier.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace afterbay::transport::relay {
namespace {

constexpr std::chrono::milliseconds longest_sleep{20};  // then the rank's other links are served
constexpr std::chrono::milliseconds short_sleep{2};     // while new segments are free

}  // namespace

Result<void> RelayCarrier::send_header(const network::SegmentHeader& header) {
  return end_->leave({static_cast<std::uint32_t>(server_), Note::header_only, sizeof header, header});
}

Result<void> RelayCarrier::send_word(Bytes word) {
  return end_->leave({static_cast<std::uint32_t>(server_), Note::header_only, word.size(),
                      network::read_header<network::SegmentHeader>(word.data())},
                     std::span<const std::byte>(word).subspan(sizeof(network::SegmentHeader)));
}

Result<std::optional<std::span<const std::byte>>> RelayCarrier::next_batch() {
  if (auto batch = end_->next(server_)) {
    batch_ = std::move(*batch);
    return std::span<const std::byte>(batch_);
  }
  PairState& pair = end_->channel().pair(end_->rank(), server_);
  const std::uint32_t changes = pair.changes.load(std::memory_order_seq_cst);
  if (changes == std::exchange(changes_seen_, changes)) return std::nullopt;
  const network::BatchHeader state{0, pair.flags.exchange(0, std::memory_order_seq_cst),
                                   pair.progress.load(std::memory_order_relaxed), 0};
  batch_.resize(sizeof state);
  std::memcpy(batch_.data(), &state, sizeof state);
  return std::span<const std::byte>(batch_);
}

void RelayCarrier::pause(mpi::BackOff& /*back_off*/, std::chrono::nanoseconds most, bool /*sending*/) {
  end_->sleep(std::min<std::chrono::nanoseconds>(most, end_->awaits_used() ? short_sleep : longest_sleep));
}

}  // namespace afterbay::transport::relay
