// SPDX-License-Identifier: Apache-2.0
// afterbay decomp: files that store which rank holds which points. Needs no MPI.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <new>
#include <numeric>
#include <stdexcept>

#include "base/printable.hpp"
#include "base/suggest.hpp"
#include "decomp.hpp"

namespace afterbay::app {

namespace {

/// The numbers of the chosen maps.
Result<std::vector<std::size_t>> choose(const decomp::MapsReader& reader, const MapChoice& choice) {
  if (choice.map.empty()) {
    std::vector<std::size_t> all(choice.only_first ? std::min<std::size_t>(1, reader.maps()) : reader.maps());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < reader.maps(); ++i) {
    AFTERBAY_TRY_ASSIGN(std::string name, reader.name(i));
    if (name == choice.map) return std::vector{i};
    names.push_back(printable(name));
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    if (std::to_string(i + 1) == choice.map) return std::vector{i};
  return fail(make_error(ErrorCode::unknown_name, "has no map \"{}\"{}; its maps: {}", printable(choice.map),
                         did_you_mean(choice.map, names), one_of(names))
                  .in_file(choice.path));
}

Action prepare_decomp(CLI::App& app) {
  using Prepare = DecompAction (*)(CLI::App&);
  struct Subcommand {
    const char* name;
    const char* summary;
    Prepare prepare;
  };
  static constexpr Subcommand subcommands[] = {
      {"convert", "converts between PIO's text, E3SM-IO's netCDF and Afterbay's decomposition files",
       prepare_decomp_convert},
      {"stats", "counts points, holes, runs, gaps and repeats", prepare_decomp_stats},
      {"draw", "draws which rank holds which points, as a PNG", prepare_decomp_draw},
      {"make", "creates synthetic maps of any size", prepare_decomp_make}};
  app.require_subcommand(0, 1);
  app.footer(
      "`afterbay decomp SUBCOMMAND --help` explains a subcommand.\n"
      "Exit codes: 0 done, 2 wrong command line, 3 a file cannot be read or written, or is malformed.");
  auto actions = std::make_shared<std::map<CLI::App*, DecompAction>>();
  for (const Subcommand& subcommand : subcommands) {
    CLI::App* sub = app.add_subcommand(subcommand.name, subcommand.summary);
    (*actions)[sub] = subcommand.prepare(*sub);
  }
  return [actions, &app](const Invocation&) {
    const auto named = app.get_subcommands();
    if (named.empty()) {
      const std::string help = app.help("afterbay");
      std::fwrite(help.data(), 1, help.size(), stderr);
      return Exit::usage;
    }
    const Result<> done = actions->at(named.front())();
    if (done) return Exit::ok;
    complain("decomp " + named.front()->get_name(), done.error().text());
    return exit_of_input(done.error().code);
  };
}

const Registration decomp_registration({.name = "decomp",
                                        .summary = "converts, analyses, draws and creates decompositions",
                                        .prepare = prepare_decomp});

}  // namespace

void add_map_option(CLI::App& app, MapChoice& choice, const std::string& otherwise) {
  app.add_option("FILE", choice.path, "a decomposition file of any format")->required();
  app.add_option("--map", choice.map, "name or number of a map; default: " + otherwise)->check(not_empty());
}

Result<> within_memory(const std::string& path, const std::function<Result<>()>& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {  // more elements than a container can have
  }
  return fail(make_error(ErrorCode::resources, "needs more memory than this process can get").in_file(path));
}

Result<> for_each_chosen(const MapChoice& choice, const std::function<Result<>(decomp::Decomposition)>& use) {
  return within_memory(choice.path, [&]() -> Result<> {
    AFTERBAY_TRY_ASSIGN(const auto reader, decomp::MapsReader::open(choice.path));
    AFTERBAY_TRY_ASSIGN(const auto chosen, choose(*reader, choice));
    for (const std::size_t index : chosen) {
      AFTERBAY_TRY_ASSIGN(decomp::Decomposition map, reader->read(index));
      AFTERBAY_TRY(use(std::move(map)));
    }
    return {};
  });
}

Result<std::size_t> count_chosen(const MapChoice& choice) {
  AFTERBAY_TRY_ASSIGN(const auto reader, decomp::MapsReader::open(choice.path));
  AFTERBAY_TRY_ASSIGN(const auto chosen, choose(*reader, choice));
  return chosen.size();
}

Result<> check_outputs(const std::vector<std::string>& paths, bool overwrite) {
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (!overwrite && std::filesystem::exists(path, ignored))
      return fail(make_error(ErrorCode::exists, "exists; --overwrite writes over it").in_file(path));
  }
  return {};
}

void add_overwrite_option(CLI::App& app, bool& overwrite) {
  app.add_flag("--overwrite", overwrite, "overwrite existing files");
}

const CLI::Validator& not_empty() {
  static const CLI::Validator validator(
      [](std::string& text) { return text.empty() ? std::string("it is empty") : std::string(); }, "");
  return validator;
}

const CLI::Validator& not_negative() {
  static const CLI::Validator validator(
      [](std::string& text) {
        return text.find('-') == std::string::npos ? "" : fmt::format("it must be 0 or more, not {}", text);
      },
      "");
  return validator;
}

std::string summary_of(const decomp::Decomposition& map) {
  decomp::Decomposition::Count total;
  for (std::size_t rank = 0; rank < map.ranks(); ++rank) {
    const auto count = map.count(rank);
    total.elements += count.elements;
    total.holes += count.holes;
  }
  return fmt::format("{}: {}, {} rank{}, {} elements listed, {} of them holes", printable(map.name),
                     decomp::text_of_lengths(map.global()), map.ranks(), map.ranks() == 1 ? "" : "s",
                     total.elements, total.holes);
}

}  // namespace afterbay::app
