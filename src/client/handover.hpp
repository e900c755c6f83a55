// SPDX-License-Identifier: Apache-2.0
// Handover: a variable of one record on its way from a rank to the servers of a file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "client/file.hpp"
#include "client/put_plans.hpp"
#include "transport/link.hpp"

namespace afterbay::client {

/// A variable of one record that is about to be handed over.
struct Handover {
  File* file = nullptr;
  std::uint32_t variable = 0;  ///< index in the schema
  const PutPlan* plan = nullptr;
  std::uint64_t record = 0;
  std::uint64_t seq = 0;
  std::uint64_t position = 0;
  /// wire::Put::largest_error of values that were packed before; otherwise the plan has it.
  double largest_error = -1;

  /// The server that gets a piece.
  [[nodiscard]] std::size_t owner(const PieceSite& site) const {
    return file->collection->pool().is_split() ? site.server : file->server;
  }
  /// The instance of the piece's frame.
  [[nodiscard]] transport::FrameSlot slot(const PieceSite& site) const {
    const Collection& collection = *file->collection;
    transport::FrameSlot slot;
    slot.frame = collection.records().first_frame(owner(site)) + site.number;
    slot.seq = seq;
    slot.bytes = site.of.bytes;
    slot.phase = collection.layout().phase(site.of, record);
    slot.position = position;
    return slot;
  }
};

/// The number of ranges of frames before those that hold the variable: nobody waits for them during
/// a put of it.
inline std::size_t ranges_before(const Handover& handover) {
  const Collection& collection = *handover.file->collection;
  const model::VariableLayout& variable = collection.layout().variables[handover.variable];
  if (handover.file->servers.size() == 1 || variable.piece_count == 0) return 0;
  const std::uint32_t first = collection.layout().cutting->frame_of(variable.first_piece);
  const auto& ranges = collection.owners().ranges();
  return static_cast<std::size_t>(
      std::ranges::upper_bound(ranges, first, {}, &model::FrameOwners::Range::end) - ranges.begin());
}

/// All ranks process the frames of a put in the same order, independent of the server. Each rank
/// states on every link how far it is in that order: the rank that is furthest behind is so on all
/// its links, and gets the reserved blocks. Calls `publish(server, frame)` for each range of frames
/// that ends at or before `frame` of the layout, with the range's server. `passed`: the number of
/// ranges that were published before, at first `ranges_before`; updated.
template <class Publish>
void advance_to(const Handover& handover, std::uint32_t frame, std::size_t& passed, Publish&& publish) {
  if (handover.file->servers.size() == 1) return;
  const Collection& collection = *handover.file->collection;
  const auto& ranges = collection.owners().ranges();
  for (; passed < ranges.size() && ranges[passed].end <= frame; ++passed) {
    const std::size_t server = collection.pool().server_of_owner(ranges[passed].owner);
    publish(server, collection.records().first_frame(server) + ranges[passed].number_of(ranges[passed].end));
  }
}

}  // namespace afterbay::client
