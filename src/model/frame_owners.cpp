// SPDX-License-Identifier: Apache-2.0
#include "model/frame_owners.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "model/schema_bytes.hpp"

namespace afterbay::model {
namespace {

constexpr std::uint64_t frames_a_server = 4;        ///< minimum number of frames per server
constexpr std::uint64_t least_frames_a_server = 2;  ///< the same for a variable that is divided by itself
/// Bounds the memory of slabs of variables; beyond it slabs are those of the whole record.
constexpr std::size_t most_ranges = 1u << 16;
/// Smaller writes cost more than the distribution gains.
constexpr std::uint64_t least_gather_bytes = 256u << 10;

/// What is cut into slabs together.
struct Slabbed {
  std::uint64_t frames = 0;
  std::uint64_t bytes = 0;
  std::uint64_t before = 0;  ///< bytes that have an owner

  void add(const Cutting& cutting, const FrameRun& run) {
    frames += run.count;
    bytes += cutting.bytes_of(run, run.count);
  }
};

/// Assigns variables, the largest first, each to the server with the fewest bytes.
std::vector<std::uint16_t> deal_variables(const HandoverLayout& layout, std::size_t servers) {
  std::vector<std::uint32_t> order(layout.variables.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return layout.variables[a].slab_bytes > layout.variables[b].slab_bytes;
  });
  std::vector<std::uint64_t> loads(servers, 0);
  std::vector<std::uint16_t> owners(layout.variables.size(), 0);
  for (const std::uint32_t v : order) {
    const auto least = std::ranges::min_element(loads);
    owners[v] = static_cast<std::uint16_t>(least - loads.begin());
    *least += layout.variables[v].slab_bytes;
  }
  return owners;
}

}  // namespace

std::uint64_t gather_bytes(const Schema& schema, FileSharing sharing, std::size_t servers, bool near) {
  if (sharing == FileSharing::none || servers < 2) return 0;
  const SchemaBytes sizes = schema_bytes(schema);
  std::uint64_t divided = sizes.record > 0 ? sizes.record : sizes.fixed;
  if (sharing == FileSharing::slab && near)
    divided = sizes.record > 0 ? sizes.largest_record : sizes.largest_fixed;
  const std::uint64_t wanted = divided / (frames_a_server * servers);
  return std::max(least_gather_bytes, wanted / page_bytes * page_bytes);
}

FrameOwners::FrameOwners(const HandoverLayout& layout, FileSharing sharing, std::size_t servers,
                         std::span<const std::uint64_t> shares) {
  const Cutting& cutting = *layout.cutting;
  if (sharing == FileSharing::none || servers < 2) {
    servers = 1;
    if (cutting.frames() > 0) add(cutting, 0, cutting.frames(), 0);
  } else if (sharing == FileSharing::slab) {
    Ends ends(servers);
    std::iota(ends.begin(), ends.end(), 1.0);
    cut_into_slabs(cutting, false, ends, false);
    cut_into_slabs(cutting, true, ends, false);
    suffices_for_all_ = std::ranges::any_of(
        ranges_, [&](const Range& range) { return range.owner + std::size_t{1} == servers; });
    if (shares.size() == servers && suffices_for_all_) {
      ranges_.clear();
      std::partial_sum(shares.begin(), shares.end(), ends.begin());
      cut_into_slabs(cutting, false, ends, true);
      cut_into_slabs(cutting, true, ends, true);
    }
  } else {
    const auto of_variable = deal_variables(layout, servers);
    for (const FrameRun& run : cutting.frame_runs())
      add(cutting, run.first, run.first + run.count, of_variable[cutting.variable_of(run.first_piece)]);
  }
  number(servers);
  find_owners_of_variables(layout);
}

/// Assigns contiguous parts of the frames of one section, or of each large variable of it; a frame
/// belongs to the part that contains its middle.
void FrameOwners::cut_into_slabs(const Cutting& cutting, bool record, const Ends& ends, bool by_variable) {
  std::map<std::uint32_t, Slabbed> variables;
  for (const FrameRun& run : cutting.frame_runs())
    if (run.record == record) variables[cutting.variable_of(run.first_piece)].add(cutting, run);
  std::size_t large = 0;
  const auto is_large = [&](const Slabbed& it) {
    return by_variable && it.frames >= least_frames_a_server * ends.size();
  };
  for (const auto& [variable, it] : variables) large += is_large(it) ? 1 : 0;
  if (large * ends.size() > most_ranges) by_variable = false;
  Slabbed others;
  for (const auto& [variable, it] : variables)
    if (!is_large(it)) others.bytes += it.bytes;
  for (const FrameRun& run : cutting.frame_runs()) {
    if (run.record != record) continue;
    Slabbed& own = variables[cutting.variable_of(run.first_piece)];
    Slabbed& all = is_large(own) ? own : others;
    const auto owner_of = [&](std::uint32_t i) {
      const std::uint64_t to_frame = cutting.bytes_of(run, i);
      const std::uint64_t bytes = cutting.bytes_of(run, i + 1) - to_frame;
      const double middle = static_cast<double>(all.before + to_frame) + static_cast<double>(bytes) / 2;
      const double part = all.bytes == 0 ? 0 : middle / static_cast<double>(all.bytes) * ends.back();
      const auto at = std::ranges::upper_bound(ends, part);
      return static_cast<std::uint16_t>(at == ends.end() ? ends.size() - 1
                                                         : static_cast<std::size_t>(at - ends.begin()));
    };
    for (std::uint32_t i = 0; i < run.count;) {
      const std::uint16_t owner = owner_of(i);
      std::uint32_t end = i + 1;  // the first frame of the next owner
      for (std::uint32_t most = run.count; end < most;) {
        const std::uint32_t middle = end + (most - end) / 2;
        if (owner_of(middle) == owner)
          end = middle + 1;
        else
          most = middle;
      }
      add(cutting, run.first + i, run.first + end, owner);
      i = end;
    }
    all.before += cutting.bytes_of(run, run.count);
  }
}

void FrameOwners::add(const Cutting& cutting, std::uint32_t first, std::uint32_t end, std::uint16_t owner) {
  const std::uint32_t end_piece = end == cutting.frames() ? cutting.pieces() : cutting.frame(end).first_piece;
  if (!ranges_.empty() && ranges_.back().owner == owner) {
    ranges_.back().end = end;
    ranges_.back().end_piece = end_piece;
    return;
  }
  const std::uint32_t first_piece = ranges_.empty() ? 0 : ranges_.back().end_piece;
  ranges_.push_back({first, end, first_piece, end_piece, 0, 0, owner});
}

void FrameOwners::number(std::size_t servers) {
  starts_.assign(servers + 1, 0);
  for (const Range& range : ranges_) ++starts_[range.owner + 1u];
  std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
  by_owner_.resize(ranges_.size());
  std::vector<std::uint32_t> next(starts_.begin(), starts_.end() - 1);
  for (std::uint32_t i = 0; i < ranges_.size(); ++i) {
    Range& range = ranges_[i];
    const std::uint32_t at = next[range.owner]++;
    by_owner_[at] = i;
    if (at == starts_[range.owner]) continue;
    const Range& earlier = ranges_[by_owner_[at - 1]];
    range.number = earlier.number + earlier.end - earlier.first;
    range.piece_number = earlier.piece_number + earlier.end_piece - earlier.first_piece;
  }
}

void FrameOwners::find_owners_of_variables(const HandoverLayout& layout) {
  of_variables_.resize(layout.variables.size());
  for (std::uint32_t v = 0; v < layout.variables.size(); ++v) {
    const VariableLayout& variable = layout.variables[v];
    if (variable.piece_count == 0) continue;
    const std::uint32_t last = layout.cutting->frame_of(variable.first_piece + variable.piece_count - 1);
    std::vector<std::uint16_t> owners;
    for (auto range =
             ranges_.begin() + (&range_of(layout.cutting->frame_of(variable.first_piece)) - &ranges_[0]);
         range != ranges_.end() && range->first <= last; ++range)
      owners.push_back(range->owner);
    std::ranges::sort(owners);
    for (const std::uint16_t owner : owners) {
      std::vector<Owners>& found = of_variables_[v];
      if (!found.empty() && owner <= found.back().last + 1)
        found.back().last = owner;
      else
        found.push_back({owner, owner});
    }
  }
}

const FrameOwners::Range& FrameOwners::range_of(std::uint32_t frame) const {
  return *std::prev(std::ranges::upper_bound(ranges_, frame, {}, &Range::first));
}

std::vector<FrameOwners::Range> FrameOwners::ranges_of(std::uint16_t owner) const {
  std::vector<Range> ranges;
  for (std::uint32_t i = starts_[owner]; i < starts_[owner + 1u]; ++i)
    ranges.push_back(ranges_[by_owner_[i]]);
  return ranges;
}

std::uint32_t FrameOwners::frames_of(std::uint16_t owner) const {
  if (starts_[owner] == starts_[owner + 1u]) return 0;
  const Range& last = ranges_[by_owner_[starts_[owner + 1u] - 1]];
  return last.number + last.end - last.first;
}

std::uint32_t FrameOwners::pieces_of(std::uint16_t owner) const {
  if (starts_[owner] == starts_[owner + 1u]) return 0;
  const Range& last = ranges_[by_owner_[starts_[owner + 1u] - 1]];
  return last.piece_number + last.end_piece - last.first_piece;
}

std::uint32_t FrameOwners::frame(std::uint16_t owner, std::uint32_t number) const {
  const auto begin = by_owner_.begin() + starts_[owner];
  const auto end = by_owner_.begin() + starts_[owner + 1u];
  const auto after = std::upper_bound(
      begin, end, number, [this](std::uint32_t n, std::uint32_t i) { return n < ranges_[i].number; });
  const Range& range = ranges_[*std::prev(after)];
  return range.first + number - range.number;
}

std::uint64_t FrameOwners::memory_bytes() const noexcept {
  std::uint64_t bytes = ranges_.capacity() * sizeof(Range) +
                        (by_owner_.capacity() + starts_.capacity()) * sizeof(std::uint32_t) +
                        of_variables_.capacity() * sizeof(std::vector<Owners>);
  for (const auto& owners : of_variables_) bytes += owners.capacity() * sizeof(Owners);
  return bytes;
}

}  // namespace afterbay::model
