// SPDX-License-Identifier: Apache-2.0
#include "statistics/huge_pages.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory_resource>
#include <new>
#include <optional>

#include "statistics/state_memory.hpp"

namespace afterbay::statistics {
namespace {

TEST(StatisticsHugePages, ChunksBeginOnAHugePageAndCanBeUsedToTheirEnd) {
  HugePages pages;
  for (const std::size_t bytes : {std::size_t{1}, HugePages::page_bytes, 3 * HugePages::page_bytes + 1}) {
    void* const chunk = pages.allocate(bytes, 64);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(chunk) % HugePages::page_bytes, 0U) << bytes;
    std::memset(chunk, 1, bytes);
    pages.deallocate(chunk, bytes, 64);
  }
}

TEST(StatisticsHugePages, WhatCannotBeMappedIsRefused) {
  HugePages pages;
  EXPECT_THROW((void)pages.allocate(std::numeric_limits<std::size_t>::max() - 100), std::bad_alloc);
  EXPECT_THROW((void)pages.allocate(std::size_t{1} << 60), std::bad_alloc);
  EXPECT_THROW((void)pages.allocate(1, 2 * HugePages::page_bytes), std::bad_alloc);
}

/// Counts what is allocated.
class Counted final : public std::pmr::memory_resource {
 public:
  std::size_t bytes = 0;

 private:
  void* do_allocate(std::size_t wanted, std::size_t alignment) override {
    bytes += wanted;
    return std::pmr::new_delete_resource()->allocate(wanted, alignment);
  }
  void do_deallocate(void* memory, std::size_t given, std::size_t alignment) override {
    bytes -= given;
    std::pmr::new_delete_resource()->deallocate(memory, given, alignment);
  }
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }
};

TEST(StatisticsHugePages, StatesTakeTheirMemoryFromTheResourceAndReturnIt) {
  Counted counted;
  const Statistic mean{.kind = StatisticKind::mean};
  {
    std::optional<StateMemory> kept;
    {
      StateMemory memory(mean, Type::float32, 1000, counted);
      EXPECT_EQ(counted.bytes, StateMemory::bytes_of(mean, Type::float32, 1000));
      EXPECT_EQ(memory.bytes().size(), counted.bytes);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.bytes().data()) % 64, 0U);
      kept.emplace(std::move(memory));
    }
    EXPECT_GT(counted.bytes, 0U) << "it was moved";
  }
  EXPECT_EQ(counted.bytes, 0U);
}

}  // namespace
}  // namespace afterbay::statistics
