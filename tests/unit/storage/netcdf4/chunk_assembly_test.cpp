// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/chunk_assembly.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "afterbay/schema.hpp"

namespace afterbay::storage {
namespace {

constexpr std::uint64_t span = 8;
constexpr std::uint64_t piece_bytes = 4;
constexpr std::uint64_t chunk_bytes = span * piece_bytes;

/// A file in memory.
class Shelf : public ChunkHome {
 public:
  Result<> load(const ChunkKey& key, std::span<std::byte> chunk) override {
    const std::lock_guard lock(mutex_);
    const auto found = chunks.find(key);
    if (found == chunks.end()) return fail(ErrorCode::internal, "nothing was stored there");
    std::copy(found->second.begin(), found->second.end(), chunk.begin());
    return {};
  }
  Result<> store(const ChunkKey& key, std::span<const std::byte> chunk) override {
    const std::lock_guard lock(mutex_);
    ++stores;
    if (failing) return fail(ErrorCode::io, "the shelf fell");
    chunks[key].assign(chunk.begin(), chunk.end());
    return {};
  }

  std::map<ChunkKey, std::vector<std::byte>> chunks;
  int stores = 0;
  bool failing = false;

 private:
  std::mutex mutex_;
};

class ChunkAssemblyTest : public testing::Test {
 protected:
  static Variable variable() {
    Variable made;
    made.name = "t";
    made.type = Type::int8;
    made.fill = Values(std::int8_t{-1});
    return made;
  }
  static model::Piece piece(std::uint32_t number) {
    model::Piece made;
    made.number = number;
    made.bytes = piece_bytes;
    return made;
  }
  static std::byte value(std::uint32_t number, std::uint64_t record) {
    return static_cast<std::byte>(number * 50 + record);
  }

  Result<> add(std::uint32_t number, std::uint64_t record) {
    const std::vector<std::byte> bytes(piece_bytes, value(number, record));
    return assembly.add(piece(number), record, span, bytes, fill, shelf);
  }
  void expect_records(std::uint32_t number, std::uint64_t first, const std::vector<std::uint64_t>& written) {
    const std::vector<std::byte>& chunk = shelf.chunks[{0, number, first}];
    ASSERT_EQ(chunk.size(), chunk_bytes);
    for (std::uint64_t record = first; record < first + span; ++record) {
      const bool given = std::find(written.begin(), written.end(), record) != written.end();
      EXPECT_EQ(chunk[(record - first) * piece_bytes], given ? value(number, record) : std::byte{0xff})
          << record;
    }
  }

  std::shared_ptr<ByteAllowance> allowance = std::make_shared<ByteAllowance>(2 * chunk_bytes);
  ChunkAssembly assembly{allowance};
  FillPattern fill{variable(), false};
  Shelf shelf;
};

TEST_F(ChunkAssemblyTest, stores_a_chunk_once_when_it_is_whole) {
  for (const std::uint64_t record : {3u, 0u, 7u, 1u, 2u, 6u, 5u}) ASSERT_TRUE(add(0, record));
  EXPECT_EQ(shelf.stores, 0);
  EXPECT_EQ(allowance->used_bytes(), chunk_bytes);
  ASSERT_TRUE(add(0, 4));
  EXPECT_EQ(shelf.stores, 1);
  EXPECT_EQ(allowance->used_bytes(), 0u);
  expect_records(0, 0, {0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_F(ChunkAssemblyTest, a_record_that_comes_again_leaves_the_others_as_they_are) {
  for (std::uint64_t record = 0; record < span; ++record) ASSERT_TRUE(add(0, record));
  ASSERT_TRUE(add(0, 3));
  ASSERT_TRUE(assembly.store_rest(shelf));
  expect_records(0, 0, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(allowance->used_bytes(), 0u);
}

TEST_F(ChunkAssemblyTest, gives_up_the_oldest_chunk_when_memory_is_short_and_merges_what_comes_later) {
  ASSERT_TRUE(add(0, 0));
  ASSERT_TRUE(add(0, 9));
  EXPECT_EQ(shelf.stores, 0);
  ASSERT_TRUE(add(0, 17));  // the chunk of record 0 is evicted
  EXPECT_EQ(shelf.stores, 1);
  expect_records(0, 0, {0});
  ASSERT_TRUE(add(0, 2));  // older than all: merged at once
  expect_records(0, 0, {0, 2});
  EXPECT_EQ(allowance->used_bytes(), 2 * chunk_bytes);
  ASSERT_TRUE(assembly.store_rest(shelf));
  expect_records(0, 8, {9});
  expect_records(0, 16, {17});
}

TEST_F(ChunkAssemblyTest, loses_nothing_whatever_the_order_and_holds_no_more_than_it_may) {
  std::vector<std::pair<std::uint32_t, std::uint64_t>> order;
  for (std::uint32_t number = 0; number < 5; ++number)
    for (std::uint64_t record = 0; record < 5 * span; ++record)
      if (record % 7 != 3) order.emplace_back(number, record);
  std::mt19937 generator(17);
  std::shuffle(order.begin(), order.end(), generator);
  std::atomic<std::size_t> next{0};
  std::atomic<int> failures{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (std::size_t n = next++; n < order.size(); n = next++)
          if (!add(order[n].first, order[n].second)) ++failures;
      });
  }
  EXPECT_EQ(failures, 0);
  ASSERT_TRUE(assembly.store_rest(shelf));
  EXPECT_LE(allowance->peak_bytes(), 2 * chunk_bytes);
  EXPECT_EQ(allowance->used_bytes(), 0u);
  for (std::uint32_t number = 0; number < 5; ++number)
    for (std::uint64_t first = 0; first < 5 * span; first += span) {
      std::vector<std::uint64_t> written;
      for (std::uint64_t record = first; record < first + span; ++record)
        if (record % 7 != 3) written.push_back(record);
      expect_records(number, first, written);
    }
}

TEST_F(ChunkAssemblyTest, shares_its_memory_with_other_files) {
  ChunkAssembly other(allowance);
  const std::vector<std::byte> bytes(piece_bytes, value(0, 1));
  Shelf elsewhere;
  ASSERT_TRUE(other.add(piece(0), 1, span, bytes, fill, elsewhere));
  ASSERT_TRUE(other.add(piece(1), 1, span, bytes, fill, elsewhere));
  ASSERT_TRUE(add(0, 1));
  EXPECT_EQ(shelf.stores, 1);
  expect_records(0, 0, {1});
  ASSERT_TRUE(other.store_rest(elsewhere));
  ASSERT_TRUE(add(0, 2));
  EXPECT_EQ(shelf.stores, 1);
  ASSERT_TRUE(assembly.store_rest(shelf));
  expect_records(0, 0, {1, 2});
}

TEST_F(ChunkAssemblyTest, gives_its_memory_back_when_the_file_is_given_up_or_fails) {
  shelf.failing = true;
  for (std::uint64_t record = 0; record + 1 < span; ++record) ASSERT_TRUE(add(0, record));
  const auto failed = add(0, span - 1);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::io);
  EXPECT_EQ(allowance->used_bytes(), 0u);
  {
    ChunkAssembly abandoned(allowance);
    const std::vector<std::byte> bytes(piece_bytes);
    ASSERT_TRUE(abandoned.add(piece(0), 1, span, bytes, fill, shelf));
    EXPECT_EQ(allowance->used_bytes(), chunk_bytes);
  }
  EXPECT_EQ(allowance->used_bytes(), 0u);
}

}  // namespace
}  // namespace afterbay::storage
