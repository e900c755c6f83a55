// SPDX-License-Identifier: Apache-2.0
// Codec: what the library knows of one filter of chunks. Each codec's row lies in its own file of this
// folder; the rest of the library goes through a variable's filters and asks their rows, never for a codec by
// name.
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

/// The registration: one line per codec, in the order of settings and messages. A file of this folder defines
/// `codec::NAME_codec`.
#define AFTERBAY_CODECS(ROW) \
  ROW(deflate)               \
  ROW(shuffle)               \
  ROW(fletcher32)

namespace afterbay::codec {

/// What a codec does to a chunk, which fixes where a filter stands among the others: filters are applied in
/// the order of these stages, as netCDF-C does.
enum class Stage : std::uint8_t {
  check,    ///< adds bytes that show damage
  arrange,  ///< as many bytes in another order
  compress  ///< fewer bytes; left out of a chunk that it does not make smaller
};

/// How a filter of one variable works.
struct Filtering {
  std::span<const std::uint32_t> parameters;
  std::size_t element_bytes = 1;  ///< size of the variable's type
};

/// The row of a codec. All functions are pure and may be called by any thread.
struct Codec {
  std::string_view name = {};  ///< of the settings, in the API and in messages; a literal
  std::uint32_t id = 0;        ///< number under which it is registered for HDF5
  Stage stage = Stage::compress;
  /// A level from 1 to this is the filter's parameter; 0: it is only on or off, and has no parameter.
  int most_level = 0;
  std::string_view documentation = {};  ///< of its setting, a paragraph of Markdown
  std::size_t added_bytes = 0;          ///< how many bytes an encoded chunk has more; only Stage::check
  /// Most bytes that one encoded byte may become.
  std::uint64_t most_expansion = 1;
  /// Whether variables of a type may have it; null: of all types that can be filtered.
  bool (*takes)(Type type) = nullptr;
  /// The parameters of a filter that HDF5 lists with `values` (cd_values); nothing: it works in a way that
  /// `encode` and `decode` do not. What HDF5 is given are the parameters themselves.
  std::optional<std::vector<std::uint32_t>> (*from_hdf5)(std::span<const unsigned> values,
                                                         std::size_t element_bytes) = nullptr;
  /// Encodes `input` in HDF5's format into `output`, which has as many bytes as the stage allows: of a
  /// compressor one less than `input`. Gives the bytes written, or 0 when a compressor's do not fit.
  Result<std::size_t> (*encode)(const Filtering& filtering, std::span<const std::byte> input,
                                std::span<std::byte> output) = nullptr;
  /// Decodes `input`, which must give exactly `output`; fails with format otherwise. Of Stage::check `output`
  /// is empty, and the result is the part of `input` without what was added.
  Result<std::span<const std::byte>> (*decode)(const Filtering& filtering, std::span<const std::byte> input,
                                               std::span<std::byte> output) = nullptr;
};

#define AFTERBAY_ROW(NAME) extern const Codec NAME##_codec;
AFTERBAY_CODECS(AFTERBAY_ROW)
#undef AFTERBAY_ROW

/// All that are registered.
std::span<const Codec* const> all_codecs() noexcept;
/// The one with that number or name, or null.
const Codec* find_codec(std::uint32_t id) noexcept;
const Codec* find_codec(std::string_view name) noexcept;

/// "deflate, shuffle or fletcher32", for advice.
std::string codec_names();
/// Most bytes that one byte of a file may become by one codec.
std::uint64_t most_expansion() noexcept;

}  // namespace afterbay::codec
