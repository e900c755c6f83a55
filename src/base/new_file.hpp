// SPDX-License-Identifier: Apache-2.0
// Small files that are written beside the one that they are to replace.
#pragma once

#include <string>
#include <string_view>

namespace afterbay {

/// Makes the file `path`, which holds `text` and nothing else. What has that name is removed before, and
/// links are not followed: in directories that others can write to, nothing else is written over. 0 or errno;
/// after a failure there is no file.
int write_new_file(const std::string& path, std::string_view text) noexcept;

}  // namespace afterbay
