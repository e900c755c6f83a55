// SPDX-License-Identifier: Apache-2.0
// StringQueue: strings that were handed over and are not yet in their files: their memory, and the
// number of the last put up to which all are written. Strings are not part of frames, so the
// server's memory does not include them. Used by the ingest thread.
#pragma once

#include <cstdint>
#include <map>

#include "base/ingest_thread.hpp"

namespace afterbay::server {

class StringQueue {
 public:
  explicit StringQueue(std::uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  /// Whether `bytes` more may be added; a put that exceeds the limit by itself is accepted if no
  /// other waits.
  [[nodiscard]] bool has_room(std::uint64_t bytes) const noexcept AFTERBAY_REQUIRES(ingest_thread) {
    return waiting_.empty() || bytes_ + bytes <= limit_bytes_;
  }
  /// Adds a put of `bytes` and returns its running number, which begins with 1.
  std::uint64_t add(std::uint64_t bytes) AFTERBAY_REQUIRES(ingest_thread) {
    bytes_ += bytes;
    waiting_[++taken_] = bytes;
    return taken_;
  }
  void written(std::uint64_t number) AFTERBAY_REQUIRES(ingest_thread) {
    const auto at = waiting_.find(number);
    if (at == waiting_.end()) return;
    bytes_ -= at->second;
    waiting_.erase(at);
  }

  /// Whether the first `puts` puts have been received and written.
  [[nodiscard]] bool written_up_to(std::uint64_t puts) const noexcept AFTERBAY_REQUIRES(ingest_thread) {
    return taken_ >= puts && (waiting_.empty() || waiting_.begin()->first > puts);
  }
  [[nodiscard]] std::uint64_t taken() const noexcept AFTERBAY_REQUIRES(ingest_thread) { return taken_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept AFTERBAY_REQUIRES(ingest_thread) { return bytes_; }

 private:
  std::uint64_t limit_bytes_;
  std::uint64_t bytes_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;
  std::uint64_t taken_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;
  /// Bytes, by running number.
  std::map<std::uint64_t, std::uint64_t> waiting_ AFTERBAY_GUARDED_BY(ingest_thread);
};

}  // namespace afterbay::server
