// SPDX-License-Identifier: Apache-2.0
// The subcommands of `afterbay decomp`, one per file.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>

#include "command.hpp"
#include "decomp/formats.hpp"

namespace afterbay::app {

/// Adds a subcommand and returns its action.
using DecompAction = std::function<Result<>()>;
DecompAction prepare_decomp_convert(CLI::App& app);
DecompAction prepare_decomp_stats(CLI::App& app);
DecompAction prepare_decomp_draw(CLI::App& app);
DecompAction prepare_decomp_make(CLI::App& app);

/// A file with maps and optionally one of them, by name or number from 1.
struct MapChoice {
  std::string path;
  std::string map;
  bool only_first = false;  ///< if `map` is empty: the first map, not all
};
void add_map_option(CLI::App& app, MapChoice& choice, const std::string& otherwise);

/// Calls `use(Decomposition)` for the chosen map, or for all maps of the file in turn,
/// within_memory.
Result<> for_each_chosen(const MapChoice& choice, const std::function<Result<>(decomp::Decomposition)>& use);
/// The number of these maps.
Result<std::size_t> count_chosen(const MapChoice& choice);

/// Runs `work`. If memory is exhausted despite the estimates, returns an error (resources) for the
/// file.
Result<> within_memory(const std::string& path, const std::function<Result<>()>& work);

/// --to: the format of a file to be written.
void add_format_option(CLI::App& app, std::string& to);
/// The format from --to, or from the extension of the path.
Result<decomp::MapFormat> output_format(const std::string& path, const std::string& to);

/// Fails if the file exists, unless it may be overwritten.
Result<> check_outputs(const std::vector<std::string>& paths, bool overwrite);
void add_overwrite_option(CLI::App& app, bool& overwrite);

/// Checks a name: an empty one comes from an unset shell variable and does not mean all.
const CLI::Validator& not_empty();

/// Checks whole numbers: -1 would become 2^64 - 1.
const CLI::Validator& not_negative();

/// "866 points, 16 ranks, ...", printed for each map written.
std::string summary_of(const decomp::Decomposition& map);

}  // namespace afterbay::app
