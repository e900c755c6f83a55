// SPDX-License-Identifier: Apache-2.0
// Processes as owners of files: how others know them, on this machine and on others.
#pragma once

#include <cstdint>
#include <string>

namespace afterbay {

struct OwnerIdentity {
  std::string host;             ///< for messages only: several machines may have one name
  std::string boot;             ///< of the running kernel; empty: not known
  std::uint64_t pid_space = 0;  ///< inode of the process-number namespace; 0: not known
  std::uint64_t pid = 0;
  std::uint64_t started = 0;  ///< clock ticks after the boot; 0: not known

  bool operator==(const OwnerIdentity&) const = default;
};

/// The calling process.
OwnerIdentity own_identity();

enum class Life {
  alive,
  dead,
  elsewhere,  ///< this process cannot know: another machine or namespace, or /proc does not tell
};

/// By the process number. Dead only if there is no such process, or it is another one; what cannot be read
/// (/proc mounted with hidepid, no descriptor left) proves nothing.
Life life_of(const OwnerIdentity& owner);

}  // namespace afterbay
