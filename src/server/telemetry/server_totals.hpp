// SPDX-License-Identifier: Apache-2.0
// ServerTotals: the amounts that a server has taken in and written so far, for statistics. Used by
// the ingest thread, except `written`.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "base/ingest_thread.hpp"
#include "observe/records.hpp"

namespace afterbay::server {

class ServerTotals {
 public:
  struct Collection {
    std::uint64_t records_taken = 0;
    std::uint64_t records_written = 0;
    std::uint64_t records_published = 0;
    std::uint64_t files_published = 0;
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_published = 0;
  };

  explicit ServerTotals(std::size_t ranks) : waits_(ranks) {}
  /// Memory, for RankTables.
  static constexpr std::uint64_t bytes_per_rank() noexcept { return sizeof(Waits); }

  void take(std::uint32_t collection, std::uint64_t bytes) AFTERBAY_REQUIRES(ingest_thread) {
    bytes_in_ += bytes;
    collections_[collection].bytes_in += bytes;
  }
  /// Any thread. Payload of `bytes` bytes was written as `packed` bytes.
  void written(std::uint64_t bytes, std::uint64_t packed) noexcept {
    bytes_out_.fetch_add(bytes, std::memory_order_relaxed);
    bytes_written_.fetch_add(packed, std::memory_order_relaxed);
  }
  /// A model rank's report of its waits so far.
  void waited(std::size_t rank, std::uint64_t for_room_ns, std::uint64_t for_files_ns)
      AFTERBAY_REQUIRES(ingest_thread) {
    Waits& before = waits_[rank];
    all_waits_.for_room_ns += for_room_ns - before.for_room_ns;
    all_waits_.for_files_ns += for_files_ns - before.for_files_ns;
    before = {for_room_ns, for_files_ns};
  }
  /// Keeps only the latest files.
  void published(observe::FileRecord file) AFTERBAY_REQUIRES(ingest_thread) {
    constexpr std::size_t most_files = 1000;
    files_.push_back(std::move(file));
    if (files_.size() <= most_files) return;
    files_.pop_front();
    ++older_files_;
  }

  [[nodiscard]] Collection& of(std::uint32_t collection) AFTERBAY_REQUIRES(ingest_thread) {
    return collections_[collection];
  }
  [[nodiscard]] const std::map<std::uint32_t, Collection>& collections() const
      AFTERBAY_REQUIRES(ingest_thread) {
    return collections_;
  }
  [[nodiscard]] std::uint64_t bytes_in() const noexcept AFTERBAY_REQUIRES(ingest_thread) { return bytes_in_; }
  [[nodiscard]] std::uint64_t bytes_out() const noexcept {
    return bytes_out_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t bytes_written() const noexcept {
    return bytes_written_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] double waited_for_room_s() const AFTERBAY_REQUIRES(ingest_thread) {
    return static_cast<double>(all_waits_.for_room_ns) * 1e-9;
  }
  [[nodiscard]] double waited_for_files_s() const AFTERBAY_REQUIRES(ingest_thread) {
    return static_cast<double>(all_waits_.for_files_ns) * 1e-9;
  }
  [[nodiscard]] const std::deque<observe::FileRecord>& files() const noexcept
      AFTERBAY_REQUIRES(ingest_thread) {
    return files_;
  }
  [[nodiscard]] std::uint64_t older_files() const noexcept AFTERBAY_REQUIRES(ingest_thread) {
    return older_files_;
  }

 private:
  struct Waits {
    std::uint64_t for_room_ns = 0;
    std::uint64_t for_files_ns = 0;
  };

  std::uint64_t bytes_in_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;
  std::atomic<std::uint64_t> bytes_out_{0};
  std::atomic<std::uint64_t> bytes_written_{0};
  std::map<std::uint32_t, Collection> collections_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::vector<Waits> waits_ AFTERBAY_GUARDED_BY(ingest_thread);  ///< by model rank
  /// Their sum: statistics read it twenty times per second, at any number of ranks.
  Waits all_waits_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::deque<observe::FileRecord> files_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::uint64_t older_files_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;
};

}  // namespace afterbay::server
