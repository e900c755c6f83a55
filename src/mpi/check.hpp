// SPDX-License-Identifier: Apache-2.0
// Converts MPI's return codes to errors; all MPI calls are checked here.
#pragma once

#include <mpi.h>

#include "base/result.hpp"

namespace afterbay::mpi {

/// Fails with MPI's error text if `code`, returned by `function`, is not MPI_SUCCESS.
Result<void> check(int code, const char* function);

/// Whether MPI may be called: after MPI_Init and before MPI_Finalize.
bool is_running() noexcept;

}  // namespace afterbay::mpi
