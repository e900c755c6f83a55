// SPDX-License-Identifier: Apache-2.0
// Names of files that replace nothing, on file systems with and without hard links.
#pragma once

#include <string>

namespace afterbay {

/// Gives the file `of` another name. Returns 0 or errno; EEXIST: the name is taken. Succeeds if the
/// name is the file's already, because an NFS server may complete a request whose answer is lost.
int link_file(const std::string& of, const std::string& name) noexcept;

/// Whether a link failed with this errno because the file system has no links, or no more of this
/// file. EINVAL counts: file systems may refuse requests with it that they do not know.
bool has_no_links(int number) noexcept;

/// Renames a file to a name that must be free. Returns 0 or errno; EEXIST: the name is taken. On
/// file systems with neither links nor RENAME_NOREPLACE, a file that takes the name at the same
/// moment is replaced.
int rename_to_free(const std::string& from, const std::string& to) noexcept;

}  // namespace afterbay
