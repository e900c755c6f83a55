// SPDX-License-Identifier: Apache-2.0
// Which file system a path is on, as far as striping and the report care.
#pragma once

#include <cstdint>
#include <string>

namespace afterbay::storage {

struct FileSystem {
  enum class Stripes {
    none,      ///< a local disk or memory: nothing to stripe
    per_file,  ///< Lustre: set when a file is made
    its_own,   ///< GPFS, NFS, ...: decided there, not by those who write
  };
  std::string name = "an unknown file system";  ///< "Lustre", "GPFS", "ext4", "file system 0x1234"
  Stripes stripes = Stripes::its_own;
};

/// By the magic number that statfs gives.
FileSystem file_system_of_magic(std::uint32_t magic);

/// Of an existing file or directory; one that cannot be asked has the default's name.
FileSystem file_system_of(const std::string& path);

}  // namespace afterbay::storage
