// SPDX-License-Identifier: Apache-2.0
#include "observe/numbered_path.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>

namespace afterbay::observe {

std::string numbered_path(const std::string& path, const std::string& whose, bool plain) {
  constexpr std::string_view mark = "{server}";
  std::string made = path;
  if (const auto at = made.find(mark); at != std::string::npos) return made.replace(at, mark.size(), whose);
  if (path.empty() || plain) return path;
  const std::filesystem::path whole(path);
  return (whole.parent_path() /
          fmt::format("{}.{}{}", whole.stem().string(), whose, whole.extension().string()))
      .string();
}

std::string path_of_turn(const std::string& path, int turn) {
  if (turn <= 1) return path;
  const std::filesystem::path whole(path);
  return (whole.parent_path() /
          fmt::format("{}-{}{}", whole.stem().string(), turn, whole.extension().string()))
      .string();
}

}  // namespace afterbay::observe
