// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "common/options.hpp"

namespace bench {

/// Flushes existing files, then their directory, to the disk. Throws std::system_error.
void make_durable(const std::vector<std::string>& files, const std::string& directory);

/// The end of a baseline: rank 0 makes the history files durable while the others wait.
void finish_on_rank_0(const Options& options, MPI_Comm model);

}  // namespace bench
