// SPDX-License-Identifier: Apache-2.0
// Whether the session that writes a journal file lives.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace afterbay::journal {

enum class Holder {
  nobody,
  somebody,  ///< a session that lives
  unknown,   ///< the system did not answer
};

/// Of each journal file, by its lock or, if the file system has none, its OwnerFile. There this waits for
/// signs of life, once for all files, and only of those whose last run has not ended.
std::vector<Holder> holders_of(std::span<const std::string> paths);
/// Of the open journal file of that name.
Holder holder_of(int descriptor, const std::string& path);

}  // namespace afterbay::journal
