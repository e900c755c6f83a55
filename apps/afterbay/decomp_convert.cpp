// SPDX-License-Identifier: Apache-2.0
// afterbay decomp convert
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <set>

#include "decomp.hpp"

namespace afterbay::app {

namespace {

struct ConvertOptions {
  std::vector<std::string> paths;  ///< the inputs and the output
  std::string to;
  std::string map;
  bool overwrite = false;
};

/// Names in one file must differ: the second "D1" becomes "D1_2".
std::string unique(const std::string& name, std::set<std::string>& taken) {
  std::string tried = name;
  for (int i = 2; !taken.insert(tried).second; ++i) tried = fmt::format("{}_{}", name, i);
  return tried;
}

Result<> convert(const ConvertOptions& options) {
  if (options.paths.size() < 2) return fail(ErrorCode::invalid_argument, "needs an input and an output");
  const std::vector<std::string> inputs(options.paths.begin(), options.paths.end() - 1);
  decomp::OutputRequest request{.path = options.paths.back(), .command_line = "afterbay decomp convert"};
  AFTERBAY_TRY_ASSIGN(request.format, output_format(request.path, options.to));
  request.maps = 0;
  for (const std::string& input : inputs) {
    AFTERBAY_TRY_ASSIGN(const std::size_t maps, count_chosen({input, options.map, false}));
    request.maps += maps;
    request.command_line += " " + input;
  }
  request.command_line += " " + request.path;
  if (request.maps == 0) return fail(ErrorCode::format, "there is no map in {}", inputs.front());
  AFTERBAY_TRY(check_outputs(decomp::output_paths(request), options.overwrite));

  AFTERBAY_TRY_ASSIGN(const auto writer, decomp::MapsWriter::create(request));
  std::set<std::string> names;
  std::string report;
  for (const std::string& input : inputs) {
    AFTERBAY_TRY(for_each_chosen({input, options.map, false}, [&](decomp::Decomposition map) {
      map.name = unique(map.name, names);
      report += fmt::format("  {}\n", summary_of(map));
      return writer->add(map);
    }));
  }
  AFTERBAY_TRY_ASSIGN(const auto written, writer->finish());
  fmt::print("{} ({}):\n{}", fmt::join(written, ", "), decomp::name_of(request.format), report);
  return {};
}

}  // namespace

Result<decomp::MapFormat> output_format(const std::string& path, const std::string& to) {
  if (const auto named = decomp::format_of_name(to)) return *named;
  if (const auto by_ending = decomp::format_of_path(path)) return *by_ending;
  return fail(ErrorCode::invalid_argument,
              "the extension of \"{}\" does not determine its format: give --to pio, e3sm or afterbay", path);
}

void add_format_option(CLI::App& app, std::string& to) {
  app.add_option("--to", to,
                 "format of OUT; default: by its extension, .dat and .txt are pio, .nc and .nc4 afterbay")
      ->check(CLI::IsMember({"pio", "e3sm", "afterbay"}));
}

DecompAction prepare_decomp_convert(CLI::App& app) {
  auto options = std::make_shared<ConvertOptions>();
  app.add_option(
         "FILES", options->paths,
         "IN... OUT: input files of any format, whose maps are combined in one file, and the file to write")
      ->required()
      ->expected(2, -1);
  add_format_option(app, options->to);
  app.add_option("--map", options->map, "take only this map of each file: its name or number")
      ->check(not_empty());
  add_overwrite_option(app, options->overwrite);
  app.footer(
      "PIO's text files hold one map each: several maps become OUT.1.dat, OUT.2.dat, ... E3SM-IO's files\n"
      "have no holes and no names: both are lost in them. Everything else is exact, including the order of\n"
      "the lists.");
  return [options] { return convert(*options); };
}

}  // namespace afterbay::app
