// SPDX-License-Identifier: Apache-2.0
// How a file that is complete gets its final name.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "storage/block_writer/disk.hpp"

namespace afterbay::storage {

/// Whether the open file is the one that has the name now (nobody renamed or removed it meanwhile).
bool has_name(int descriptor, const std::string& path) noexcept;

/// Gives the file that is open as `descriptor`, and no other, the name `path`. Its name so far is
/// `present`, and stays until `remove_name`; if another file has that name by now, it is not touched. A file
/// that has the name `path` stays, whole, unless `replace` is true; then it is replaced at once.
///
/// Fails with exists (`path` is taken), conflict (the file has lost all its names), io. On a file system
/// without hard links the file is renamed: then another one that took `present` in the same moment would get
/// the final name, which is reported as conflict.
///
/// Killed in between, a process leaves `path` and `present` as two names of one file, or a third name of it,
/// `path.part.<16 hexadecimal digits>.new`; who claims `path` next removes them.
Result<> give_name(Disk& disk, int descriptor, const std::string& present, const std::string& path,
                   bool replace);

/// Removes a name of the open file, if it still is one.
void remove_name(int descriptor, const std::string& path) noexcept;

/// Whether `suffix` is what follows `path.part` in the third name.
bool is_temporary_name(std::string_view suffix) noexcept;

}  // namespace afterbay::storage
