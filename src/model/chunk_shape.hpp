// SPDX-License-Identifier: Apache-2.0
// Chooses the shape of a netCDF-4 variable's chunks if none was given.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "model/box.hpp"

namespace afterbay::model {

/// How most readers will go through a file.
enum class Access : std::uint8_t {
  map,       ///< a horizontal plane of one record
  series,    ///< many records at a point
  profile,   ///< all levels of one record at a point
  balanced,  ///< planes and series at about the same cost
};
inline constexpr std::array all_accesses{Access::map, Access::series, Access::profile, Access::balanced};
std::string_view name_of(Access access) noexcept;

inline constexpr std::uint64_t usual_records = 16;  ///< for a file of unknown size

/// The facts from which the shape of a variable's chunks is chosen; equal on all ranks.
struct ChunkWish {
  Access access = Access::map;
  std::uint64_t most_bytes = 4u << 20;             ///< per chunk
  std::uint64_t most_record_bytes = 4u << 20;      ///< per record in a chunk
  bool record = false;                             ///< whether it has the unlimited dimension
  std::uint64_t records = usual_records;           ///< expected number of records in a file
  std::uint64_t most_records = ~std::uint64_t{0};  ///< per chunk
  /// The dimensions that are vertical, ensemble members, ...
  std::array<bool, max_dimensions> levels{};
  std::uint64_t bands = 1;         ///< number of equal parts that ranks hold ...
  std::size_t band_dimension = 0;  ///< ... along this dimension
};

struct ChunkShape {
  Index lengths;              ///< without the record dimension
  std::uint64_t records = 1;  ///< along the record dimension
};

/// Never exceeds the requested size, except that one element always fits, and that records of less
/// than a page are combined to fill one.
ChunkShape choose_chunk(const Index& shape, std::uint64_t element_bytes, const ChunkWish& wish);

/// The largest box of at most `most_bytes` that has whole trailing dimensions and is cut evenly
/// along one dimension.
Index cut(const Index& shape, std::uint64_t element_bytes, std::uint64_t most_bytes);

}  // namespace afterbay::model
