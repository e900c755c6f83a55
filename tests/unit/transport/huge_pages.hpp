// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <string>

namespace afterbay::transport::shm {

/// Whether this system uses huge pages for shared memory that is advised to have them.
inline bool huge_pages_are_permitted() {
  std::ifstream setting("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
  std::string line;
  std::getline(setting, line);
  return line.find("[a") != std::string::npos || line.find("[within_size]") != std::string::npos ||
         line.find("[force]") != std::string::npos;
}

}  // namespace afterbay::transport::shm
