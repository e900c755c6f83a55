// SPDX-License-Identifier: Apache-2.0
// The assignment of frames to servers for a file that several servers write at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "afterbay/schema.hpp"
#include "model/handover_layout.hpp"

namespace afterbay::model {

/// How a file is divided among servers.
enum class Split : std::uint8_t {
  none,      ///< one server writes everything
  slab,      ///< each server writes a contiguous part of every record, and of the fixed variables
  variable,  ///< each server writes some of the variables
};

/// The number of bytes that frames may gather (LayoutSizes::gather_bytes) so that each of the
/// `servers` that share a file gets its part of a record, to within a quarter; 0 (no limit) for a
/// file of one server.
std::uint64_t gather_bytes(const Schema& schema, Split split, std::size_t servers);

/// The owner of each frame, counted from the file's leader (0) in the order of the servers: parts
/// of nearly equal size, the same on every rank. With `variable`, a frame that holds the end of one
/// variable and the beginning of the next belongs to the owner of the first one.
std::vector<std::uint16_t> frame_owners(const HandoverLayout& layout, Split split, std::size_t servers);

/// By variable: the owners of its frames, ascending.
std::vector<std::vector<std::uint16_t>> variable_owners(const HandoverLayout& layout,
                                                        const std::vector<std::uint16_t>& owners);

}  // namespace afterbay::model
