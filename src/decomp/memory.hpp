// SPDX-License-Identifier: Apache-2.0
// Memory needs of maps: sizes for which there is no memory are refused before anything is
// allocated.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace afterbay::decomp {

/// Total bytes of memory that this process may use: the minimum of the machine's memory, its
/// control group's limit and `ulimit -v`.
std::uint64_t memory_limit_bytes();

/// Fails (resources) if more than that is needed: "`what` need 32.0 GiB of memory; this process may
/// have ...". `bytes` may be an estimate.
Result<> check_memory(double bytes, const std::string& what);

}  // namespace afterbay::decomp
