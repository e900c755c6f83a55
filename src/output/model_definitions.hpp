// SPDX-License-Identifier: Apache-2.0
// ModelDefinitions: what a model tells described output before its first step, as it is kept in a
// file, so that a description can be checked without the model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "afterbay/output.hpp"
#include "base/result.hpp"
#include "output/field_definitions.hpp"

namespace afterbay::output {

/// The processes of a run.
struct Processes {
  std::int64_t model_ranks = 1;
  std::int64_t servers = 1;
  friend bool operator==(const Processes&, const Processes&) = default;
};

struct ModelDefinitions {
  OutputOptions options;  ///< without `resume`
  FieldDefinitions definitions;
  Processes processes;  ///< processes of the run that wrote the file
};

/// A file has no coordinates with more values: they are read as Dimension::has_known_values says.
inline constexpr std::size_t most_values_on_file = 40'000;
/// Bounds of what a file can claim, so that a damaged one takes no memory.
inline constexpr std::int64_t most_length_on_file = std::int64_t{1} << 40;
inline constexpr std::uint64_t most_coordinate_points_on_file = std::uint64_t{1} << 25;
inline constexpr std::uint64_t most_field_points_on_file = std::uint64_t{1} << 50;

/// How a grid is distributed: "block", "map", or "whole" on all ranks. By name of the grid.
using GridKinds = std::map<std::string, std::string>;

/// The text of a file, in YAML. Values of coordinates that are distributed, or have more than one
/// dimension, are left out.
std::string write_definitions(const FieldDefinitions& definitions, const OutputOptions& options,
                              const GridKinds& kinds, const Processes& processes);

/// Reads such a file. Values that are not on file are zero; those of distributed coordinates are
/// those of a rank without points. All problems are reported together, one per line, as
/// FILE:LINE:COLUMN and what to do.
Result<ModelDefinitions> read_definitions(const std::string& path);
/// The same for a text; `name` stands for the file in messages.
Result<ModelDefinitions> read_definitions_text(const std::string& text, const std::string& name);

/// The reference page docs/reference/definitions.md.
std::string definitions_page();

}  // namespace afterbay::output
