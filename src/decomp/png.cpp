// SPDX-License-Identifier: Apache-2.0
#include <png.h>

#include <cstddef>
#include <span>
#include <vector>

#include "decomp/drawing.hpp"
#include "decomp/part_file.hpp"

namespace afterbay::decomp {

Result<> write_png(const std::string& path, const Picture& picture) {
  static_assert(sizeof(Colour) == 3);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = picture.width;
  image.height = picture.height;
  image.format = PNG_FORMAT_RGB;
  std::vector<std::byte> file(PNG_IMAGE_PNG_SIZE_MAX(image));
  png_alloc_size_t bytes = file.size();
  if (png_image_write_to_memory(&image, file.data(), &bytes, 0, picture.pixels.data(), 0, nullptr) == 0) {
    const std::string said = image.message;
    png_image_free(&image);
    return fail(make_error(ErrorCode::internal, "cannot be made: {}", said).in_file(path));
  }
  AFTERBAY_TRY_ASSIGN(const auto part, PartFile::create(path));
  AFTERBAY_TRY(part->write(std::span(file).first(bytes)));
  return part->publish();
}

}  // namespace afterbay::decomp
