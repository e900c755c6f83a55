// SPDX-License-Identifier: Apache-2.0
// What a map may need of memory: sizes that cannot be had are refused before anything is allocated.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace afterbay::decomp {

/// Bytes of memory that this process may have in all: the least of the machine's, its control group's and
/// `ulimit -v`.
std::uint64_t memory_limit_bytes();

/// Refuses (resources) what needs more than that: "`what` need 32.0 GiB of memory; this process may have
/// ...". `bytes` may be an estimate.
Result<> check_memory(double bytes, const std::string& what);

}  // namespace afterbay::decomp
