// SPDX-License-Identifier: Apache-2.0
// The assignment of frames to servers for a file that several servers write at the same time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "afterbay/schema.hpp"
#include "model/handover_layout.hpp"

namespace afterbay::model {

/// How a file is divided among servers.
enum class FileSharing : std::uint8_t {
  none,      ///< one server writes everything
  slab,      ///< each server writes a contiguous part of every record, and of the fixed variables
  variable,  ///< each server writes some of the variables
};

/// The number of bytes that frames may gather (LayoutSizes::gather_bytes) so that each of the
/// `servers` that share a file gets its part of a record, to within a quarter, with `near` (see
/// FrameOwners) its part of the largest variable; 0 (no limit) for a file of one server.
std::uint64_t gather_bytes(const Schema& schema, FileSharing sharing, std::size_t servers, bool near = false);

/// The assignment of a layout's frames to the servers that share its files: parts of nearly equal
/// size, the same on every rank. Each server numbers its own frames, and their pieces, from 0 on in
/// the order of the layout. Memory depends on the number of servers or variables, not on the number
/// of frames.
class FrameOwners {
 public:
  FrameOwners() = default;
  /// With `variable`, a frame that holds the end of one variable and the beginning of the next
  /// belongs to the owner of the first one.
  /// `shares`: see config::slab_shares. If there are some, slabs are near the ranks that fill them:
  /// servers have these shares of each variable that has enough frames, and of all others together.
  /// They do not apply if equal parts leave servers without frames.
  FrameOwners(const HandoverLayout& layout, FileSharing sharing, std::size_t servers,
              std::span<const std::uint64_t> shares = {});

  /// Consecutive frames of one owner.
  struct Range {
    std::uint32_t first = 0;
    std::uint32_t end = 0;
    std::uint32_t first_piece = 0;
    std::uint32_t end_piece = 0;
    std::uint32_t number = 0;  ///< number of the first frame among those of its owner
    std::uint32_t piece_number = 0;
    std::uint16_t owner = 0;

    /// The number of the frame, or of the first one after it, among those of the owner.
    [[nodiscard]] std::uint32_t number_of(std::uint32_t frame) const {
      return number + std::min(frame, end) - first;
    }
  };
  /// Whether slabs of equal size would give the last server a frame.
  [[nodiscard]] bool suffices_for_all() const noexcept { return suffices_for_all_; }
  /// Ascending; together all frames.
  [[nodiscard]] const std::vector<Range>& ranges() const noexcept { return ranges_; }
  /// The range that contains a frame.
  [[nodiscard]] const Range& range_of(std::uint32_t frame) const;
  [[nodiscard]] std::uint16_t owner(std::uint32_t frame) const { return range_of(frame).owner; }

  /// The number of frames, and of their pieces, that an owner has.
  [[nodiscard]] std::uint32_t frames_of(std::uint16_t owner) const;
  [[nodiscard]] std::uint32_t pieces_of(std::uint16_t owner) const;
  /// The frame, in the layout, with this number among those of the owner.
  [[nodiscard]] std::uint32_t frame(std::uint16_t owner, std::uint32_t number) const;
  /// The ranges of an owner, ascending.
  [[nodiscard]] std::vector<Range> ranges_of(std::uint16_t owner) const;
  /// The owners [first, last] of a variable's frames.
  struct Owners {
    std::uint16_t first = 0;
    std::uint16_t last = 0;
  };
  /// Ascending and disjoint.
  [[nodiscard]] const std::vector<Owners>& of_variable(std::uint32_t variable) const {
    return of_variables_[variable];
  }
  /// Memory in use.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  /// The ends of the servers' parts, in any unit.
  using Ends = std::vector<double>;
  void cut_into_slabs(const Cutting& cutting, bool record, const Ends& ends, bool by_variable);
  void add(const Cutting& cutting, std::uint32_t first, std::uint32_t end, std::uint16_t owner);
  void number(std::size_t servers);
  void find_owners_of_variables(const HandoverLayout& layout);

  std::vector<Range> ranges_;
  std::vector<std::uint32_t> by_owner_;  ///< indices of ranges
  std::vector<std::uint32_t> starts_;    ///< by owner: the first of its entries in by_owner_; and their end
  std::vector<std::vector<Owners>> of_variables_;
  bool suffices_for_all_ = true;
};

}  // namespace afterbay::model
