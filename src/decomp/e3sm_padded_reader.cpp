// SPDX-License-Identifier: Apache-2.0
// The layout of E3SM-IO's files of 2018: one row of points per rank, padded to the longest.
#include <fmt/ranges.h>

#include <algorithm>

#include "decomp/e3sm_file.hpp"

namespace afterbay::decomp {
namespace {

Result<std::int64_t> read_length(const NetcdfFile& file, const char* name) {
  AFTERBAY_TRY_ASSIGN(const std::vector<std::int64_t> values, file.integers("", name));
  if (values.size() != 1)
    return malformed(file, "", "the attribute {} has {} values, one is expected", name, values.size());
  return values[0];
}

/// D1 and D2 lie on the last dimension, D3 on both.
Result<std::vector<std::uint64_t>> read_global(const NetcdfFile& file, std::size_t index) {
  std::vector<std::int64_t> lengths;
  if (index == 2) {
    AFTERBAY_TRY_ASSIGN(const std::int64_t y, read_length(file, "dim_len_Y"));
    lengths.push_back(y);
  }
  AFTERBAY_TRY_ASSIGN(const std::int64_t x, read_length(file, "dim_len_X"));
  lengths.push_back(x);
  if (const Result<> checked = check_global(lengths); !checked)
    return malformed(file, "", "the attributes dim_len_Y and dim_len_X: {}", checked.error().message);
  return std::vector<std::uint64_t>(lengths.begin(), lengths.end());
}

/// The number of points of each rank; `width`: the maximum.
Result<std::vector<std::int64_t>> read_counts(const NetcdfFile& file, const std::string& name,
                                              std::size_t ranks, std::uint64_t width) {
  AFTERBAY_TRY_ASSIGN(std::vector<std::int64_t> counts, file.read(name));
  if (counts.size() != ranks)
    return malformed(file, name, "has {} values for {} ranks", counts.size(), ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    if (counts[rank] < 0 || static_cast<std::uint64_t>(counts[rank]) > width)
      return malformed(file, name, "is {} for rank {}; a row of the offsets has {} values", counts[rank],
                       rank, width);
  return counts;
}

/// An attribute of the file that may be missing.
Result<> check_attribute(const NetcdfFile& file, const std::string& name, std::int64_t expected) {
  if (!file.has_attribute("", name)) return {};
  AFTERBAY_TRY_ASSIGN(const std::int64_t value, read_length(file, name.c_str()));
  if (value == expected) return {};
  return malformed(file, "", "the attribute {} is {}, the ranks' counts (nreqs) say {}", name, value,
                   expected);
}

}  // namespace

Result<Decomposition> read_padded_map(const NetcdfFile& file, std::size_t ranks, std::size_t index) {
  const std::string name = fmt::format("D{}", index + 1);
  const std::string offsets = name + ".offsets";
  AFTERBAY_TRY_ASSIGN(std::vector<std::uint64_t> global, read_global(file, index));
  AFTERBAY_TRY_ASSIGN(const std::vector<std::uint64_t> shape, file.shape(offsets));
  if (shape.size() != 2 || shape[0] != ranks)
    return malformed(file, offsets, "its shape is {}; ({}, {}.max_nreqs) is expected",
                     fmt::format("({})", fmt::join(shape, ", ")), ranks, name);
  AFTERBAY_TRY_ASSIGN(const auto counts, read_counts(file, name + ".nreqs", ranks, shape[1]));
  const auto [fewest, most] = std::minmax_element(counts.begin(), counts.end());
  AFTERBAY_TRY(check_attribute(file, name + ".max_nreqs", *most));
  AFTERBAY_TRY(check_attribute(file, name + ".min_nreqs", *fewest));
  Decomposition map(name, std::move(global));
  const auto points = static_cast<std::int64_t>(map.points());
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    AFTERBAY_TRY_ASSIGN(const std::vector<std::int64_t> row,
                        file.read_row(offsets, rank, static_cast<std::uint64_t>(counts[rank])));
    if (row.size() > most_elements)
      return malformed(file, name + ".nreqs", "rank {} lists more than 2^32 - 1 points", rank);
    RunList list;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row[i] < 0 || row[i] >= points)
        return malformed(file, offsets, "value {} of rank {} is {}; the points are 0 ... {}", i, rank, row[i],
                         points - 1);
      list.add(row[i]);
    }
    map.add_rank(std::move(list));
  }
  return map;
}

}  // namespace afterbay::decomp
