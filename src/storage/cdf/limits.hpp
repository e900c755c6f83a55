// SPDX-License-Identifier: Apache-2.0
// What the classic formats cannot hold.
#pragma once

#include <cstdint>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "model/layout.hpp"

namespace afterbay::storage {

/// Fails with wrong_type or invalid_argument, naming the variable, when a type, dimension or variable
/// is more than `layout.format` holds.
/// Source: NetCDF User's Guide, "Large File Support": CDF-2 variables (of one record) of at most
/// 2^32 - 4 bytes, dimensions of at most 2^31 - 4; CDF-5 without such limits and with all number types.
Result<> check_classic_limits(const Schema& schema, const model::FileLayout& layout);

/// Most records of a file, which the header counts in 32 or 64 bits.
std::uint64_t most_records(Format format) noexcept;

}  // namespace afterbay::storage
