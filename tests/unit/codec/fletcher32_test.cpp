// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <hdf5.h>

#include <random>
#include <vector>

#include "codec/fletcher32.hpp"

namespace afterbay::codec {
namespace {

std::vector<std::byte> fletcher32_noise(std::size_t bytes) {
  std::vector<std::byte> fletcher32_noise(bytes);
  std::mt19937 generator(7);
  for (std::byte& byte : fletcher32_noise) byte = static_cast<std::byte>(generator() & 0xff);
  return fletcher32_noise;
}

/// The chunk as HDF5's own filter stores it.
std::vector<std::byte> stored_by_hdf5(const std::vector<std::byte>& data) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_core(access, std::size_t{1} << 20, false);
  const hid_t file = H5Fcreate("fletcher32.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  const hsize_t length = data.size();
  const hid_t space = H5Screate_simple(1, &length, nullptr);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(creation, 1, &length);
  H5Pset_fletcher32(creation);
  const hid_t dataset = H5Dcreate2(file, "a", H5T_STD_U8LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  H5Dwrite(dataset, H5T_STD_U8LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data());
  H5Dflush(dataset);
  std::vector<std::byte> stored(data.size() + 4);
  const hsize_t first = 0;
  std::uint32_t mask = 0;
  EXPECT_GE(H5Dread_chunk(dataset, H5P_DEFAULT, &first, &mask, stored.data()), 0);
  H5Dclose(dataset);
  H5Pclose(creation);
  H5Sclose(space);
  H5Fclose(file);
  H5Pclose(access);
  return stored;
}

TEST(Fletcher32, is_the_checksum_that_hdf5_stores_whatever_the_length) {
  for (const std::size_t bytes : {1u, 2u, 3u, 719u, 720u, 721u, 10000u, 100001u}) {
    const std::vector<std::byte> data = fletcher32_noise(bytes);
    const std::vector<std::byte> stored = stored_by_hdf5(data);
    const auto checked = check_fletcher32(stored);
    ASSERT_TRUE(checked) << bytes << ": " << checked.error().text();
    EXPECT_TRUE(std::equal(checked->begin(), checked->end(), data.begin(), data.end()));
  }
}

TEST(Fletcher32, a_changed_byte_or_a_missing_checksum_is_found) {
  std::vector<std::byte> stored = stored_by_hdf5(fletcher32_noise(1000));
  for (const std::size_t at : {0u, 500u, 999u, 1001u}) {
    std::vector<std::byte> damaged = stored;
    damaged[at] ^= std::byte{1};
    const auto checked = check_fletcher32(damaged);
    ASSERT_FALSE(checked) << at;
    EXPECT_EQ(checked.error().code, ErrorCode::format);
  }
  EXPECT_FALSE(check_fletcher32(std::span(stored).first(3)));
}

}  // namespace
}  // namespace afterbay::codec
