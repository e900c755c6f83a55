// SPDX-License-Identifier: Apache-2.0
#include "base/directories.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

namespace afterbay {

int sync_directory(const std::string& path) noexcept {
  const int opened = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return errno;
  const int number = ::fsync(opened) == 0 || errno == EINVAL || errno == EROFS ? 0 : errno;
  ::close(opened);
  return number;
}

int make_directories(const std::string& path) {
  std::error_code wrong;
  std::vector<std::string> parents;  // those that are missing
  for (auto at = std::filesystem::absolute(path, wrong).lexically_normal();
       !wrong && !at.empty() && !std::filesystem::exists(at, wrong) && at != at.parent_path();
       at = at.parent_path())
    parents.push_back(at.parent_path().string());
  wrong.clear();
  std::filesystem::create_directories(path, wrong);
  if (wrong) return wrong.value();
  for (const std::string& parent : parents)
    if (const int number = sync_directory(parent)) return number;
  return 0;
}

}  // namespace afterbay
