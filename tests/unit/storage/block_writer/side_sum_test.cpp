// SPDX-License-Identifier: Apache-2.0
#include "storage/block_writer/side_sum.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/crc64.hpp"

namespace afterbay::storage {
namespace {

TEST(ThreadSideSum, gives_each_writer_the_checksum_of_its_own_bytes) {
  SideSum side;
  std::vector<std::jthread> writers;
  for (std::size_t t = 0; t < 4; ++t)
    writers.emplace_back([&side, t] {
      for (std::size_t i = 1; i < 50; ++i) {
        const std::vector<std::byte> bytes(i * 1000 + t, static_cast<std::byte>(i + t));
        SideSum::Job job(bytes);
        side.begin(job);
        if (i % 7 == 0) std::this_thread::yield();
        ASSERT_EQ(side.end(job), crc64(bytes));
      }
    });
}

TEST(ThreadSideSum, ends_while_nobody_has_given_it_anything) {
  const SideSum never_used;
  SideSum used_once;
  const std::vector<std::byte> bytes(100, std::byte{1});
  SideSum::Job job(bytes);
  used_once.begin(job);
  EXPECT_EQ(used_once.end(job), crc64(bytes));
}

}  // namespace
}  // namespace afterbay::storage
