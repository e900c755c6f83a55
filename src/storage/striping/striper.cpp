// SPDX-License-Identifier: Apache-2.0
#include "storage/striping/striper.hpp"

#include <fmt/format.h>

#include "base/run_command.hpp"

namespace afterbay::storage {
namespace {

constexpr const char* left_alone = "stripes as the directory says";

std::string without_lfs(FileSystem::Stripes stripes) {
  switch (stripes) {
    case FileSystem::Stripes::none: return "no stripes to set";
    case FileSystem::Stripes::per_file: return left_alone;
    case FileSystem::Stripes::its_own: return "stripes as it chooses";
  }
  return {};
}

}  // namespace

bool Striper::begin(const std::string& directory) {
  const FileSystem file_system = file_system_of(directory);
  const bool wanted =
      policy_.apply == StripeApply::always ||
      (policy_.apply == StripeApply::automatic && file_system.stripes == FileSystem::Stripes::per_file);
  striping_ = {file_system.name, without_lfs(file_system.stripes), {}};
  return wanted;
}

void Striper::create(const std::string& path) {
  created_ = true;
  const Stripes stripes = choose_stripes(policy_, file_bytes_);
  const auto set = run_command({"lfs", "setstripe", "-c", fmt::to_string(stripes.count), "-S",
                                fmt::to_string(stripes.size_bytes), path},
                               policy_.deadline);
  striping_.applied = set ? text_of(stripes) : left_alone;
  striping_.warning = set ? std::string{} : set.error().text();
}

}  // namespace afterbay::storage
