// SPDX-License-Identifier: Apache-2.0
// The name of a peer in errors. A server has one per rank: it is as small as possible, and the text
// is made when it is needed.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace afterbay::transport {

class PeerName {
 public:
  /// `text`: a literal, as is every `kind`.
  PeerName(const char* text = "a model rank") noexcept
      : kind_(text) {}  // NOLINT(google-explicit-constructor)
  /// "model rank 7 (rank 9)". `rank`: as named in errors.
  PeerName(const char* kind, std::size_t number, int rank) noexcept
      : kind_(kind), number_(static_cast<std::int32_t>(number)), rank_(rank) {}

  [[nodiscard]] std::string text() const {
    return number_ < 0 ? std::string(kind_) : fmt::format("{} {} (rank {})", kind_, number_, rank_);
  }

 private:
  const char* kind_;
  std::int32_t number_ = -1;
  std::int32_t rank_ = -1;
};

}  // namespace afterbay::transport
