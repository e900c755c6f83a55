// SPDX-License-Identifier: Apache-2.0
// Brings a file that a run left in the making back to one of its epochs.
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

/// A file in the making, left by a run that ended without publishing it.
struct Recoverable {
  std::string path;  ///< final name
  std::string part_path;
  std::vector<Epoch> epochs;  ///< in order; all servers' parts of each are there
  PartIdentity made_for;      ///< the file that the log was written for
  bool copied = false;        ///< part file and logs were copied together: the log's file is not looked for
};

/// `path`: final name, or that with `.part`. Fails with io where there is no file in the making or no log of
/// epochs, with format when the log is none, with conflict when it belongs to another file (unless `copied`).
Result<Recoverable> find_recoverable(const std::string& path, bool copied = false);

/// Whether the part file still has what it had at the epoch of that number; changes nothing. Fails with
/// format when it is shorter, with invalid_argument when there is no such epoch, and as `find_recoverable`
/// does.
Result<> check_recoverable(const Recoverable& file, std::uint64_t number);

struct Recovered {
  Epoch epoch;
  std::uint64_t size_bytes = 0;
  std::uint64_t filled_bytes = 0;  ///< overwritten with fill values: written after the epoch, or torn
  std::uint64_t checksum = 0;      ///< CRC-64/XZ
  std::uint64_t inode = 0;
  std::uint64_t born_ns = 0;  ///< when the inode was created; 0: not known
};

struct RecoverOptions {
  std::optional<std::uint64_t> epoch;  ///< number; the last one if none
  bool replace = false;                ///< a file under the final name
  /// Called when the file is as it should be and before it gets its name; what fails there leaves it as it
  /// is.
  std::function<Result<>(const Recovered&)> before_name = {};
};

/// Gives the file its final name, with what it had at the epoch and nothing else, durably. After a failure
/// or a crash at any moment it can be called again, for any epoch: the last one is made in the part file
/// itself, an older one in a copy of it (shared blocks, where the file system has them). HDF5 works in a
/// process of its own, since it can crash on damaged files; call it where no other thread holds locks.
/// Fails with conflict when a run still writes the file or the log belongs to another one, with format when
/// the part file is shorter than at the epoch, with no_space when there is no room for the copy, with exists
/// when the final name is taken, with invalid_argument when there is no such epoch.
Result<Recovered> recover_file(const Recoverable& file, const RecoverOptions& options);

}  // namespace afterbay::storage
