// SPDX-License-Identifier: Apache-2.0
#include "common/options.hpp"

#include <CLI/CLI.hpp>
#include <cstdlib>

namespace bench {

std::string Options::file_path(int file) const {
  return directory + "/history." + std::to_string(file) + ".nc";
}

Options parse_options(int argc, char** argv, const std::string& description) {
  Options options;
  std::string grid = "360x181x72";
  CLI::App app(description);
  app.add_option("--grid", grid, "global lengths LONxLATxLEVELS")->capture_default_str();
  app.add_option("--files", options.files, "files to write")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--records", options.records, "records in each file")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--compute-ms", options.compute_ms,
                 "busy compute before each output, and before each plain copy")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_flag("--warm-up", options.warm_up, "write all files once before those that count (afterbay)");
  app.add_flag(
      "--fixed-work", options.fixed_work,
      "compute is an amount of work (as much as an idle core does in that time), and nothing is copied");
  app.add_option("--work-rounds", options.work_rounds, "that amount, as an earlier run printed it")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--dir", options.directory, "directory for the files")
      ->check(CLI::ExistingDirectory)
      ->capture_default_str();
  app.add_option("--mode", options.mode, "variant of this program");
  app.add_option("--outstanding", options.outstanding, "writes in flight (raw write)")
      ->check(CLI::Range(1, 64));
  app.add_flag("--preallocate", options.preallocate, "fallocate the files first (raw write)");
  app.add_option("--servers", options.servers, "I/O servers (afterbay)")->check(CLI::NonNegativeNumber);
  app.add_option("--format", options.format, "store (afterbay)");
  app.add_option("--idle-s", options.idle_s, "seconds of the idle check (afterbay)")
      ->check(CLI::PositiveNumber);
  std::vector<std::string> own;
  for (int i = argc - 1; i > 0; --i) {  // CLI11 takes a vector in reverse order
    const std::string argument = argv[i];
    if (argument.starts_with("--afterbay.")) {
      options.settings.insert(options.settings.begin(), argument);
    } else {
      own.push_back(argument);
    }
  }
  try {
    app.parse(own);
    options.grid = parse_grid(grid);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::exit(2);
  }
  return options;
}

}  // namespace bench
