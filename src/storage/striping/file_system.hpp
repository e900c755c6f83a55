// SPDX-License-Identifier: Apache-2.0
// The type of a path's file system, as far as striping and the report need it.
#pragma once

#include <cstdint>
#include <string>

namespace afterbay::storage {

struct FileSystem {
  enum class Stripes {
    none,      ///< a local disk or memory: nothing to stripe
    per_file,  ///< Lustre: set when a file is created
    its_own,   ///< GPFS, NFS, ...: determined by the file system, not by writers
  };
  std::string name = "an unknown file system";  ///< "Lustre", "GPFS", "ext4", "file system 0x1234"
  Stripes stripes = Stripes::its_own;
};

/// By the magic number from statfs.
FileSystem file_system_of_magic(std::uint32_t magic);

/// The file system of an existing file or directory; the default if it cannot be determined.
FileSystem file_system_of(const std::string& path);

}  // namespace afterbay::storage
