// SPDX-License-Identifier: Apache-2.0
// Locks that show others that the owner of a file is alive. They belong to the open file, end with
// the last process that has it open, however that process ends, and keep several sessions of one
// process apart.
#pragma once

namespace afterbay {

enum class FileLock {
  ours,
  others,  ///< another owner holds it
  none,    ///< the file system does not support locks
};

/// Takes the lock on a file that is open for writing. Does not wait.
FileLock take_file_lock(int descriptor) noexcept;
/// Whether a process holds it, on this node or on any node whose locks are visible here. Takes no
/// lock.
bool file_lock_is_held(int descriptor) noexcept;

}  // namespace afterbay
