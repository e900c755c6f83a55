// SPDX-License-Identifier: Apache-2.0
// Dispatcher: assigns files to the least loaded servers (placement `least`, and collections of
// several pools with `pool_choice` least). One server of the session decides for all ranks, one
// file of a collection in advance, so that the answer has arrived when the file is opened. Used by
// the ingest thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <utility>

#include "base/ingest_thread.hpp"
#include "wire/model_messages.hpp"

namespace afterbay::server {

class Dispatcher {
 public:
  /// Stores a server's report: bytes that it has taken in and not yet written, and the number of
  /// files assigned to it that have ended, published or given up.
  void report(std::size_t server, std::uint64_t backlog_bytes, std::uint64_t files_ended)
      AFTERBAY_REQUIRES(ingest_thread);
  /// The leader of the candidate that gets the next file of a collection, whose expected size is
  /// given: the candidate with the smallest sum of backlog and expected bytes per server; among
  /// equals, the one whose servers were chosen least recently, for any collection. Called when the
  /// collection's previous file is opened: from then on, that file counts as expected.
  std::uint32_t assign(std::uint32_t collection, std::span<const wire::Candidate> candidates,
                       std::uint64_t expected_bytes) AFTERBAY_REQUIRES(ingest_thread);

 private:
  struct Load {
    std::uint64_t backlog_bytes = 0;
    std::uint64_t files_ended = 0;
    std::uint64_t chosen = 0;  ///< number of the choice that selected it last; 0: none
    /// Expected bytes of the files opened there that have not ended.
    std::deque<std::uint64_t> promised;
    [[nodiscard]] std::uint64_t bytes() const;
  };
  [[nodiscard]] double load_of(const wire::Candidate& candidate) AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] std::uint64_t last_choice(const wire::Candidate& candidate) AFTERBAY_REQUIRES(ingest_thread);

  std::map<std::uint32_t, Load> loads_ AFTERBAY_GUARDED_BY(ingest_thread);
  /// Leader and bytes, by collection.
  std::map<std::uint32_t, std::pair<std::uint32_t, std::uint64_t>> ahead_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::uint64_t choices_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;
};

}  // namespace afterbay::server
