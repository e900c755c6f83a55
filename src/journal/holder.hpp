// SPDX-License-Identifier: Apache-2.0
// Whether the session that writes a journal file is alive.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/owner_file.hpp"

namespace afterbay::journal {

enum class Holder {
  nobody,
  somebody,  ///< a live session
  unknown,   ///< the system gave no answer
};

/// The holder of each journal file, by its lock or, if the file system has none, its OwnerFile. In
/// the latter case this waits for signs of life, once for all files, and only for those whose last
/// run has not ended; `patience` is that of `OwnerFile`.
std::vector<Holder> holders_of(std::span<const std::string> paths,
                               const OwnerPatience& patience = OwnerFile::usual_patience);
/// The same for the open journal file of that name.
Holder holder_of(int descriptor, const std::string& path);

}  // namespace afterbay::journal
