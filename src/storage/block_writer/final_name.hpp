// SPDX-License-Identifier: Apache-2.0
// Gives a complete file its final name.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "storage/block_writer/disk.hpp"

namespace afterbay::storage {

/// Whether the open file still has the name (it was not renamed or removed meanwhile).
bool has_name(int descriptor, const std::string& path) noexcept;

/// Gives the file that is open as `descriptor`, and no other, the name `path`. Its present name is
/// `present`, and is kept until `remove_name`; if another file has that name meanwhile, that file
/// is not touched. A file with the name `path` is kept complete unless `replace` is true; then it
/// is replaced atomically.
///
/// Fails with exists (`path` is taken), conflict (the file has lost all its names), io. On a file
/// system without hard links the file is renamed: then another file that takes `present` at the
/// same moment could get the final name, which is reported as conflict.
///
/// A process that is killed meanwhile leaves `path` and `present` as two names of one file, or a
/// third name of it, `path.part.<16 hexadecimal digits>.new`; the next writer that claims `path`
/// removes them.
Result<> give_name(Disk& disk, int descriptor, const std::string& present, const std::string& path,
                   bool replace);

/// Removes a name of the open file, if the file still has that name.
void remove_name(int descriptor, const std::string& path) noexcept;

/// Whether `suffix` is the part of the third name after `path.part`.
bool is_temporary_name(std::string_view suffix) noexcept;

}  // namespace afterbay::storage
