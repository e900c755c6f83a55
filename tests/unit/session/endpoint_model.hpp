// SPDX-License-Identifier: Apache-2.0
// A model whose ranks put bands of a grid, for tests of endpoints in one process.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "read_back.hpp"
#include "scratch_directory.hpp"
#include "unit/local_run.hpp"

namespace afterbay::test {

inline constexpr std::uint64_t levels = 3, rows = 24, columns = 10;  ///< global lengths, over all ranks
inline constexpr std::uint64_t steps_per_file = 3;

inline Error error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Failure& failure) {
    return failure.error();
  }
  return Error(ErrorCode::internal, "nothing was refused");
}

inline void expect_no_errors(const std::vector<std::optional<Error>>& errors) {
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
}

/// The value of a point, which names its place.
inline double value(std::uint64_t record, std::uint64_t level, std::uint64_t row, std::uint64_t column) {
  return static_cast<double>(((record * levels + level) * rows + row) * columns + column);
}

/// The first of `count` things that `part` of `parts` gets.
inline std::uint64_t first_of(std::uint64_t count, std::uint64_t parts, std::uint64_t part) {
  return count * part / parts;
}

struct Band {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};
inline Band band(std::uint64_t count, std::uint64_t parts, std::uint64_t part) {
  const std::uint64_t first = first_of(count, parts, part);
  return {first, first_of(count, parts, part + 1) - first};
}

/// Runs `body(thread)` in several threads, and throws the first error of any.
inline void in_threads(int threads, const std::function<void(int thread)>& body) {
  std::vector<std::optional<Error>> errors(static_cast<std::size_t>(threads));
  {
    std::vector<std::jthread> all;
    for (int t = 0; t < threads; ++t)
      all.emplace_back([&, t] {
        try {
          body(t);
        } catch (const Failure& failure) {
          errors[static_cast<std::size_t>(t)] = failure.error();
        }
      });
  }
  for (auto& error : errors)
    if (error) throw Failure(*error);
}

/// "t" in time, level, row, column; "s" in time, row, column, as int32; "time".
inline Collection define(Session& session, const std::string& store, const Directory& directory, int ranks,
                         int rank) {
  const Band mine = band(rows, static_cast<std::uint64_t>(ranks), static_cast<std::uint64_t>(rank));
  session.decomposition("grid", Block{{rows, columns}, {mine.first, 0}, {mine.count, columns}});
  Schema schema;
  schema.dimension("time", unlimited).dimension("level", levels).dimension("y", rows).dimension("x", columns);
  schema.variable("t", Type::float32, {"time", "level", "y", "x"}).on("grid");
  schema.variable("s", Type::int32, {"time", "y", "x"}).on("grid");
  schema.variable("time", Type::float64, {"time"});
  return session.collection("c", schema, {.directory = directory.path.string(), .store = store});
}

inline std::vector<double> values_of(std::uint64_t record, Band some, std::uint64_t first_level,
                                     std::uint64_t level_count) {
  std::vector<double> values;
  for (std::uint64_t l = first_level; l < first_level + level_count; ++l)
    for (std::uint64_t y = some.first; y < some.first + some.count; ++y)
      for (std::uint64_t x = 0; x < columns; ++x) values.push_back(value(record, l, y, x));
  return values;
}

inline void expect_contents(const std::filesystem::path& file, std::uint64_t records) {
  const auto t = read<double>(file, "t");
  const auto s = read<double>(file, "s");
  const auto time = read<double>(file, "time");
  ASSERT_EQ(t.size(), records * levels * rows * columns);
  ASSERT_EQ(s.size(), records * rows * columns);
  std::size_t i = 0;
  std::size_t j = 0;
  for (std::uint64_t r = 0; r < records; ++r) {
    EXPECT_EQ(time[r], static_cast<double>(r));
    for (std::uint64_t l = 0; l < levels; ++l)
      for (std::uint64_t y = 0; y < rows; ++y)
        for (std::uint64_t x = 0; x < columns; ++x) ASSERT_EQ(t[i++], value(r, l, y, x)) << r << l << y << x;
    for (std::uint64_t y = 0; y < rows; ++y)
      for (std::uint64_t x = 0; x < columns; ++x) ASSERT_EQ(s[j++], value(r, 0, y, x)) << r << y << x;
  }
}

inline LocalRun::Settings settings(const std::string& more = "") {
  LocalRun::Settings all{{"deadline", "20s"}};
  if (!more.empty()) all.emplace_back("placement", more);
  return all;
}

inline LocalRun::Settings little_memory() {
  return {{"memory.server", "1MiB"},
          {"memory.block", "64KiB"},
          {"memory.small_block", "16KiB"},
          {"deadline", "20s"}};
}

}  // namespace afterbay::test
