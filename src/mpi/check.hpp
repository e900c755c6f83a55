// SPDX-License-Identifier: Apache-2.0
// The one place where MPI's return codes become errors.
#pragma once

#include <mpi.h>

#include "base/result.hpp"

namespace afterbay::mpi {

/// Fails with MPI's text when `code`, returned by `function`, is not MPI_SUCCESS.
Result<void> check(int code, const char* function);

/// Whether MPI may be called now: after MPI_Init and before MPI_Finalize.
bool is_running() noexcept;

}  // namespace afterbay::mpi
