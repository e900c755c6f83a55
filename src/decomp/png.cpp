// SPDX-License-Identifier: Apache-2.0
#include <png.h>

#include <cerrno>
#include <cstring>

#include "decomp/drawing.hpp"

namespace afterbay::decomp {

Result<> write_png(const std::string& path, const Picture& picture) {
  static_assert(sizeof(Colour) == 3);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = picture.width;
  image.height = picture.height;
  image.format = PNG_FORMAT_RGB;
  errno = 0;
  if (png_image_write_to_file(&image, path.c_str(), 0, picture.pixels.data(), 0, nullptr) != 0) return {};
  const std::string said = image.message;
  png_image_free(&image);
  return fail(make_error(errno == ENOSPC ? ErrorCode::no_space : ErrorCode::io, "cannot be written: {}", said)
                  .in_file(path));
}

}  // namespace afterbay::decomp
