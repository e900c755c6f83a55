// SPDX-License-Identifier: Apache-2.0
// Compares the contents of two netCDF files: everything that a reader can access, bit by bit. How
// the files store it (format, chunks, filters, byte order) is not part of the contents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "replay_input.hpp"

namespace afterbay::app {

struct Comparison {
  std::uint64_t dimensions = 0;  ///< number compared, as for the next four
  std::uint64_t variables = 0;
  std::uint64_t attributes = 0;
  std::uint64_t values = 0;
  std::uint64_t bytes = 0;

  std::uint64_t differences = 0;  ///< all differences; each differing value of a variable counts as
                                  ///< one
  std::uint64_t differing_values = 0;
  std::vector<std::string> first;  ///< descriptions of the first ones

  [[nodiscard]] bool equal() const noexcept { return differences == 0; }
  /// One line: "equal: ..." or "different: ...".
  [[nodiscard]] std::string summary() const;
};

struct CompareLimits {
  std::size_t lines = 20;              ///< maximum number of entries in Comparison::first
  std::size_t values_of_variable = 3;  ///< maximum number of them for the values of one variable
};

/// Compares dimensions (names, order, lengths, which are unlimited), variables (names, order,
/// types, dimensions), attributes (names, order, types, values) and every value, by its bits. Fails
/// only if a file cannot be read.
Result<Comparison> compare(const NetcdfReader& a, const NetcdfReader& b, const CompareLimits& limits = {});
Result<Comparison> compare_files(const std::string& a, const std::string& b,
                                 const CompareLimits& limits = {});

}  // namespace afterbay::app
