// SPDX-License-Identifier: Apache-2.0
// The parts of reading: rows of boxes, bounded memory.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "storage/input/chunk_memory.hpp"
#include "storage/input/pool_workspace.hpp"
#include "storage/input/rows.hpp"

namespace afterbay::storage {
namespace {

using Row = std::array<std::uint64_t, 3>;

model::Index index(std::vector<std::uint64_t> values) { return model::Index(values); }

std::vector<Row> rows_of(const model::Index& count, const BoxInArray& from, const BoxInArray& to) {
  std::vector<Row> rows;
  const auto all = for_each_row(count, from, to, [&](auto a, auto b, auto n) -> Result<> {
    rows.push_back({a, b, n});
    return {};
  });
  EXPECT_TRUE(all);
  return rows;
}

TEST(InputRows, are_as_long_as_both_arrays_allow) {
  const model::Index none = index({0, 0, 0});
  EXPECT_EQ(rows_of(index({2, 3, 4}), {index({2, 3, 4}), none}, {index({2, 3, 4}), none}),
            (std::vector<Row>{{0, 0, 24}}));
  EXPECT_EQ(rows_of(index({2, 2, 4}), {index({2, 3, 4}), index({0, 1, 0})}, {index({2, 2, 4}), none}),
            (std::vector<Row>{{4, 0, 8}, {16, 8, 8}}));
  EXPECT_EQ(
      rows_of(index({1, 2, 2}), {index({2, 3, 4}), index({1, 1, 1})}, {index({1, 2, 5}), index({0, 0, 3})}),
      (std::vector<Row>{{17, 3, 2}, {21, 8, 2}}));
  EXPECT_EQ(rows_of({}, {}, {}), (std::vector<Row>{{0, 0, 1}}));
  EXPECT_TRUE(rows_of(index({0, 2}), {index({4, 4}), index({0, 0})}, {index({0, 2}), index({0, 0})}).empty());
}

TEST(InputRows, end_with_the_first_error) {
  int calls = 0;
  const auto failed = for_each_row(index({3, 1}), {index({3, 2}), index({0, 0})},
                                   {index({3, 1}), index({0, 0})}, [&](auto, auto, auto) -> Result<> {
                                     ++calls;
                                     return fail(ErrorCode::io, "no");
                                   });
  EXPECT_FALSE(failed);
  EXPECT_EQ(calls, 1);
}

TEST(ThreadInputMemory, a_chunk_is_decoded_once_by_threads_that_want_it_at_once) {
  BufferPool pool(1u << 20);
  ChunkMemory memory(1u << 20);
  std::atomic<int> decoded{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (std::uint64_t number = 0; number < 8; ++number) {
          const auto chunk = memory.chunk(3, number, 4096);
          const auto bytes = chunk->get([&](BufferPool::Loan& buffer) -> Result<> {
            ++decoded;
            buffer = pool.borrow(4096);
            std::memset(buffer.bytes().data(), static_cast<int>(number), 4096);
            return {};
          });
          ASSERT_TRUE(bytes);
          EXPECT_EQ((*bytes)[4095], static_cast<std::byte>(number));
        }
      });
  }
  EXPECT_EQ(decoded, 8);
}

TEST(InputMemory, chunks_not_used_for_longest_go_and_a_failed_one_is_tried_again) {
  BufferPool pool(1u << 20);
  ChunkMemory memory(3000);
  int decoded = 0;
  const auto use = [&](std::uint64_t number) {
    const auto into = [&](BufferPool::Loan& buffer) -> Result<> {
      ++decoded;
      buffer = pool.borrow(1000);
      return {};
    };
    EXPECT_TRUE(memory.chunk(0, number, 1000)->get(into));
  };
  for (const std::uint64_t number : {0u, 1u, 2u, 0u, 1u, 2u, 0u}) use(number);
  EXPECT_EQ(decoded, 3);
  use(3);  // 1 is evicted
  use(0);
  use(2);
  EXPECT_EQ(decoded, 4);
  use(1);
  EXPECT_EQ(decoded, 5);
  const auto chunk = memory.chunk(1, 0, 100000);  // too large to be kept
  EXPECT_FALSE(chunk->get([](BufferPool::Loan&) -> Result<> { return fail(ErrorCode::io, "no"); }));
  EXPECT_TRUE(chunk->get([](BufferPool::Loan&) -> Result<> { return {}; }));
  EXPECT_NE(memory.chunk(1, 0, 100000), chunk);
}

TEST(InputMemory, a_workspace_has_two_buffers_that_are_used_again) {
  BufferPool pool(1u << 20);
  const std::byte* first = nullptr;
  {
    PoolWorkspace workspace(pool);
    const std::span<std::byte> one = workspace.take(0, 5000);
    const std::span<std::byte> other = workspace.take(1, 5000);
    EXPECT_EQ(one.size(), 5000u);
    EXPECT_NE(one.data(), other.data());
    EXPECT_EQ(workspace.take(0, 5000).data(), one.data());
    first = one.data();
  }
  const auto a = pool.borrow(5000);
  const auto b = pool.borrow(5000);
  EXPECT_TRUE(a.bytes().data() == first || b.bytes().data() == first);
}

TEST(InputMemory, buffers_are_used_again) {
  BufferPool pool(1u << 20);
  const std::byte* first = nullptr;
  {
    auto loan = pool.borrow(100000);
    first = loan.bytes().data();
    EXPECT_GE(loan.bytes().size(), 100000u);
  }
  EXPECT_EQ(pool.borrow(90000).bytes().data(), first);
  EXPECT_GE(pool.borrow(2u << 20).bytes().size(), 2u << 20);
}

}  // namespace
}  // namespace afterbay::storage
