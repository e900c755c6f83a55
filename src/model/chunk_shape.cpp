// SPDX-License-Identifier: Apache-2.0
#include "model/chunk_shape.hpp"

#include <algorithm>
#include <cmath>

#include "base/rounding.hpp"
#include "model/layout.hpp"

namespace afterbay::model {
namespace {

/// Bytes that a chunk of several records holds of one record: each such part is one write. Smaller
/// parts cost the writer more, larger ones cost those who read a series more. See
/// design/0006-chunk-shapes.md.
constexpr std::uint64_t least_tile_bytes = 16u << 10;
constexpr std::uint64_t most_tile_bytes = 32u << 10;
/// Bytes of a chunk that holds all levels of some points.
constexpr std::uint64_t profile_bytes = 64u << 10;

/// The largest divisor of `length` in [most/2, most], or 0. Time O(square root of length) at most:
/// looks at the divisors or at their numbers of parts, whichever are fewer.
std::uint64_t divisor(std::uint64_t length, std::uint64_t most) {
  const std::uint64_t least = std::max<std::uint64_t>(1, (most + 1) / 2);
  if (most < length / most) {
    for (std::uint64_t part = most; part >= least; --part)
      if (length % part == 0) return part;
    return 0;
  }
  for (std::uint64_t parts = divided_up(length, most); parts <= length / least; ++parts)
    if (length % parts == 0) return length / parts;
  return 0;
}

/// The number of rows per part if `length` rows are divided into equal parts of at most `most`
/// rows: the largest divisor of `length` in [most/2, most] if there is one. If `bands` equal parts
/// belong to one rank each, preferably several whole bands or an equal part of one, so that as few
/// ranks as possible share a chunk.
std::uint64_t even_part(std::uint64_t length, std::uint64_t most, std::uint64_t bands = 1) {
  if (length <= most) return length;
  if (bands > 1 && length % bands == 0) {
    const std::uint64_t band = length / bands;
    if (const std::uint64_t part = band <= most ? divisor(bands, most / band) * band : divisor(band, most))
      return part;
  }
  if (const std::uint64_t part = divisor(length, most)) return part;
  return divided_up(length, divided_up(length, most));
}

/// Like `cut`, but with chunk edges at the edges of bands if the cut is in their dimension.
Index cut_at_bands(const Index& shape, std::uint64_t element_bytes, std::uint64_t most_bytes,
                   const ChunkWish& wish) {
  Index part = shape;
  std::uint64_t bytes = shape.product() * element_bytes;
  for (std::size_t d = 0; d < shape.size && bytes > most_bytes; ++d) {
    const std::uint64_t row = bytes / part[d];
    const std::uint64_t rows = std::max<std::uint64_t>(1, most_bytes / row);
    part[d] = even_part(shape[d], rows, d == wish.band_dimension ? wish.bands : 1);
    bytes = row * part[d];
  }
  return part;
}

class Chooser {
 public:
  Chooser(const Index& shape, std::uint64_t element_bytes, const ChunkWish& wish)
      : shape_(shape), element_(element_bytes), wish_(wish), slab_bytes_(shape.product() * element_bytes) {}

  [[nodiscard]] ChunkShape choose() const {
    ChunkShape chosen = by_access();
    // With a few bytes per record, a chunk's entry in the index would be larger than its data.
    if (wish_.record && slab_bytes_ < page_bytes)
      chosen.records = std::max(chosen.records, page_bytes / std::max<std::uint64_t>(1, slab_bytes_));
    return chosen;
  }

 private:
  [[nodiscard]] ChunkShape by_access() const {
    const bool several = wish_.record && wish_.most_records > 1;
    if (wish_.access == Access::profile) return profile();
    if (wish_.access == Access::series && wish_.record) return several ? series() : tiles(1, most_tile_bytes);
    if (wish_.access == Access::balanced && wish_.record) return balanced();
    return {cut_at_bands(shape_, element_, most_record_bytes(), wish_), 1};
  }

  [[nodiscard]] std::uint64_t most_record_bytes() const {
    return std::min(wish_.most_bytes, wish_.most_record_bytes);
  }

  /// Chunks of `records` records, each with a part of at most `tile_bytes`.
  [[nodiscard]] ChunkShape tiles(std::uint64_t records, std::uint64_t tile_bytes) const {
    return {cut_at_bands(shape_, element_, std::min(tile_bytes, most_record_bytes()), wish_), records};
  }

  /// The number of records per chunk, at most `wanted`, with which the expected records fill chunks
  /// evenly.
  [[nodiscard]] std::uint64_t even_records(std::uint64_t wanted) const {
    const std::uint64_t most = std::clamp<std::uint64_t>(wish_.most_bytes / least_tile_bytes, 1,
                                                         std::max<std::uint64_t>(1, wish_.most_records));
    const std::uint64_t expected = std::max<std::uint64_t>(1, wish_.records);
    return divided_up(expected, divided_up(expected, std::clamp<std::uint64_t>(wanted, 1, most)));
  }

  /// A quarter of the expected records, each with a small tile, but at least the usual number: a
  /// file with a few records more than expected begins a new chunk for them, which takes its full
  /// size.
  [[nodiscard]] ChunkShape series() const {
    const std::uint64_t records =
        even_records(std::max(std::min(wish_.records, usual_records), divided_up(wish_.records, 4)));
    return tiles(records, std::clamp(wish_.most_bytes / records, least_tile_bytes, most_tile_bytes));
  }

  /// For R expected records, chunks have sqrt(R) records of 1 / sqrt(R) of a plane: then a plane
  /// and a series have the same number of chunks.
  [[nodiscard]] ChunkShape balanced() const {
    const auto wanted =
        static_cast<std::uint64_t>(std::lround(std::sqrt(static_cast<double>(wish_.records))));
    const std::uint64_t records = even_records(wanted);
    std::uint64_t plane_bytes = element_;
    for (std::size_t d = 0; d < shape_.size; ++d)
      if (!wish_.levels[d]) plane_bytes *= shape_[d];
    const std::uint64_t most = std::max(wish_.most_bytes / records, least_tile_bytes);
    return tiles(records,
                 std::clamp(plane_bytes / std::max<std::uint64_t>(1, wanted), least_tile_bytes, most));
  }

  /// All levels of as many points as fill a small chunk; a variable without levels is cut as for
  /// maps.
  [[nodiscard]] ChunkShape profile() const {
    Index points, levels;
    for (std::size_t d = 0; d < shape_.size; ++d) (wish_.levels[d] ? levels : points).push_back(shape_[d]);
    if (levels.product() <= 1) return {cut_at_bands(shape_, element_, most_record_bytes(), wish_), 1};
    const std::uint64_t most = most_record_bytes();
    const std::uint64_t column_bytes = levels.product() * element_;
    points = cut(points, column_bytes, std::min(profile_bytes, most));
    if (column_bytes > most) levels = cut(levels, element_, most);
    ChunkShape chosen;
    std::size_t point = 0, level = 0;
    for (std::size_t d = 0; d < shape_.size; ++d)
      chosen.lengths.push_back(wish_.levels[d] ? levels[level++] : points[point++]);
    return chosen;
  }

  const Index& shape_;
  std::uint64_t element_;
  const ChunkWish& wish_;
  std::uint64_t slab_bytes_;
};

}  // namespace

std::string_view name_of(Access access) noexcept {
  switch (access) {
    case Access::map: return "map";
    case Access::series: return "series";
    case Access::profile: return "profile";
    case Access::balanced: return "balanced";
  }
  return "unknown";
}

ChunkShape choose_chunk(const Index& shape, std::uint64_t element_bytes, const ChunkWish& wish) {
  return Chooser(shape, element_bytes, wish).choose();
}

Index cut(const Index& shape, std::uint64_t element_bytes, std::uint64_t most_bytes) {
  return cut_at_bands(shape, element_bytes, most_bytes, {});
}

}  // namespace afterbay::model
