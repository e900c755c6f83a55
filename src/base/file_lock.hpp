// SPDX-License-Identifier: Apache-2.0
// Locks by which others see that a file's owner lives: they are of the open file, end with the last process
// that has it open, however that ends, and do not mix up the sessions of one process.
#pragma once

namespace afterbay {

enum class FileLock {
  ours,
  others,  ///< somebody else holds it
  none,    ///< the file system gives no locks
};

/// Takes the lock on a file that is open for writing. Never waits.
FileLock take_file_lock(int descriptor) noexcept;
/// Whether a process, on this node or any whose locks this one sees, holds it. Takes nothing.
bool file_lock_is_held(int descriptor) noexcept;

}  // namespace afterbay
