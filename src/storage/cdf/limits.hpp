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
Result<> check_classic_limits(const Schema& schema, const model::FileLayout& layout);

}  // namespace afterbay::storage
