// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "common/options.hpp"

namespace bench {

/// Flushes files that others wrote, then their directory, to the disk. Throws std::system_error.
void make_durable(const std::vector<std::string>& files, const std::string& directory);

/// The end of a baseline: rank 0 makes the history's files durable, the others wait for it.
void finish_on_rank_0(const Options& options, MPI_Comm model);

}  // namespace bench
