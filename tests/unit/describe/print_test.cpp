// SPDX-License-Identifier: Apache-2.0
// What is printed reads back to the same description.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "describe/keys.hpp"
#include "unit/describe/reading.hpp"

namespace afterbay::describe {
namespace {

void expect_round_trip(const std::string& text) {
  const Description first = described(text);
  const std::string printed = write_yaml(node_of(first));
  const Description second = described(printed);
  EXPECT_EQ(write_yaml(node_of(second)), printed);
  const Description third = described(write_json(node_of(first)));
  EXPECT_EQ(write_yaml(node_of(third)), printed);
  ASSERT_EQ(second.files.size(), first.files.size());
  for (std::size_t i = 0; i < first.files.size(); ++i) {
    EXPECT_EQ(names_in(second.files[i], true), names_in(first.files[i], true));
    for (std::size_t j = 0; j < first.files[i].variables.size(); ++j) {
      const VariableOptions& a = first.files[i].variables[j].options;
      const VariableOptions& b = second.files[i].variables[j].options;
      EXPECT_EQ(a.attributes, b.attributes);
      EXPECT_EQ(a.type, b.type);
      EXPECT_EQ(a.units, b.units);
      EXPECT_EQ(a.enabled, b.enabled);
      EXPECT_EQ(a.detail, b.detail);
    }
  }
}

TEST(DescribePrint, EverythingReadsBack) {
  expect_round_trip("");
  expect_round_trip(R"(
case: "007"
state: "{case}_{date:%Y%m%d}_{step:06}_{member:02}"
defaults: {max_detail: 3, name: "{case}_{file}_{start:%Y%m%d}", split: 12 records, missing: 0.5}
groups: {s: [tas, pr: rain]}
fields:
  NO: {units: "mol m-2", detail: 2, enabled: false, type: float64, attributes: {a: 1, b: [1.5, 2], c: "3", d: x}}
  one: 1
  w: {expression: "max(a, 1d) ? b : c", units: K}
  bare:
grids:
  g: {box: {lon: [350, 10]}, index: {x: [0, 4]}, stride: {x: 2}, levels: {p: [1e5, 85000]}, reverse: [y]}
  h: {stations: {"on": [1, 2.5]}, max_distance: 0.5km, mask: m}
  i: {box: {lat: [0, 1]}, outside: missing}
files:
  a:
    every: 1d
    sample: 6h
    sample_offset: 1h
    mean: [group(s), NO, NO: {name: no2, enabled: true, type: ~, attributes: {a: ~}}]
    max: [tas, pr: {grid: g}]
    attributes: {title: "a: b # c", n: -3, x: 1.0e300, l: [1, 2]}
    pool: [x, y]
    deflate: 1
    readable: on
    stripe: {count: 4, size: 1MiB}
  d: {every: 1d, epochs: 1mo, instant: [tas], name: "{file}_{part}"}
  b: {like: a, enabled: false, split: none, name: "{file}", align: 2000-01-01, epochs: 1mo, time_units: days since 1850-01-01}
  c: {every: 1mo, cycle: 1d, cycle_step: 1h, rate: {tas: {deflate: 3, chunk: [1, 2]}}, stamp: end, partial: skip}
)");
}

TEST(DescribePrint, AllPropertiesOfAFile) {
  EXPECT_EQ(write_yaml(node_of(described("files: {day: {every: 1d, mean: [tas, toce: tos], max: tas}}"))),
            R"(files:
  day:
    every: 1d
    mean: [tas, toce: tos]
    max: [tas: tas_max]
    enabled: true
    detail: 0
    name: "{file}"
    split: none
    end_date: inclusive
    type: auto
    missing: ignore
    statistics: auto
    expressions: auto
    grid: own
    align: calendar
    partial: write
    at_start: false
    stamp: centre
    bounds: true
    cell_methods: true
    intervals: sampled
    cmip: off
)");
}

TEST(DescribePrint, EveryKeyHasDocumentationAndASchema) {
  const auto check = [](const auto& table) {
    for (const auto& row : table) {
      EXPECT_FALSE(row.documentation.empty()) << row.name;
      EXPECT_FALSE(row.accepted.empty()) << row.name;
      EXPECT_EQ(row.schema.front(), '{') << row.name;
      EXPECT_EQ(static_cast<bool>(row.assign), static_cast<bool>(row.print)) << row.name;
    }
    const auto names = key_names(table);
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  };
  check(file_keys());
  check(field_keys());
  check(variable_keys());
  check(grid_keys());
}

}  // namespace
}  // namespace afterbay::describe
