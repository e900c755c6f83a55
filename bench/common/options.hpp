// SPDX-License-Identifier: Apache-2.0
// Command-line options shared by all programs of the history benchmark.
#pragma once

#include <string>
#include <vector>

#include "common/workload.hpp"

namespace bench {

struct Options {
  Grid grid;
  int files = 3;
  int records = 6;                    ///< per file
  double compute_ms = 0;              ///< busy compute before each output; 0: none
  bool warm_up = false;               ///< all files are written once before the measured ones
                                      ///< (afterbay)
  bool fixed_work = false;            ///< compute is an amount of work, not of time, without a plain
                                      ///< copy
  long work_rounds = 0;               ///< with fixed_work: from another run; 0: measure it
  std::string directory = ".";        ///< where the files go; must exist
  std::string mode;                   ///< the program's own variants, see its --help
  int outstanding = 1;                ///< raw write: writes in flight
  bool preallocate = false;           ///< raw write: fallocate first
  int servers = 1;                    ///< afterbay: I/O servers, the last ranks
  std::string format = "netcdf4";     ///< afterbay: store
  double idle_s = 5;                  ///< afterbay: length of the idle check
  std::vector<std::string> settings;  ///< afterbay: arguments that begin with --afterbay.,
                                      ///< unchanged
  [[nodiscard]] int steps() const { return files * records; }
  [[nodiscard]] std::string file_path(int file) const;
};

/// Parses the command line; prints help or the error and exits if there is nothing to run.
Options parse_options(int argc, char** argv, const std::string& description);

}  // namespace bench
