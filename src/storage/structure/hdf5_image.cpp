// SPDX-License-Identifier: Apache-2.0
#include "storage/structure/hdf5_image.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <span>

namespace afterbay::storage {
namespace {

/// Bob Jenkins' lookup3 (hashlittle, start 0) of bytes whose number is not a multiple of 12 and a
/// multiple of 4. Source: HDF5 File Format Specification 3.0, appendix on the checksum;
/// burtleburtle.net/bob/c/lookup3.c.
std::uint32_t lookup3(std::span<const std::uint8_t> bytes) {
  const auto word = [&](std::size_t i) {
    return static_cast<std::uint32_t>(bytes[i] | bytes[i + 1] << 8 | bytes[i + 2] << 16) |
           static_cast<std::uint32_t>(bytes[i + 3]) << 24;
  };
  std::uint32_t a = 0xdeadbeefU + static_cast<std::uint32_t>(bytes.size());
  std::uint32_t b = a;
  std::uint32_t c = a;
  const auto step = [](std::uint32_t& x, std::uint32_t& y, std::uint32_t& z, int bits) {
    x = (x - z) ^ std::rotl(z, bits);
    z += y;
  };
  std::size_t at = 0;
  for (; at + 12 < bytes.size(); at += 12) {
    a += word(at);
    b += word(at + 4);
    c += word(at + 8);
    step(a, b, c, 4), step(b, c, a, 6), step(c, a, b, 8);
    step(a, b, c, 16), step(b, c, a, 19), step(c, a, b, 4);
  }
  a += word(at);
  if (at + 4 < bytes.size()) b += word(at + 4);
  const auto last = [](std::uint32_t& x, std::uint32_t y, int bits) { x = (x ^ y) - std::rotl(y, bits); };
  last(c, b, 14), last(a, c, 11), last(b, a, 25), last(c, b, 16), last(a, c, 4), last(b, a, 14),
      last(c, b, 24);
  return c;
}

/// H5Fget_file_image of HDF5 1.10 takes the mark of a file that is being written out of the
/// superblock, and leaves the checksum as it was.
void mend_superblock(std::vector<std::byte>& image) {
  constexpr std::size_t version_at = 8;
  constexpr std::size_t checksum_at = 44;  // with offsets of 8 bytes
  if (image.size() < checksum_at + 4) return;
  const auto version = static_cast<int>(image[version_at]);
  if (version < 2 || static_cast<int>(image[version_at + 1]) != 8) return;  // older ones have no checksum
  std::array<std::uint8_t, checksum_at> block{};
  for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<std::uint8_t>(image[i]);
  const std::uint32_t sum = lookup3(block);
  for (std::size_t i = 0; i < 4; ++i) image[checksum_at + i] = static_cast<std::byte>(sum >> (8 * i) & 0xFFU);
}

}  // namespace

Result<Hdf5Id> reopen(const std::string& name) {
  const auto everywhere = static_cast<hid_t>(H5F_OBJ_ALL);
  const ssize_t many = H5Fget_obj_count(everywhere, H5F_OBJ_FILE);
  std::vector<hid_t> files(many > 0 ? static_cast<std::size_t>(many) : 0);
  if (many > 0) H5Fget_obj_ids(everywhere, H5F_OBJ_FILE, files.size(), files.data());
  for (const hid_t file : files) {
    std::string its_name(name.size() + 2, '\0');
    const ssize_t length = H5Fget_name(file, its_name.data(), its_name.size());
    if (length < 0 || static_cast<std::size_t>(length) != name.size() || !its_name.starts_with(name))
      continue;
    if (Hdf5Id again(H5Freopen(file)); again.valid()) return again;
    break;
  }
  return fail(ErrorCode::internal, "HDF5 does not give the file that is in memory");
}

Result<std::vector<std::byte>> image_of_open_file(hid_t file) {
  const ssize_t bytes = H5Fflush(file, H5F_SCOPE_GLOBAL) < 0 ? -1 : H5Fget_file_image(file, nullptr, 0);
  std::vector<std::byte> image(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  if (bytes <= 0 || H5Fget_file_image(file, image.data(), image.size()) != bytes)
    return fail(hdf5_error("take the bytes of a file that is in memory"));
  mend_superblock(image);
  return image;
}

Result<std::vector<std::byte>> image_of_open_file(const std::string& name) {
  AFTERBAY_TRY_ASSIGN(const Hdf5Id file, reopen(name));
  return image_of_open_file(file.get());
}

}  // namespace afterbay::storage
