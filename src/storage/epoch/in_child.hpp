// SPDX-License-Identifier: Apache-2.0
// in_child: work with a library that may crash on damaged input.
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"

namespace afterbay::storage {

/// Runs `work` in a forked process, with bounded memory and processor time, and gives its result. Fails with
/// format when that process crashes or exceeds its bounds. What `work` changes in memory is lost. The caller
/// holds all locks that `work` relies on.
Result<> in_child(const std::string& what, const std::function<Result<>()>& work);

}  // namespace afterbay::storage
