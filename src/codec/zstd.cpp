// SPDX-License-Identifier: Apache-2.0
// Zstandard frames, as HDF5's registered filter 32015 and netCDF-C 4.9 write and read them: one
// frame per chunk, which states its decoded size. Its only value is the level.
#include "codec/codec.hpp"

#include <array>

#ifdef AFTERBAY_HAS_ZSTD
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <memory>
#endif

namespace afterbay::codec {

#ifdef AFTERBAY_HAS_ZSTD
namespace {

constexpr int most_zstd_level = 22;
/// The level that the filter uses if none is listed (ZSTD_CLEVEL_DEFAULT).
constexpr std::uint32_t usual_zstd_level = 3;

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const noexcept { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const noexcept { ZSTD_freeDCtx(context); }
};

/// A thread's working memory, which is kept from chunk to chunk: to fault it in anew would take
/// about as long as to encode a chunk at a low level. Null if there is no memory.
ZSTD_CCtx* encoding_context() {
  thread_local const std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  return context.get();
}

ZSTD_DCtx* decoding_context() {
  thread_local const std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  return context.get();
}

/// Negative levels, which are faster and compress less, are read as level 1.
std::optional<std::vector<std::uint32_t>> zstd_from_hdf5(std::span<const unsigned> values, std::size_t) {
  if (values.empty()) return std::vector<std::uint32_t>{usual_zstd_level};
  const int level = std::clamp(static_cast<int>(values.front()), 1, most_zstd_level);
  return std::vector<std::uint32_t>{static_cast<std::uint32_t>(level)};
}

Result<std::size_t> encode_zstd(const Filtering& filtering, std::span<const std::byte> input,
                                std::span<std::byte> output) {
  ZSTD_CCtx* const context = encoding_context();
  if (context == nullptr)
    return fail(ErrorCode::resources, "zstd of {} bytes: there is no memory", input.size());
  const int level = filtering.parameters.empty() ? 1 : static_cast<int>(filtering.parameters.front());
  const std::size_t size_bytes =
      ZSTD_compressCCtx(context, output.data(), output.size(), input.data(), input.size(), level);
  if (ZSTD_isError(size_bytes) == 0) return size_bytes;
  if (output.size() < ZSTD_compressBound(input.size()) &&
      ZSTD_getErrorCode(size_bytes) == ZSTD_error_dstSize_tooSmall)
    return std::size_t{0};
  return fail(ErrorCode::resources, "zstd of {} bytes at level {}: {}", input.size(), level,
              ZSTD_getErrorName(size_bytes));
}

Result<std::span<const std::byte>> decode_zstd(const Filtering&, std::span<const std::byte> input,
                                               std::span<std::byte> output) {
  ZSTD_DCtx* const context = decoding_context();
  if (context == nullptr)
    return fail(ErrorCode::resources, "zstd of {} bytes: there is no memory", output.size());
  const std::size_t size_bytes =
      ZSTD_decompressDCtx(context, output.data(), output.size(), input.data(), input.size());
  if (ZSTD_isError(size_bytes) == 0 && size_bytes == output.size()) return output;
  return fail(ErrorCode::format,
              "{} bytes of compressed data do not expand to the {} bytes expected ({}): the data are damaged "
              "or not a zstd frame",
              input.size(), output.size(),
              ZSTD_isError(size_bytes) != 0 ? ZSTD_getErrorName(size_bytes) : "they expand to fewer");
}

std::optional<std::uint64_t> zstd_decoded_bytes(std::span<const std::byte> input) {
  const auto size_bytes = ZSTD_getFrameContentSize(input.data(), input.size());
  if (size_bytes == ZSTD_CONTENTSIZE_UNKNOWN || size_bytes == ZSTD_CONTENTSIZE_ERROR) return std::nullopt;
  return size_bytes;
}

}  // namespace
#endif

namespace {
constexpr std::array zstd_trials{1, 3, 5, 9, 12};
}  // namespace

// Source of the expansion: RFC 8878, 3.1.1.2: a block of 4 bytes (RLE) stands for up to 128 KiB.
constinit const Codec zstd_codec{
    .name = "zstd",
    .id = 32015,
    .kind = FilterKind::compress,
    .most_level = 22,
    .trial_levels = zstd_trials,
    .untried = 2,
    .documentation =
        "Compression level of Zstandard for all variables, 0 for none: faster than `deflate` at the same "
        "size. Readers need HDF5's filter 32015, which netCDF-C has from 4.9 on and `hdf5plugin` brings to "
        "h5py. Levels above 12 are slow and take a lot of memory. NetCDF-4 only; see [which "
        "codec](../how-to/which-codec.md).",
    .most_expansion = 32768,
#ifdef AFTERBAY_HAS_ZSTD
    .from_hdf5 = zstd_from_hdf5,
    .encode = encode_zstd,
    .decode = decode_zstd,
    .decoded_bytes = zstd_decoded_bytes,
#else
    .lacks = "libzstd (Debian's package libzstd-dev)",
#endif
};

}  // namespace afterbay::codec
