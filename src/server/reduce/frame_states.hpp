// SPDX-License-Identifier: Apache-2.0
// FrameStates: the states of the statistics over time that a server computes for a collection, by
// frame. All values of a point come to the server that writes them, so that servers need nothing of
// each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <memory_resource>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "server/sink.hpp"
#include "statistics/bundle.hpp"
#include "statistics/huge_pages.hpp"
#include "statistics/state_memory.hpp"

namespace afterbay::server {

struct RecordHead;
struct ServedCollection;

/// Threads: those of different frames may be used at the same time.
class FrameStates {
 public:
  /// Of the reductions of the collection in this server's frames. Fails (resources) if they need
  /// more than `limit` bytes together with the `used` ones of other collections
  /// (memory.statistics), and if a statistic does not exist for the type of its variable.
  static Result<std::unique_ptr<FrameStates>> make(const ServedCollection& collection, std::uint64_t used,
                                                   std::uint64_t limit);

  /// Takes in the samples of one step, or planes of states that are restored, as `record` says. All
  /// pieces are of reduced variables.
  Result<> take(const CompleteFrame& samples, const RecordHead& record);
  /// Writes the results of the interval to `frame`, a buffer for this frame in the layout's order:
  /// those of `pieces`. Points that no rank holds get unspecified values.
  Result<> results(std::span<const std::uint32_t> pieces, std::byte* frame) const;

  /// Likewise the plane of the states of these pieces that `record` says. Begins the next interval
  /// first, if the model has begun it.
  void plane(std::span<const std::uint32_t> pieces, const RecordHead& record, std::byte* frame);

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  struct PieceState {
    statistics::Bundle bundle;
    statistics::StateMemory memory;
  };

  explicit FrameStates(const ServedCollection& collection) : collection_(collection) {}

  const ServedCollection& collection_;
  statistics::HugePages pages_;
  std::pmr::monotonic_buffer_resource memory_{&pages_};  ///< of all states
  std::map<std::uint32_t, PieceState> pieces_;           ///< by index in the layout
  std::uint64_t bytes_ = 0;
};

}  // namespace afterbay::server
