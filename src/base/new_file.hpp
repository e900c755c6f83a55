// SPDX-License-Identifier: Apache-2.0
// Small files: created beside the file that they replace, or written to an existing path.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace afterbay {

/// Creates the file `path` with exactly this text. An existing entry of that name is removed first,
/// and links are not followed, so that nothing else is overwritten in directories that others can
/// write to. Returns 0 or errno; after a failure there is no file.
int write_new_file(const std::string& path, std::string_view text) noexcept;

/// A name beside `path` for a file that takes its place when it is complete. No other thread of
/// this machine uses it. It does not end as `path` does.
std::string name_beside(const std::string& path);

/// Renames a file. Returns 0 or errno once its contents and new name are durable, as far as the
/// file system can do that for directories.
int rename_durably(const std::string& from, const std::string& to) noexcept;

/// Replaces the file `path`, or creates it: under a temporary name beside it, which is then
/// renamed, so that readers see the old or the new text. Returns 0 or errno; after a failure the
/// old file is unchanged.
int replace_file(const std::string& path, std::string_view text);

/// Writes the text to an existing path: a device, a pipe, or the target of a link. A regular file
/// is replaced by the text, or created if it is missing. A link is followed if it belongs to this
/// user or root, or lies in /dev. Does not wait for a reader of a pipe, and waits at most
/// `patience` for room in it. Returns 0 or errno: ELOOP for links that are not followed, ENXIO for
/// sockets and for pipes without a reader, ETIMEDOUT. Raises no SIGPIPE.
int write_in_place(const std::string& path, std::string_view text,
                   std::chrono::milliseconds patience) noexcept;

}  // namespace afterbay
