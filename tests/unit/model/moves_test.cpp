// SPDX-License-Identifier: Apache-2.0
// Moves against a reference that copies point by point, for random boxes, layouts and types.
#include "model/moves.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace afterbay::model {
namespace {

using testing::HasSubstr;

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::uint64_t operator()(std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(engine_);
  }

 private:
  std::mt19937 engine_;
};

Box random_box(Random& random, const Index& global) {
  Box box{Index::filled(global.size, 0), Index::filled(global.size, 0)};
  for (std::size_t i = 0; i < global.size; ++i) {
    box.start[i] = random(0, global[i] - 1);
    box.count[i] = random(1, global[i] - box.start[i]);
  }
  return box;
}

Index random_lengths(Random& random, std::size_t rank) {
  Index lengths = Index::filled(rank, 1);
  for (std::size_t i = 0; i < rank; ++i) lengths[i] = random(1, rank > 3 ? 5 : 14);
  return lengths;
}

/// Visits every point of a box.
template <class Visit>
void each_point(const Box& box, Visit visit) {
  if (box.empty()) return;
  Index at = box.start;
  while (true) {
    visit(at);
    std::size_t i = box.rank();
    while (i > 0 && ++at[i - 1] == box.start[i - 1] + box.count[i - 1]) {
      at[i - 1] = box.start[i - 1];
      --i;
    }
    if (i == 0) return;
  }
}

std::size_t dense_position(const Index& at, const Index& origin, const Index& lengths) {
  std::size_t position = 0;
  for (std::size_t i = 0; i < at.size; ++i) position = position * lengths[i] + (at[i] - origin[i]);
  return position;
}

/// A value for each point that every numeric type can hold.
double value_at(const Index& at) {
  std::uint64_t value = 1;
  for (const std::uint64_t moves_index : at) value = value * 31 + moves_index;
  return static_cast<double>(value % 120);
}

void write_value(Type type, std::byte* to, double value) {
  kernel(Type::float64, type, false).row(to, reinterpret_cast<const std::byte*>(&value), 1, 0, 0);
}

double read_value(Type type, const std::byte* from, bool swap) {
  std::byte native[8];
  copy_kernel(size_of(type), swap).row(native, from, 1, 0, 0);
  double value = 0;
  kernel(type, Type::float64, false).row(reinterpret_cast<std::byte*>(&value), native, 1, 0, 0);
  return value;
}

/// A rank's array in one of the layouts that a model may have, and the pointer that it would pass.
struct Array {
  MemoryLayout memory;
  std::vector<std::byte> bytes;
  std::size_t pointer = 0;
};

Array make_array(Random& random, const Box& mine, Type type) {
  Array array;
  const std::size_t rank = mine.rank();
  std::vector<std::ptrdiff_t> strides(rank, 1);
  std::ptrdiff_t elements = 1, first = 0;
  const std::uint64_t kind = random(0, 2);  // dense, halo, strides
  for (std::size_t i = rank; i-- > 0;) {
    const std::uint64_t before = kind == 0 ? 0 : random(0, 2);
    const std::uint64_t length = mine.count[i] + before + (kind == 0 ? 0 : random(0, 2));
    const bool backwards = kind == 2 && random(0, 1) == 1;
    strides[i] = backwards ? -elements : elements;
    first += static_cast<std::ptrdiff_t>(backwards ? length - 1 : 0) * elements;
    if (kind == 1) array.memory.shape.insert(array.memory.shape.begin(), length);
    if (kind != 0) array.memory.offset.insert(array.memory.offset.begin(), before);
    elements *= static_cast<std::ptrdiff_t>(length);
  }
  if (kind == 2) array.memory.strides.assign(strides.begin(), strides.end());
  if (rank == 0) array.memory = {};
  array.bytes.resize(static_cast<std::size_t>(elements) * size_of(type));
  array.pointer = static_cast<std::size_t>(first) * size_of(type);
  each_point(mine, [&](const Index& at) {
    std::ptrdiff_t position = first;
    for (std::size_t i = 0; i < rank; ++i) {
      const std::uint64_t offset = array.memory.offset.empty() ? 0 : array.memory.offset[i];
      position += static_cast<std::ptrdiff_t>(at[i] - mine.start[i] + offset) * strides[i];
    }
    write_value(type, array.bytes.data() + static_cast<std::size_t>(position) * size_of(type), value_at(at));
  });
  return array;
}

constexpr Type numbers[] = {Type::int8,   Type::int16,  Type::int32,  Type::int64,   Type::uint8,
                            Type::uint16, Type::uint32, Type::uint64, Type::float32, Type::float64};

struct Trial {
  Index global;
  Box mine, piece;
  Index stored;
  Type from, to;
  bool swap;

  explicit Trial(Random& random) {
    global = random_lengths(random, random(0, 5));
    mine = random_box(random, global);
    piece = random_box(random, global);
    stored = piece.count;
    for (std::size_t i = 0; i < stored.size; ++i) stored[i] += random(0, 2);
    from = numbers[random(0, 9)];
    to = numbers[random(0, 9)];
    swap = random(0, 1) == 1;
  }

  /// The common points have their values, everything else in the piece is unchanged.
  void expect_piece(const std::vector<std::byte>& bytes) const {
    const std::size_t size = size_of(to);
    std::vector<bool> seen(bytes.size() / size, false);
    each_point(intersect(mine, piece), [&](const Index& at) {
      const std::size_t position = dense_position(at, piece.start, stored);
      ASSERT_EQ(read_value(to, bytes.data() + position * size, swap), value_at(at));
      seen[position] = true;
    });
    for (std::size_t i = 0; i < bytes.size(); ++i)
      if (!seen[i / size]) {
        ASSERT_EQ(bytes[i], std::byte{0xee}) << "byte " << i;
      }
  }
  [[nodiscard]] std::vector<std::byte> empty_piece() const {
    return std::vector<std::byte>(stored.product() * size_of(to), std::byte{0xee});
  }
};

TEST(ModelMoves, gather_places_exactly_the_common_points) {
  Random random(1);
  for (int i = 0; i < 3000 && !HasFatalFailure(); ++i) {
    const Trial trial(random);
    const Array array = make_array(random, trial.mine, trial.from);
    ASSERT_TRUE(check(array.memory, trial.mine.count));
    std::vector<std::byte> bytes = trial.empty_piece();
    const Move move =
        gather(trial.mine, array.memory, trial.piece, trial.stored, {size_of(trial.from), size_of(trial.to)});
    EXPECT_EQ(move.points, intersect(trial.mine, trial.piece).points());
    EXPECT_EQ(execute(move, array.bytes.data() + array.pointer, bytes.data(),
                      kernel(trial.from, trial.to, trial.swap)),
              0u);
    trial.expect_piece(bytes);
  }
}

TEST(ModelMoves, pack_then_scatter_is_gather) {
  Random random(2);
  for (int i = 0; i < 2000 && !HasFatalFailure(); ++i) {
    const Trial trial(random);
    const Array array = make_array(random, trial.mine, trial.from);
    const ElementBytes sizes{size_of(trial.from), size_of(trial.to)};
    std::vector<std::byte> packed(intersect(trial.mine, trial.piece).points() * sizes.to);
    execute(pack(trial.mine, array.memory, trial.piece, sizes), array.bytes.data() + array.pointer,
            packed.data(), kernel(trial.from, trial.to, trial.swap));
    std::vector<std::byte> bytes = trial.empty_piece();
    execute(scatter(trial.mine, trial.piece, trial.stored, sizes.to), packed.data(), bytes.data(),
            copy_kernel(sizes.to, false));
    trial.expect_piece(bytes);
  }
}

TEST(ModelMoves, fill_gives_one_value_to_a_box_only) {
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    const Trial trial(random);
    const Box target = intersect(trial.mine, trial.piece);
    std::vector<float> values(trial.stored.product(), -1);
    const float filled = 9.5F;
    execute(fill(target, trial.piece, trial.stored, sizeof(float)), &filled,
            reinterpret_cast<std::byte*>(values.data()), copy_kernel(sizeof(float), false));
    each_point(target, [&](const Index& at) {
      float& value = values[dense_position(at, trial.piece.start, trial.stored)];
      EXPECT_EQ(value, filled);
      value = -1;
    });
    EXPECT_EQ(values, std::vector<float>(values.size(), -1));
  }
}

Index moves_index(std::initializer_list<std::uint64_t> values) {
  return Index(std::vector<std::uint64_t>(values));
}

TEST(ModelMoves, contiguous_dimensions_are_one_row) {
  const Box all{moves_index({0, 0, 0}), moves_index({4, 5, 6})};
  const Move whole = gather(all, {}, all, all.count, {8, 4});
  EXPECT_EQ(whole.dims, 1u);
  EXPECT_EQ(whole.counts[0], 120u);

  const Box half{moves_index({0, 0, 0}), moves_index({4, 5, 3})};
  const Move rows = gather(half, {}, all, all.count, {8, 4});
  EXPECT_EQ(rows.dims, 2u);
  EXPECT_EQ(rows.counts[0], 20u);
  EXPECT_EQ(rows.counts[1], 3u);

  const MemoryLayout halo{{6, 7, 6}, {1, 1, 0}, {}};
  const Move planes = gather(all, halo, all, all.count, {4, 4});
  EXPECT_EQ(planes.dims, 2u);
  EXPECT_EQ(planes.counts[1], 30u);
  EXPECT_EQ(planes.from_offset, (7 + 1) * 6 * 4);
}

/// Rows long and far apart enough for non-temporal stores.
TEST(ModelMoves, long_rows_apart_arrive_whole) {
  const std::uint64_t rows = 200, columns = 1003;
  const Box piece{moves_index({0, 0}), moves_index({rows, 2 * columns})};
  for (const bool swap : {false, true}) {
    std::vector<float> out(rows * 2 * columns, -1);
    for (const std::uint64_t side : {0, 1}) {
      const Box mine{moves_index({0, side * columns}), moves_index({rows, columns})};
      std::vector<float> in(rows * columns);
      for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(2 * i + side);
      execute(gather(mine, {}, piece, piece.count, {4, 4}), in.data(),
              reinterpret_cast<std::byte*>(out.data()), kernel(Type::float32, Type::float32, swap));
    }
    if (swap) {
      const std::vector<float> swapped = out;
      copy_kernel(4, true).row(reinterpret_cast<std::byte*>(out.data()),
                               reinterpret_cast<const std::byte*>(swapped.data()), out.size(), 4, 4);
    }
    for (std::uint64_t row = 0; row < rows; ++row)
      for (std::uint64_t column = 0; column < 2 * columns; ++column) {
        const std::uint64_t side = column / columns;
        ASSERT_EQ(out[row * 2 * columns + column],
                  static_cast<float>(2 * (row * columns + column % columns) + side));
      }
  }
}

TEST(ModelMoves, nothing_in_common_moves_nothing) {
  const Box left{moves_index({0}), moves_index({3})}, right{moves_index({3}), moves_index({3})},
      none{moves_index({2}), moves_index({0})};
  EXPECT_TRUE(gather(left, {}, right, right.count, {4, 4}).empty());
  EXPECT_TRUE(gather(none, {}, left, left.count, {4, 4}).empty());
  EXPECT_EQ(execute(gather(none, {}, left, left.count, {4, 4}), nullptr, nullptr, copy_kernel(4, false)), 0u);
}

TEST(ModelMoves, values_out_of_range_are_counted_over_all_rows) {
  const Box all{moves_index({0, 0}), moves_index({3, 4})};
  const std::vector<double> in{0, 1, 1e9, 2, 3, -1e9, 4, 5, 6, 7, 8, 40000};
  std::vector<std::int16_t> out(12);
  const MemoryLayout memory{{}, {}, {4, 1}};
  EXPECT_EQ(execute(gather(all, memory, all, all.count, {8, 2}), in.data(),
                    reinterpret_cast<std::byte*>(out.data()), kernel(Type::float64, Type::int16, false)),
            3u);
}

TEST(ModelMoves, a_memory_layout_that_cannot_be_is_refused) {
  const Index count = moves_index({4, 6});
  EXPECT_TRUE(check({}, count));
  EXPECT_TRUE(check({{4, 6}, {}, {}}, count));
  EXPECT_TRUE(check({{6, 8}, {2, 2}, {}}, count));
  EXPECT_TRUE(check({{}, {}, {-6, 0}}, count));
  EXPECT_TRUE(check({{1, 1}, {5, 5}, {}}, moves_index({0, 6}))) << "a part of no points lies anywhere";
  EXPECT_THAT(
      check({{6, 8}, {3, 2}, {}}, count).error().message,
      HasSubstr("dimension 0 the part needs 4 values from offset 3 on, but the array in memory has only 6"));
  EXPECT_THAT(
      check({{4, 8}, {}, {}}, count).error().message,
      HasSubstr("dimension 1 the array in memory has 8 values, the part to write 6: hand over the part"));
  EXPECT_THAT(check({{3, 8}, {}, {}}, count).error().message, HasSubstr("dimension 0"));
  EXPECT_THAT(check({{4, 8}, {}, {}}, count).error().message,
              HasSubstr("dimension 1 the array in memory has 8 values"));
  EXPECT_TRUE(check({{4, 8}, {0, 0}, {}}, count)) << "an offset says that the part is meant to be smaller";
  EXPECT_THAT(check({{6, 8, 9}, {}, {}}, count).error().message, HasSubstr("shape has 3 values"));
  EXPECT_THAT(check({{}, {1, 1}, {}}, count).error().message,
              HasSubstr("neither the array's shape nor strides"));
  EXPECT_THAT(check({{}, {}, {1}}, count).error().message, HasSubstr("strides has 1 values"));
}

/// Marks the bytes that the ranges cover; each at most once.
std::vector<int> covered(const Move& move, std::size_t element, std::uint64_t gap, std::uint64_t least,
                         std::size_t size) {
  std::vector<int> cover(size);
  visit_dense_ranges(move, element, gap, least, [&](std::uint64_t at, std::uint64_t bytes) {
    EXPECT_GE(bytes, least);
    ASSERT_LE(at + bytes, size);
    for (std::uint64_t i = at; i < at + bytes; ++i) ++cover[i];
  });
  return cover;
}

TEST(ModelMoves, dense_ranges_hold_all_bytes_that_are_written_and_no_long_gap) {
  Random random(11);
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t rank = random(1, 4);
    const Index global = random_lengths(random, rank);
    const Box mine = random_box(random, global), piece = random_box(random, global);
    const std::size_t element = std::size_t{1} << random(0, 3);
    const std::uint64_t gap = random(1, 200);
    const Move move = gather(mine, {}, piece, piece.count, {element, element});
    std::size_t size = element;
    for (const std::uint64_t length : piece.count) size *= length;
    const std::vector<int> cover = covered(move, element, gap, 1, size);
    std::vector<std::byte> to(size);
    const std::vector<std::byte> from(1 << 20, std::byte{1});
    execute(move, from.data(), to.data(), copy_kernel(element, false));
    std::uint64_t unwritten = 0;
    for (std::size_t i = 0; i < size; ++i) {
      if (to[i] != std::byte{0}) {
        EXPECT_EQ(cover[i], 1) << "byte " << i;
      }
      unwritten = cover[i] != 0 && to[i] == std::byte{0} ? unwritten + 1 : 0;
      EXPECT_LT(unwritten, gap) << "byte " << i;
    }
  }
}

TEST(ModelMoves, dense_ranges_that_are_short_are_not_visited) {
  const std::vector<std::uint64_t> corner{0, 0}, lengths{4, 1000}, part{4, 100};
  const Box all{Index(corner), Index(lengths)}, left{Index(corner), Index(part)};
  const Move move = gather(left, {}, all, all.count, {4, 4});  // four rows of 400 of 4000 bytes
  const auto total = [](const std::vector<int>& cover) { return std::count(cover.begin(), cover.end(), 1); };
  EXPECT_EQ(total(covered(move, 4, 100, 400, 16000)), 1600);
  EXPECT_EQ(total(covered(move, 4, 100, 401, 16000)), 0);
  EXPECT_EQ(total(covered(move, 4, 3600, 401, 16000)), 0) << "the gaps have 3600 bytes";
  EXPECT_EQ(total(covered(move, 4, 3601, 401, 16000)), 3 * 4000 + 400) << "these are shorter";
}

}  // namespace
}  // namespace afterbay::model
