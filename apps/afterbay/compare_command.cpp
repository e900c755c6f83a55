// SPDX-License-Identifier: Apache-2.0
// afterbay compare: compares the contents of two netCDF files. Needs no MPI.
#include <memory>

#include "command.hpp"
#include "compare_report.hpp"

namespace afterbay::app {

namespace {

struct CompareOptions {
  std::string a;
  std::string b;
  CompareOutput output;
};

Action prepare_compare(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  app.add_option("A", options->a, "a netCDF file of any format, without groups and user-defined types")
      ->required();
  app.add_option("B", options->b, "the file to compare it with")->required();
  app.add_option("--lines", options->output.lines, "maximum number of differences to list")
      ->capture_default_str();
  app.add_flag("-q,--quiet", options->output.summary_only, "print only the summary line");
  app.footer(
      "Compares dimensions, variables and attributes (names, order, types, lengths) and the bits of every\n"
      "value, including NaN payloads, but not how they are stored (format, chunks, filters, byte order).\n"
      "Exit codes: 0 equal, 1 different, 2 wrong command line, 3 a file cannot be read.");
  return [options](const Invocation&) { return compare_and_print(options->a, options->b, options->output); };
}

const Registration compare_registration({.name = "compare",
                                         .summary = "compares the contents of two netCDF files",
                                         .prepare = prepare_compare});

}  // namespace

}  // namespace afterbay::app
