// SPDX-License-Identifier: Apache-2.0
// The subcommands of `afterbay decomp`, one file each.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>

#include "command.hpp"
#include "decomp/formats.hpp"

namespace afterbay::app {

/// Adds a subcommand and what is done when it is called.
using DecompAction = std::function<Result<>()>;
DecompAction prepare_decomp_convert(CLI::App& app);
DecompAction prepare_decomp_stats(CLI::App& app);
DecompAction prepare_decomp_draw(CLI::App& app);
DecompAction prepare_decomp_make(CLI::App& app);

/// A file with maps and, if one is wanted, which: by its name or its number from 1.
struct MapChoice {
  std::string path;
  std::string map;
  bool only_first = false;  ///< where `map` is empty: the first, not all
};
void add_map_option(CLI::App& app, MapChoice& choice, const std::string& otherwise);

/// Calls `use(Decomposition)` for the chosen map, or for all of the file one after the other, within_memory.
Result<> for_each_chosen(const MapChoice& choice, const std::function<Result<>(decomp::Decomposition)>& use);
/// How many those are.
Result<std::size_t> count_chosen(const MapChoice& choice);

/// Does `work`. Where memory is exhausted although no estimate said so, that is an error (resources) of the
/// file.
Result<> within_memory(const std::string& path, const std::function<Result<>()>& work);

/// --to: the kind of a file to be written.
void add_format_option(CLI::App& app, std::string& to);
/// As --to says, or the ending of the path.
Result<decomp::Format> output_format(const std::string& path, const std::string& to);

/// Refuses to write over a file unless that is wanted.
Result<> check_outputs(const std::vector<std::string>& paths, bool overwrite);
void add_overwrite_option(CLI::App& app, bool& overwrite);

/// For a name: an empty one is a variable of the shell that is not set, not the wish for all.
const CLI::Validator& not_empty();

/// For whole numbers: -1 would become 2^64 - 1.
const CLI::Validator& not_negative();

/// "866 points, 16 ranks, ..." for the line that is printed for each map written.
std::string summary_of(const decomp::Decomposition& map);

}  // namespace afterbay::app
