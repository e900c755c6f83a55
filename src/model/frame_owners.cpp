// SPDX-License-Identifier: Apache-2.0
#include "model/frame_owners.hpp"

#include <algorithm>
#include <numeric>

#include "model/schema_bytes.hpp"

namespace afterbay::model {
namespace {

constexpr std::uint64_t frames_a_server = 4;  ///< per record, at least
/// Smaller writes cost more than the distribution gains.
constexpr std::uint64_t least_gather_bytes = 256u << 10;

/// Assigns contiguous parts of the frames of one section; a frame belongs to the part that contains
/// its middle.
void cut_into_slabs(const HandoverLayout& layout, bool record, std::size_t servers,
                    std::vector<std::uint16_t>& owners) {
  std::uint64_t all = 0;
  for (const Frame& frame : layout.frames) all += frame.record == record ? frame.bytes : 0;
  std::uint64_t before = 0;
  for (std::size_t f = 0; f < layout.frames.size(); ++f) {
    const Frame& frame = layout.frames[f];
    if (frame.record != record) continue;
    const double middle = static_cast<double>(before) + static_cast<double>(frame.bytes) / 2;
    const double part = all == 0 ? 0 : middle / static_cast<double>(all) * static_cast<double>(servers);
    owners[f] = static_cast<std::uint16_t>(std::min(static_cast<std::size_t>(part), servers - 1));
    before += frame.bytes;
  }
}

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

std::uint64_t gather_bytes(const Schema& schema, Split split, std::size_t servers) {
  if (split == Split::none || servers < 2) return 0;
  const auto [fixed, record] = schema_bytes(schema);
  const std::uint64_t wanted = (record > 0 ? record : fixed) / (frames_a_server * servers);
  return std::max(least_gather_bytes, wanted / page_bytes * page_bytes);
}

std::vector<std::uint16_t> frame_owners(const HandoverLayout& layout, Split split, std::size_t servers) {
  std::vector<std::uint16_t> owners(layout.frames.size(), 0);
  if (split == Split::none || servers < 2) return owners;
  if (split == Split::slab) {
    cut_into_slabs(layout, false, servers, owners);
    cut_into_slabs(layout, true, servers, owners);
    return owners;
  }
  const auto of_variable = deal_variables(layout, servers);
  for (std::size_t f = 0; f < owners.size(); ++f)
    owners[f] = of_variable[layout.pieces[layout.frames[f].first_piece].variable];
  return owners;
}

std::vector<std::vector<std::uint16_t>> variable_owners(const HandoverLayout& layout,
                                                        const std::vector<std::uint16_t>& owners) {
  std::vector<std::vector<std::uint16_t>> found(layout.variables.size());
  for (const Piece& piece : layout.pieces) found[piece.variable].push_back(owners[piece.frame]);
  for (auto& of_variable : found) {
    std::ranges::sort(of_variable);
    of_variable.erase(std::unique(of_variable.begin(), of_variable.end()), of_variable.end());
  }
  return found;
}

}  // namespace afterbay::model
