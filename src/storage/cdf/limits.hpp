// SPDX-License-Identifier: Apache-2.0
// The limits of the classic formats.
#pragma once

#include <cstdint>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "model/layout.hpp"

namespace afterbay::storage {

/// Fails with wrong_type or invalid_argument, and names the variable, if a type, dimension or
/// variable exceeds the limits of `layout.format`.
Result<> check_classic_limits(const Schema& schema, const model::FileLayout& layout);

}  // namespace afterbay::storage
