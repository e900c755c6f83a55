// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi/message_assembly.hpp"

namespace afterbay::transport::network {
namespace {

constexpr std::size_t most_kept_of_message = 4096;  // a server has an assembly per rank

}  // namespace

void MessageAssembly::add(ItemKind kind, std::span<const std::byte> payload) {
  if (kind == ItemKind::message && !assembling_) {
    current_ = payload;
    return;
  }
  if (!assembling_) parts_.clear();
  parts_.insert(parts_.end(), payload.begin(), payload.end());
  assembling_ = kind == ItemKind::part;
  if (!assembling_) current_ = parts_;
}

std::optional<std::span<const std::byte>> MessageAssembly::next() {
  gave_word_ = !words_.empty();
  if (gave_word_) return std::span<const std::byte>(words_.front());
  return current_;
}

bool MessageAssembly::pop() {
  if (std::exchange(gave_word_, false)) {
    words_.pop_front();
    return false;
  }
  current_.reset();
  if (!assembling_ && parts_.capacity() > most_kept_of_message) parts_ = {};
  return true;
}

}  // namespace afterbay::transport::network
