// SPDX-License-Identifier: Apache-2.0
#include "storage/striping/file_system.hpp"

#include <fmt/format.h>
#include <sys/vfs.h>

#include <array>

namespace afterbay::storage {
namespace {

struct Known {
  std::uint32_t magic;
  const char* name;
  FileSystem::Stripes stripes;
};

using enum FileSystem::Stripes;

/// From the kernel's magic.h; Lustre, GPFS, BeeGFS, OrangeFS, ZFS and PanFS from their own sources.
constexpr std::array<Known, 19> known{{{0x0BD00BD0, "Lustre", per_file},
                                       {0x47504653, "GPFS", its_own},
                                       {0x19830326, "BeeGFS", its_own},
                                       {0x00C36400, "Ceph", its_own},
                                       {0x20030528, "OrangeFS", its_own},
                                       {0xAAD7AAEA, "PanFS", its_own},
                                       {0x00006969, "NFS", its_own},
                                       {0xFF534D42, "CIFS", its_own},
                                       {0xFE534D42, "SMB", its_own},
                                       {0x01021997, "9p", its_own},
                                       {0x65735546, "FUSE", its_own},
                                       {0x0000EF53, "ext4", none},
                                       {0x58465342, "XFS", none},
                                       {0x9123683E, "Btrfs", none},
                                       {0x2FC12FC1, "ZFS", none},
                                       {0xF2F52010, "F2FS", none},
                                       {0x01021994, "tmpfs", none},
                                       {0x858458F6, "ramfs", none},
                                       {0x794C7630, "overlay", none}}};

}  // namespace

FileSystem file_system_of_magic(std::uint32_t magic) {
  for (const Known& one : known)
    if (one.magic == magic) return {one.name, one.stripes};
  return {fmt::format("file system {:#x}", magic), its_own};
}

FileSystem file_system_of(const std::string& path) {
  struct statfs status {};
  if (::statfs(path.c_str(), &status) != 0) return {};
  return file_system_of_magic(static_cast<std::uint32_t>(status.f_type));
}

}  // namespace afterbay::storage
