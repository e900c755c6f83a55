// SPDX-License-Identifier: Apache-2.0
#include "codec/deflate.hpp"

#include <zlib.h>

namespace afterbay::codec {
namespace {

const Bytef* as_bytes(std::span<const std::byte> span) { return reinterpret_cast<const Bytef*>(span.data()); }
Bytef* as_bytes(std::span<std::byte> span) { return reinterpret_cast<Bytef*>(span.data()); }

}  // namespace

Result<std::size_t> deflate(std::span<const std::byte> input, int level, std::span<std::byte> output) {
  if (level < 1 || level > 9)
    return fail(ErrorCode::invalid_argument, "deflate level {}: it must be 1 (fast) to 9 (small)", level);
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
  return fail(
      make_error(ErrorCode::format,
                 "{} bytes of compressed data do not expand to the {} bytes expected (zlib status {}): "
                 "the data are damaged or not a zlib stream",
                 input.size(), output.size(), status)
          .with_native(status));
}

}  // namespace afterbay::codec
