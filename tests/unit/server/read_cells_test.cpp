// SPDX-License-Identifier: Apache-2.0
// What a rank describes of a map arrives at the server as it is, in messages that overtake data.
#include "server/read_cells.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "client/described_cells.hpp"
#include "transport/mpi/stream.hpp"

namespace afterbay::server {
namespace {

constexpr std::uint64_t part = 100'000;
const model::Index parts(std::vector<std::uint64_t>{part});

model::CellPoints points_of(std::uint32_t cell, std::size_t entries, bool runs) {
  std::mt19937 random(cell);
  model::CellPoints points;
  points.cell = cell;
  for (std::size_t i = 0; i < entries; ++i) {
    points.within.push_back(static_cast<std::uint32_t>(random() % (part - 8)));
    if (runs) points.lengths.push_back(1 + static_cast<std::uint32_t>(random() % 7));
  }
  for (std::size_t i = 0; i < entries; ++i) points.points += runs ? points.lengths[i] : 1;
  return points;
}

TEST(ServerReadCells, long_lists_arrive_whole_in_short_messages) {
  assert_role(ingest_thread);
  std::vector<model::CellPoints> cells;
  for (const std::size_t entries : {0, 1, 700, 1399, 1400, 1401, 10'000})
    for (const bool runs : {false, true})
      cells.push_back(points_of(static_cast<std::uint32_t>(cells.size()), entries, runs));
  while (cells.size() < 3000) cells.push_back(points_of(static_cast<std::uint32_t>(cells.size()), 1, false));
  std::vector<const model::CellPoints*> all;
  for (const model::CellPoints& it : cells) all.push_back(&it);
  client::DescribedCells described;
  ReadCells read;
  const auto messages = described.missing(2, 5, 0, parts, all);
  EXPECT_GT(messages.size(), 10U);
  for (const wire::InputCells& message : messages) {
    EXPECT_LE(wire::encode(message).size(), transport::network::most_word_bytes);
    ASSERT_TRUE(read.add(7, message));
  }
  for (const model::CellPoints& it : cells) {
    const model::CellPoints* const found = read.find(7, 5, 0, parts, it.cell);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->within, it.within) << it.cell;
    EXPECT_EQ(found->lengths, it.lengths) << it.cell;
    EXPECT_EQ(found->points, it.points) << it.cell;
  }
  EXPECT_TRUE(described.missing(2, 5, 0, parts, all).empty()) << "the server knows them";
  EXPECT_FALSE(described.missing(3, 5, 0, parts, all).empty()) << "another one does not";
}

TEST(ServerReadCells, a_continuation_without_a_begin_is_refused) {
  assert_role(ingest_thread);
  ReadCells read;
  wire::InputCells message{5, 0, {part}, {{3, {1, 2}, {}, 1, 0, true}}};
  EXPECT_FALSE(read.add(0, message));
  message.cells.front().continues = false;
  EXPECT_TRUE(read.add(0, message));
  message.cells.front() = {3, {4}, {2}, 1, 0, true};
  EXPECT_FALSE(read.add(0, message)) << "of another form";
  message.cells.front() = {4, {static_cast<std::uint32_t>(part)}, {}, 1, 0, false};
  EXPECT_FALSE(read.add(0, message)) << "outside";
}

}  // namespace
}  // namespace afterbay::server
