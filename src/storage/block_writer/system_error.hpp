// SPDX-License-Identifier: Apache-2.0
// Errors of system calls on files: the error code, and advice for the user.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace afterbay::storage {

/// no_space for ENOSPC and EDQUOT, resources for EMFILE/ENFILE/ENOMEM, exists for EEXIST, otherwise
/// io.
ErrorCode code_of_errno(int number) noexcept;

/// "cannot <operation> <path>: <text of errno>; <what to do>", with errno as native code.
Error system_error(int number, std::string_view operation, const std::string& path);

}  // namespace afterbay::storage
