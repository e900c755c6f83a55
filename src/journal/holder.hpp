// SPDX-License-Identifier: Apache-2.0
// Whether the session that writes a journal file lives.
#pragma once

#include <string>

namespace afterbay::journal {

enum class Holder {
  nobody,
  somebody,  ///< a session that lives
  unknown,   ///< the system did not answer
};

/// Of the open journal file of that name. Where the file system has no locks, this may wait for a sign of
/// life (OwnerFile).
Holder holder_of(int descriptor, const std::string& path);

}  // namespace afterbay::journal
