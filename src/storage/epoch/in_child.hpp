// SPDX-License-Identifier: Apache-2.0
// in_child: runs work with a library that may crash on damaged input.
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"

namespace afterbay::storage {

/// Runs `work` in a forked process with limited memory and processor time, and returns its result.
/// Fails with format if that process crashes or exceeds its limits. Changes that `work` makes in
/// memory are lost. The caller must hold all locks on which `work` relies.
Result<> in_child(const std::string& what, const std::function<Result<>()>& work);

}  // namespace afterbay::storage
