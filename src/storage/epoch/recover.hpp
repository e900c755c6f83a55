// SPDX-License-Identifier: Apache-2.0
// Recovers an unfinished file of a run to one of its epochs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "storage/epoch/epoch.hpp"
#include "storage/epoch/part_identity.hpp"

namespace afterbay::storage {

/// An unfinished file of a run that ended without publishing it.
struct Recoverable {
  std::string path;  ///< final name
  std::string part_path;
  std::vector<Epoch> epochs;  ///< in order; the parts of all servers exist for each
  PartIdentity made_for;      ///< the file to which the log belongs
  /// Part file and logs were copied together: their identities are not compared.
  bool copied = false;
};

/// `path`: the final name, or the name with `.part`. Fails with io if there is no part file or no
/// epoch log, with format if the log is invalid, with conflict if it belongs to another file
/// (unless `copied`).
Result<Recoverable> find_recoverable(const std::string& path, bool copied = false);

/// Whether the part file still contains its data of the epoch with that number; changes nothing.
/// Fails with format if it is shorter, with invalid_argument if there is no such epoch, and like
/// `find_recoverable`.
Result<> check_recoverable(const Recoverable& file, std::uint64_t number);

struct Recovered {
  Epoch epoch;
  std::uint64_t size_bytes = 0;
  /// Overwritten with fill values: written after the epoch, or incomplete.
  std::uint64_t filled_bytes = 0;
  std::uint64_t checksum = 0;  ///< CRC-64/XZ
  std::uint64_t inode = 0;
  std::uint64_t born_ns = 0;  ///< time of the inode's creation; 0: unknown
};

struct RecoverOptions {
  std::optional<std::uint64_t> epoch;  ///< number; the last epoch if not set
  bool replace = false;                ///< replace an existing file with the final name
  /// Called when the file is complete and before it gets its name; if it fails, the file is left
  /// without the name.
  std::function<Result<>(const Recovered&)> before_name = {};
};

/// Gives the file its final name, durably, with exactly its state at the epoch. After a failure or
/// a crash at any moment it can be called again, for any epoch: the last one is recovered in the
/// part file itself, an older one in a copy of it (with shared blocks if the file system supports
/// them). HDF5 runs in a process of its own, because it can crash on damaged files; call this while
/// no other thread holds locks. Fails with conflict if a run still writes the file or the log
/// belongs to another one, with format if the part file is shorter than at the epoch, with no_space
/// if there is no space for the copy, with exists if the final name is taken, with invalid_argument
/// if there is no such epoch.
Result<Recovered> recover_file(const Recoverable& file, const RecoverOptions& options);

}  // namespace afterbay::storage
