// SPDX-License-Identifier: Apache-2.0
// The shape of a netCDF-4 variable's chunks where nobody gave one.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "model/box.hpp"

namespace afterbay::model {

/// How a file will mostly be read.
enum class Access : std::uint8_t {
  map,       ///< a horizontal plane of one record
  series,    ///< many records at a point
  profile,   ///< all levels of one record at a point
  balanced,  ///< planes and series at about the same price
};
inline constexpr std::array all_accesses{Access::map, Access::series, Access::profile, Access::balanced};
std::string_view name_of(Access access) noexcept;

inline constexpr std::uint64_t usual_records = 16;  ///< of a file whose size nobody said

/// What the shape of a variable's chunks is chosen from: equal on all ranks.
struct ChunkWish {
  Access access = Access::map;
  std::uint64_t most_bytes = 4u << 20;             ///< of a chunk
  std::uint64_t most_record_bytes = 4u << 20;      ///< of what a chunk holds of one record
  bool record = false;                             ///< has the unlimited dimension
  std::uint64_t records = usual_records;           ///< that a file is expected to hold
  std::uint64_t most_records = ~std::uint64_t{0};  ///< of a chunk
  std::array<bool, max_dimensions> levels{};       ///< which dimensions are vertical, ensemble members, ...
  std::uint64_t bands = 1;                         ///< ranks hold that many equal parts ...
  std::size_t band_dimension = 0;                  ///< ... of this dimension
};

struct ChunkShape {
  Index lengths;              ///< without the record dimension
  std::uint64_t records = 1;  ///< along it
};

/// Never larger than asked for, except that one element always fits, and that records of less than a page
/// are put together to fill one.
ChunkShape choose_chunk(const Index& shape, std::uint64_t element_bytes, const ChunkWish& wish);

/// The largest box of whole trailing dimensions of at most `most_bytes`, cut evenly along one dimension.
Index cut(const Index& shape, std::uint64_t element_bytes, std::uint64_t most_bytes);

}  // namespace afterbay::model
