// SPDX-License-Identifier: Apache-2.0
// Small files that are written beside the one that they are to replace, or to what is there.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace afterbay {

/// Makes the file `path`, which holds `text` and nothing else. What has that name is removed before, and
/// links are not followed: in directories that others can write to, nothing else is written over. 0 or errno;
/// after a failure there is no file.
int write_new_file(const std::string& path, std::string_view text) noexcept;

/// Writes the text to what has that name: a device, a pipe, the file that a link leads to; a regular file
/// then holds nothing else, and is made if it is missing. A link is followed if it is this user's or root's,
/// or in /dev. Waits for nobody to open the other side of a pipe, and at most `patience` for room in it.
/// 0 or errno: ELOOP for links that are not followed, ENXIO for pipes that nobody reads and for sockets,
/// ETIMEDOUT. Raises no SIGPIPE.
int write_in_place(const std::string& path, std::string_view text,
                   std::chrono::milliseconds patience) noexcept;

}  // namespace afterbay
