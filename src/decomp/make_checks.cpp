// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "base/printable.hpp"
#include "decomp/make.hpp"
#include "decomp/memory.hpp"

namespace afterbay::decomp {

Result<> check_ranks(std::uint64_t ranks) {
  constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
  if (ranks >= 1 && ranks <= most) return {};
  return fail(ErrorCode::invalid_argument, "{} ranks: it must be 1 ... {}", ranks, most);
}

Result<> check_sizes(const std::vector<std::uint64_t>& global) {
  std::vector<std::int64_t> lengths;
  for (const std::uint64_t length : global)
    lengths.push_back(
        static_cast<std::int64_t>(std::min<std::uint64_t>(length, std::numeric_limits<std::int64_t>::max())));
  const Result<> checked = check_global(lengths);
  if (!checked) return fail(ErrorCode::invalid_argument, "{}", checked.error().message);
  return {};
}

Result<> check_lists(const Decomposition& map) {
  for (std::size_t rank = 0; rank < map.ranks(); ++rank) {
    const std::uint64_t elements = map.count(rank).elements;
    if (elements > most_elements)
      return fail(ErrorCode::invalid_argument,
                  "rank {} of the map \"{}\" would list {}{} elements, more than {}: take more ranks", rank,
                  printable(map.name),
                  elements == std::numeric_limits<std::uint64_t>::max() ? "at least " : "", elements,
                  most_elements);
  }
  return {};
}

Result<> check_room(const std::string& what, std::uint64_t ranks, double runs, double others_bytes) {
  // A rank has an entry in two lists and at least one segment. Lists that grow exist twice
  // meanwhile, and the longest rank's list once more.
  constexpr double bytes_of_rank = 2 * (2 * sizeof(std::size_t) + sizeof(Segment));
  constexpr double bytes_of_run = 3 * sizeof(Run);
  return check_memory(bytes_of_rank * static_cast<double>(ranks) + bytes_of_run * runs + others_bytes,
                      fmt::format("{} for {} ranks", what, ranks));
}

}  // namespace afterbay::decomp
