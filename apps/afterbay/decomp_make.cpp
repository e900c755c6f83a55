// SPDX-License-Identifier: Apache-2.0
// afterbay decomp make
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "base/suggest.hpp"
#include "decomp.hpp"
#include "decomp/make.hpp"

namespace afterbay::app {

namespace {

using Number = std::optional<std::uint64_t>;

struct MakeOptions {
  std::string kind;
  std::string output;
  std::string to;
  std::uint64_t ranks = 0;
  Number ne, columns, cells, lat, lon, levels;
  std::optional<double> land_percent;
  bool overwrite = false;
};

/// The options that a kind needs, and those that it accepts besides --levels.
struct Kind {
  const char* name;
  std::vector<std::string> needed;
  std::vector<std::string> taken;
  std::size_t maps;  ///< without levels
  std::size_t maps_with_levels;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{{"blocks", {"--lat", "--lon"}, {}, 1, 2},
                                     {"cubed-sphere", {}, {"--ne", "--columns"}, 2, 3},
                                     {"mpas", {"--cells"}, {}, 3, 6},
                                     {"land", {"--lat", "--lon"}, {"--land-percent"}, 1, 2}};
  return all;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Fails for an option that the kind does not accept, and for missing options.
Result<> check_options(const Kind& kind, const MakeOptions& options) {
  const std::pair<const char*, bool> given[] = {
      {"--ne", options.ne.has_value()},       {"--columns", options.columns.has_value()},
      {"--cells", options.cells.has_value()}, {"--lat", options.lat.has_value()},
      {"--lon", options.lon.has_value()},     {"--land-percent", options.land_percent.has_value()}};
  for (const auto& [name, is_given] : given) {
    if (is_given && !has(kind.needed, name) && !has(kind.taken, name))
      return fail(ErrorCode::invalid_argument, "{} does not accept {}", kind.name, name);
    if (!is_given && has(kind.needed, name))
      return fail(ErrorCode::invalid_argument, "{} needs {}", kind.name, fmt::join(kind.needed, " and "));
  }
  for (const auto& [name, number] : {std::pair{"--ne", options.ne}, std::pair{"--columns", options.columns}})
    if (number == 0U) return fail(ErrorCode::invalid_argument, "{} is 0: it must be 1 or more", name);
  return {};
}

Result<> make_kind(const MakeOptions& options, const decomp::Receive& receive) {
  const std::uint64_t levels = options.levels.value_or(0);
  if (options.kind == "blocks")
    return decomp::make_blocks({options.ranks, *options.lat, *options.lon, levels}, receive);
  if (options.kind == "cubed-sphere")
    return decomp::make_cubed_sphere(
        {options.ranks, options.ne.value_or(0), options.columns.value_or(0), levels}, receive);
  if (options.kind == "mpas") return decomp::make_mpas({options.ranks, *options.cells, levels}, receive);
  decomp::LandRequest request{options.ranks, *options.lat, *options.lon, levels};
  request.land_percent = options.land_percent.value_or(request.land_percent);
  return decomp::make_land(request, receive);
}

Result<> make(const MakeOptions& options) {
  const auto kind =
      std::find_if(kinds().begin(), kinds().end(), [&](const Kind& k) { return options.kind == k.name; });
  if (kind == kinds().end()) {
    std::vector<std::string> names;
    for (const Kind& known : kinds()) names.emplace_back(known.name);
    return fail(ErrorCode::unknown_name, "no kind \"{}\"{}; kinds: {}", options.kind,
                did_you_mean(options.kind, names), one_of(names));
  }
  AFTERBAY_TRY(check_options(*kind, options));
  AFTERBAY_TRY_ASSIGN(const decomp::MapFormat format, output_format(options.output, options.to));
  const decomp::OutputRequest request{
      .path = options.output,
      .format = format,
      .maps = options.levels.value_or(0) > 0 ? kind->maps_with_levels : kind->maps,
      .command_line =
          fmt::format("afterbay decomp make {} {} --ranks {}", options.kind, options.output, options.ranks)};
  AFTERBAY_TRY(check_outputs(decomp::output_paths(request), options.overwrite));
  AFTERBAY_TRY_ASSIGN(const auto writer, decomp::MapsWriter::create(request));
  std::string report;
  AFTERBAY_TRY(within_memory(options.output, [&] {
    return make_kind(options, [&](const decomp::Decomposition& map) {
      report += fmt::format("  {}\n", summary_of(map));
      return writer->add(map);
    });
  }));
  AFTERBAY_TRY_ASSIGN(const auto written, writer->finish());
  fmt::print("{} ({}):\n{}", fmt::join(written, ", "), decomp::name_of(format), report);
  return {};
}

}  // namespace

DecompAction prepare_decomp_make(CLI::App& app) {
  auto options = std::make_shared<MakeOptions>();
  app.add_option("KIND", options->kind, "blocks, cubed-sphere, mpas or land")->required();
  app.add_option("OUT", options->output, "the file to write")->required();
  app.add_option("--ranks", options->ranks, "number of ranks")->check(not_negative())->required();
  app.add_option("--levels", options->levels, "also create maps with this many levels")
      ->check(not_negative());
  app.add_option("--ne", options->ne, "cubed-sphere: elements along an edge; gives 54 ne^2 + 2 columns")
      ->check(not_negative());
  app.add_option("--columns", options->columns, "cubed-sphere: number of columns, instead of --ne")
      ->check(not_negative());
  app.add_option("--cells", options->cells, "mpas: number of hexagons")->check(not_negative());
  app.add_option("--lat", options->lat, "blocks, land: number of rows")->check(not_negative());
  app.add_option("--lon", options->lon, "blocks, land: points per row")->check(not_negative());
  app.add_option("--land-percent", options->land_percent,
                 "land: percentage of the grid that ranks hold (41)");
  add_format_option(app, options->to);
  add_overwrite_option(app, options->overwrite);
  app.footer(
      "  blocks        a latitude-longitude grid cut into boxes\n"
      "  cubed-sphere  spectral elements along a space-filling curve, and E3SM's scattered physics columns\n"
      "  mpas          cells, edges and vertices with scattered numbers, in compact patches\n"
      "  land          the land points of a latitude-longitude grid, in short pieces, with gaps and holes\n"
      "E3SM's production sizes: cubed-sphere --ne 120 --levels 72; mpas --cells 3693225 --levels 80.");
  return [options] { return make(*options); };
}

}  // namespace afterbay::app
