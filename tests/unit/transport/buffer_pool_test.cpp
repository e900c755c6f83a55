// SPDX-License-Identifier: Apache-2.0
#include "transport/buffer_pool.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>

namespace afterbay::transport {
namespace {

constexpr std::uint64_t kib = 1024;

TEST(TransportBufferPool, buffers_are_used_again) {
  BufferPool pool(1024 * kib);
  auto buffer = pool.take(200 * kib);
  ASSERT_TRUE(buffer);
  std::memset(buffer.get(), 1, 200 * kib);
  const std::byte* const first = buffer.get();
  auto copy = buffer;
  buffer.reset();
  EXPECT_GE(pool.lent_bytes(), 200 * kib) << "a copy is left";
  copy.reset();
  EXPECT_EQ(pool.lent_bytes(), 0u);
  EXPECT_EQ(pool.take(150 * kib).get(), first);
}

TEST(TransportBufferPool, no_more_than_the_limit_is_lent_or_kept) {
  BufferPool pool(256 * kib);
  auto first = pool.take(128 * kib), second = pool.take(128 * kib);
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(pool.take(1));
  second.reset();
  EXPECT_FALSE(pool.take(129 * kib));
  EXPECT_TRUE(pool.take(1));
  first.reset();
  EXPECT_TRUE(pool.take(256 * kib)) << "smaller buffers make room";
  EXPECT_LE(pool.allocated_bytes(), 256 * kib);
}

TEST(TransportBufferPool, a_single_buffer_may_be_larger_and_is_not_kept) {
  BufferPool pool(64 * kib);
  auto large = pool.take(1000 * kib);
  ASSERT_TRUE(large);
  std::memset(large.get(), 1, 1000 * kib);
  EXPECT_FALSE(pool.take(1));
  large.reset();
  EXPECT_EQ(pool.allocated_bytes(), 0u);
  EXPECT_TRUE(pool.take(1));
}

TEST(TransportBufferPool, a_buffer_may_outlive_the_pool) {
  std::optional<BufferPool> pool(64 * kib);
  const auto buffer = pool->take(10);
  pool.reset();
  std::memset(buffer.get(), 1, 10);
}

}  // namespace
}  // namespace afterbay::transport
