// SPDX-License-Identifier: Apache-2.0
// Codec: everything the library knows about one chunk filter. Each codec is one row in a file of
// its own in this folder. The rest of the library iterates over a variable's filters and consults
// their rows; it does not refer to codecs by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"

/// The registration: one line per codec, in the order of settings and messages. A file in this
/// folder defines `codec::NAME_codec`.
#define AFTERBAY_CODECS(ROW) \
  ROW(deflate)               \
  ROW(shuffle)               \
  ROW(fletcher32)            \
  ROW(zstd)                  \
  ROW(lz4)                   \
  ROW(blosc)                 \
  ROW(bitshuffle)

namespace afterbay::codec {

/// What a codec does to a chunk. Filters are applied in the order of these values, as in netCDF-C.
enum class FilterKind : std::uint8_t {
  checksum,   ///< appends a checksum
  rearrange,  ///< changes the order of bytes, not their number
  compress    ///< reduces the number of bytes; skipped for a chunk that it does not make smaller
};

/// The properties of a variable's filter that a codec needs.
struct Filtering {
  std::span<const std::uint32_t> parameters;
  std::size_t element_bytes = 1;  ///< size of the variable's type
};

/// The row of a codec. All functions are pure and may be called by any thread.
struct Codec {
  std::string_view name = {};  ///< used in settings, the API and messages; a literal
  std::uint32_t id = 0;        ///< number registered with HDF5
  FilterKind kind = FilterKind::compress;
  /// The highest level; the filter's only parameter is a level from 1 to this. 0: the filter is on
  /// or off and has no parameter.
  int most_level = 0;
  /// Levels that `afterbay codecs` and `compress: auto` try, ascending. Empty: 1 only. Compressors
  /// only.
  std::span<const int> trial_levels = {};
  /// Rearranges bytes itself: another filter that does would gain nothing.
  bool rearranges = false;
  /// The compressor with the largest number is used by `compress: auto` before anything was
  /// measured. 0, never: netCDF-C has no filter for it.
  int untried = 0;
  std::string_view documentation = {};  ///< documentation of its setting: a paragraph of Markdown
  std::size_t added_bytes = 0;          ///< number of bytes that encoding appends; FilterKind::checksum only
  /// Other readers refuse input that is not a multiple of an element's size.
  bool whole_elements = false;
  /// The largest ratio of decoded to encoded size.
  std::uint64_t most_expansion = 1;
  /// Whether variables of a type may have this filter; null: all types that can be filtered.
  bool (*takes)(Type type) = nullptr;
  /// Converts HDF5's list of values for this filter (cd_values) to parameters; nullopt if `encode`
  /// and `decode` do not support them.
  std::optional<std::vector<std::uint32_t>> (*from_hdf5)(std::span<const unsigned> values,
                                                         std::size_t element_bytes) = nullptr;
  /// HDF5's list of values for a filter; null: the parameters are the list.
  std::vector<unsigned> (*to_hdf5)(std::span<const std::uint32_t> parameters,
                                   std::size_t element_bytes) = nullptr;
  /// The place of the size of an element in that list; -1: it has none.
  int element_value = -1;
  /// Encodes `input` in HDF5's format into `output`, which has the largest permitted size: one byte
  /// less than `input` for a compressor. Returns the number of bytes written, or 0 if a
  /// compressor's result does not fit.
  Result<std::size_t> (*encode)(const Filtering& filtering, std::span<const std::byte> input,
                                std::span<std::byte> output) = nullptr;
  /// Decodes `input`, which must fill `output` exactly; otherwise fails with format. For
  /// FilterKind::checksum, `output` is empty, and the result is `input` without the appended bytes.
  Result<std::span<const std::byte>> (*decode)(const Filtering& filtering, std::span<const std::byte> input,
                                               std::span<std::byte> output) = nullptr;
  /// The size of the bytes that were encoded to `input`; nullopt if `input` is damaged or does not
  /// say it. Null if HDF5 itself has the filter.
  std::optional<std::uint64_t> (*decoded_bytes)(std::span<const std::byte> input) = nullptr;
  /// What this build lacks for the codec: "libzstd (Debian's package libzstd-dev)". Empty: nothing.
  /// If something is lacking, all functions are null, and no chain may contain the codec.
  std::string_view lacks = {};
};

#define AFTERBAY_ROW(NAME) extern const Codec NAME##_codec;
AFTERBAY_CODECS(AFTERBAY_ROW)
#undef AFTERBAY_ROW

/// All registered codecs.
std::span<const Codec* const> all_codecs() noexcept;
/// The codec with this number or name; null if there is none.
const Codec* find_codec(std::uint32_t id) noexcept;
const Codec* find_codec(std::string_view name) noexcept;

/// The codecs of a kind, in the order of the table, whether or not this build has them.
std::vector<const Codec*> codecs_of(FilterKind kind);
/// Whether every HDF5 library has the filter; otherwise readers need a plugin.
/// Source: H5Zpublic.h: numbers below H5Z_FILTER_RESERVED (256) are the library's own.
bool is_part_of_hdf5(const Codec& codec) noexcept;

/// "deflate, shuffle or fletcher32", for messages: the codecs that this build has.
std::string codec_names();
/// The largest expansion of all codecs.
std::uint64_t most_expansion() noexcept;

}  // namespace afterbay::codec
