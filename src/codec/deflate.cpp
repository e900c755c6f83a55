// SPDX-License-Identifier: Apache-2.0
#include "codec/deflate.hpp"

#include <algorithm>
#include <array>

#include "codec/codec.hpp"

#ifdef AFTERBAY_HAS_LIBDEFLATE
#include <libdeflate.h>

#include <memory>
#else
#include <zlib.h>
#endif

namespace afterbay::codec {
namespace {

constexpr int most_deflate_level = 9;

tl::unexpected<Error> wrong_level(int level) {
  return fail(ErrorCode::invalid_argument, "deflate level {}: it must be 1 (fast) to {} (small)", level,
              most_deflate_level);
}

tl::unexpected<Error> damaged(std::span<const std::byte> input, std::span<std::byte> output,
                              std::string_view library, int status) {
  return fail(make_error(ErrorCode::format,
                         "{} bytes of compressed data do not expand to the {} bytes expected ({} status {}): "
                         "the data are damaged or not a zlib stream",
                         input.size(), output.size(), library, status)
                  .with_native(status));
}

/// HDF5 takes level 0, with which zlib stores; at least 1 is used.
int zlib_level(const Filtering& filtering) {
  return filtering.parameters.empty() ? 1 : static_cast<int>(std::max(1u, filtering.parameters.front()));
}

std::optional<std::vector<std::uint32_t>> deflate_from_hdf5(std::span<const unsigned> values, std::size_t) {
  return std::vector<std::uint32_t>{values.empty() ? 1u : std::min(values.front(), 9u)};
}

Result<std::size_t> encode_deflate(const Filtering& filtering, std::span<const std::byte> input,
                                   std::span<std::byte> output) {
  return deflate(input, zlib_level(filtering), output);
}

Result<std::span<const std::byte>> decode_deflate(const Filtering&, std::span<const std::byte> input,
                                                  std::span<std::byte> output) {
  AFTERBAY_TRY(inflate(input, output));
  return output;
}

constexpr std::array deflate_trials{1, 4, 6};

}  // namespace

// Source: RFC 1951 and zlib's documentation: deflate expands one byte to at most 1032.
constinit const Codec deflate_codec{
    .name = "deflate",
    .id = 1,
    .kind = FilterKind::compress,
    .most_level = most_deflate_level,
    .trial_levels = deflate_trials,
    .untried = 1,
    .documentation = "Compression level of zlib for all variables, 0 for none; netCDF-4 only.",
    .most_expansion = 1040,
    .from_hdf5 = deflate_from_hdf5,
    .encode = encode_deflate,
    .decode = decode_deflate,
};

#ifdef AFTERBAY_HAS_LIBDEFLATE

namespace {

struct FreeDeflate {
  void operator()(libdeflate_compressor* it) const noexcept { libdeflate_free_compressor(it); }
  void operator()(libdeflate_decompressor* it) const noexcept { libdeflate_free_decompressor(it); }
};

/// A thread's working memory for the level that it used last, which is kept from chunk to chunk:
/// faulting it in anew would take as long as a small chunk. Null if there is no memory.
libdeflate_compressor* compressor_of(int level) {
  thread_local std::unique_ptr<libdeflate_compressor, FreeDeflate> compressor;
  thread_local int level_of_it = 0;
  if (level != level_of_it || !compressor) {
    compressor.reset(libdeflate_alloc_compressor(level));
    level_of_it = level;
  }
  return compressor.get();
}

libdeflate_decompressor* decompressor() {
  thread_local const std::unique_ptr<libdeflate_decompressor, FreeDeflate> it(
      libdeflate_alloc_decompressor());
  return it.get();
}

}  // namespace

Result<std::size_t> deflate(std::span<const std::byte> input, int level, std::span<std::byte> output) {
  if (level < 1 || level > most_deflate_level) return wrong_level(level);
  libdeflate_compressor* const compressor = compressor_of(level);
  if (compressor == nullptr)
    return fail(ErrorCode::resources, "deflate of {} bytes: there is no memory", input.size());
  return libdeflate_zlib_compress(compressor, input.data(), input.size(), output.data(), output.size());
}

Result<> inflate(std::span<const std::byte> input, std::span<std::byte> output) {
  if (decompressor() == nullptr)
    return fail(ErrorCode::resources, "inflate to {} bytes: there is no memory", output.size());
  const libdeflate_result status = libdeflate_zlib_decompress(decompressor(), input.data(), input.size(),
                                                              output.data(), output.size(), nullptr);
  if (status == LIBDEFLATE_SUCCESS) return {};
  return damaged(input, output, "libdeflate", status);
}

#else

namespace {

const Bytef* as_bytes(std::span<const std::byte> span) { return reinterpret_cast<const Bytef*>(span.data()); }
Bytef* as_bytes(std::span<std::byte> span) { return reinterpret_cast<Bytef*>(span.data()); }

}  // namespace

Result<std::size_t> deflate(std::span<const std::byte> input, int level, std::span<std::byte> output) {
  if (level < 1 || level > most_deflate_level) return wrong_level(level);
  uLongf produced = output.size();
  const int status = compress2(as_bytes(output), &produced, as_bytes(input), input.size(), level);
  if (status == Z_BUF_ERROR) return std::size_t{0};
  if (status == Z_MEM_ERROR)
    return fail(make_error(ErrorCode::resources, "deflate of {} bytes: zlib got no memory", input.size())
                    .with_native(status));
  if (status != Z_OK)
    return fail(make_error(ErrorCode::internal, "deflate of {} bytes: zlib status {}", input.size(), status)
                    .with_native(status));
  return static_cast<std::size_t>(produced);
}

Result<> inflate(std::span<const std::byte> input, std::span<std::byte> output) {
  uLongf produced = output.size();
  const int status = uncompress(as_bytes(output), &produced, as_bytes(input), input.size());
  if (status == Z_OK && produced == output.size()) return {};
  return damaged(input, output, "zlib", status);
}

#endif

}  // namespace afterbay::codec
