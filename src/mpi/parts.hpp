// SPDX-License-Identifier: Apache-2.0
// One message out of several parts of memory, without copying them together first.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>

#include "base/result.hpp"

namespace afterbay::mpi {

/// Begins a synchronous send of all parts, one after the other; together less than 2 GiB. They must
/// stay unchanged until `request` is complete.
Result<void> send_parts(std::span<const std::span<const std::byte>> parts, int to, int tag, MPI_Comm comm,
                        MPI_Request* request);

}  // namespace afterbay::mpi
