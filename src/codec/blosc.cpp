// SPDX-License-Identifier: Apache-2.0
// Buffers of Blosc 1, as HDF5's registered filter 32001 and netCDF-C 4.9 write and read them: one
// buffer per chunk, which says how it was encoded. HDF5's values: version of the filter, version of
// the format, size of an element, size of a chunk (writers only; 0: unknown), level, shuffle (0
// none, 1 bytes, 2 bits), number of the compressor.
// Source of the format: README_CHUNK_FORMAT of c-blosc 1.21, and the values of hdf5-blosc.
#include "codec/codec.hpp"

#include <array>

#ifdef AFTERBAY_HAS_BLOSC
#include <blosc.h>

#include <algorithm>
#endif

namespace afterbay::codec {

#ifdef AFTERBAY_HAS_BLOSC
namespace {

constexpr unsigned blosc_filter_version = 2;
constexpr std::size_t blosc_level_value = 4;  ///< place of the level in HDF5's values
constexpr int most_blosc_level = 9;
constexpr std::uint32_t usual_blosc_level = 5;  ///< level that the filter uses if none is listed

/// How a chunk was encoded is in the chunk, so that all shuffles and compressors can be read.
/// Level 0, a mere copy, is read as level 1.
std::optional<std::vector<std::uint32_t>> blosc_from_hdf5(std::span<const unsigned> values, std::size_t) {
  // netCDF-C hands over what a variable was defined with: the level alone.
  const unsigned level = values.size() == 1                  ? values.front()
                         : values.size() > blosc_level_value ? values[blosc_level_value]
                                                             : usual_blosc_level;
  return std::vector<std::uint32_t>{std::clamp<std::uint32_t>(level, 1, most_blosc_level)};
}

std::vector<unsigned> blosc_to_hdf5(std::span<const std::uint32_t> parameters, std::size_t element_bytes) {
  return {blosc_filter_version,
          BLOSC_VERSION_FORMAT,
          static_cast<unsigned>(element_bytes),
          0,
          parameters.empty() ? usual_blosc_level : parameters.front(),
          BLOSC_SHUFFLE,
          BLOSC_ZSTD};
}

/// The *_ctx functions have no global state; one thread each, because workers are the threads here.
Result<std::size_t> encode_blosc(const Filtering& filtering, std::span<const std::byte> input,
                                 std::span<std::byte> output) {
  if (input.size() > BLOSC_MAX_BUFFERSIZE) return std::size_t{0};
  const int level = filtering.parameters.empty() ? static_cast<int>(usual_blosc_level)
                                                 : static_cast<int>(filtering.parameters.front());
  const int size_bytes =
      blosc_compress_ctx(level, BLOSC_SHUFFLE, filtering.element_bytes, input.size(), input.data(),
                         output.data(), output.size(), BLOSC_ZSTD_COMPNAME, 0, 1);
  if (size_bytes >= 0) return static_cast<std::size_t>(size_bytes);
  return fail(ErrorCode::resources, "blosc of {} bytes at level {}: error {} of its library", input.size(),
              level, size_bytes);
}

std::optional<std::uint64_t> blosc_decoded_bytes(std::span<const std::byte> input) {
  std::size_t size_bytes = 0;
  if (blosc_cbuffer_validate(input.data(), input.size(), &size_bytes) != 0) return std::nullopt;
  return size_bytes;
}

Result<std::span<const std::byte>> decode_blosc(const Filtering&, std::span<const std::byte> input,
                                                std::span<std::byte> output) {
  const bool is_whole = blosc_decoded_bytes(input) == output.size();
  if (is_whole && output.empty()) return output;
  if (is_whole &&
      blosc_decompress_ctx(input.data(), output.data(), output.size(), 1) == static_cast<int>(output.size()))
    return output;
  return fail(
      ErrorCode::format,
      "{} bytes of compressed data do not expand to the {} bytes expected: the data are damaged or not "
      "a buffer of Blosc, or its library lacks the compressor",
      input.size(), output.size());
}

}  // namespace
#endif

namespace {
constexpr std::array blosc_trials{1, 5};
}  // namespace

// Source of the expansion: that of zstd, the strongest of Blosc's compressors.
constinit const Codec blosc_codec{
    .name = "blosc",
    .id = 32001,
    .kind = FilterKind::compress,
    .most_level = 9,
    .trial_levels = blosc_trials,
    .rearranges = true,
    .documentation =
        "Compression level of Blosc for all variables, 0 for none: shuffled bytes and Zstandard in blocks "
        "that fit into a processor's cache. It shuffles itself: `shuffle` beside it gains nothing. Readers "
        "need HDF5's filter 32001, which netCDF-C can have from 4.9 on and `hdf5plugin` brings to h5py. "
        "NetCDF-4 only; see [which codec](../how-to/which-codec.md).",
    .most_expansion = 32768,
#ifdef AFTERBAY_HAS_BLOSC
    .from_hdf5 = blosc_from_hdf5,
    .to_hdf5 = blosc_to_hdf5,
    .element_value = 2,
    .encode = encode_blosc,
    .decode = decode_blosc,
    .decoded_bytes = blosc_decoded_bytes,
#else
    .lacks = "libblosc (Debian's package libblosc-dev)",
#endif
};

}  // namespace afterbay::codec
