// SPDX-License-Identifier: Apache-2.0
// CollectionTrial: copies of chunks of one collection, and what chains of filters make of them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/ingest_thread.hpp"
#include "base/thread_safety.hpp"
#include "codec/trial.hpp"
#include "observe/records.hpp"
#include "server/sink.hpp"

namespace afterbay::server {

struct ServedCollection;

/// Bytes that the copies of all collections of a server may take. Any thread.
class SampleRoom {
 public:
  explicit SampleRoom(std::uint64_t bytes) : left_(bytes) {}
  [[nodiscard]] bool take(std::uint64_t bytes) noexcept {
    std::uint64_t left = left_.load();
    while (left >= bytes)
      if (left_.compare_exchange_weak(left, left - bytes)) return true;
    return false;
  }
  void give_back(std::uint64_t bytes) noexcept { left_ += bytes; }

 private:
  std::atomic<std::uint64_t> left_;
};

class CollectionTrial : public ChunkSampler {
 public:
  /// About how many bytes of a collection are copied, and the size of a copy: a chunk or its
  /// beginning, so that one trial is short.
  static constexpr std::uint64_t wanted_bytes = std::uint64_t{4} << 20;
  static constexpr std::uint64_t most_copy_bytes = std::uint64_t{1} << 20;
  static constexpr std::uint64_t least_copy_bytes = std::uint64_t{64} << 10;
  static constexpr int records = 2;  ///< number of records copied per variable: the first ones

  /// `has_come`: called by a worker after it has copied something.
  CollectionTrial(const ServedCollection& collection, SampleRoom& room, std::function<void()> has_come);

  // Any thread.
  void take(std::span<const storage::PieceWrite> pieces) override;
  [[nodiscard]] bool has_samples() const AFTERBAY_EXCLUDES(mutex_);
  /// Encodes one copy with the next chain; false: there is nothing to try. By one thread at a time.
  bool try_one() AFTERBAY_EXCLUDES(mutex_);

  void record_taken(std::uint64_t file, std::uint64_t record) AFTERBAY_REQUIRES(ingest_thread);
  /// Without `writers`.
  [[nodiscard]] observe::CodecTrialRecord record() const AFTERBAY_REQUIRES(ingest_thread);

 private:
  struct Sums {
    double raw = 0, encoded = 0, seconds = 0;
  };
  /// What is copied of a variable, and what was found.
  struct Variable {
    std::size_t element_bytes = 1;
    double bytes = 0;  ///< size of this server's part of a record
    std::uint64_t copy_bytes = 0;
    std::uint32_t first = 0;           ///< number of a piece of which copies are taken
    std::uint32_t step = 1;            ///< from one such piece to the next
    std::map<std::uint32_t, int> had;  ///< number of copies by piece
    double raw = 0;                    ///< bytes of all copies
    std::vector<Sums> sums;            ///< by chain
  };
  struct Sample {
    std::uint32_t variable = 0;
    std::vector<std::byte> bytes;
    std::size_t next = 0;  ///< the chain that is tried next
  };

  void plan(const ServedCollection& collection);
  /// Whether a copy of the piece is wanted; counts it.
  [[nodiscard]] bool wants(const storage::PieceWrite& write) AFTERBAY_REQUIRES(mutex_);

  const std::string name_;
  const bool shared_;
  const std::vector<codec::FilterLevels> chains_;
  SampleRoom& room_;
  const std::function<void()> has_come_;
  std::atomic<std::int64_t> left_{0};  ///< number of copies that are still to be taken
  mutable Mutex mutex_;
  std::map<std::uint32_t, Variable> variables_ AFTERBAY_GUARDED_BY(mutex_);
  std::list<Sample> samples_ AFTERBAY_GUARDED_BY(mutex_);

  std::uint64_t taken_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;                         ///< number of records
  std::pair<std::uint64_t, std::uint64_t> latest_ AFTERBAY_GUARDED_BY(ingest_thread);  ///< file, record
  double first_s_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;
  double last_s_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;
};

}  // namespace afterbay::server
