// SPDX-License-Identifier: Apache-2.0
#include "storage/striping/striper.hpp"

#include <string>

#include "storage/striping/lfs.hpp"

namespace afterbay::storage {

using Clock = std::chrono::steady_clock;

bool Striper::begin(const std::string& directory) {
  const FileSystem file_system = file_system_of(directory);
  const bool on_lustre = file_system.stripes == FileSystem::Stripes::per_file;
  const bool wanted =
      policy_.apply == StripeApply::always || (policy_.apply == StripeApply::automatic && on_lustre);
  directory_ = directory;
  until_ = Clock::now() + policy_.deadline;
  asks_ = wanted || on_lustre;
  striping_ = {
      file_system.name,
      file_system.stripes == FileSystem::Stripes::none ? "no stripes to set" : "stripes as it chooses",
      {}};
  return wanted;
}

void Striper::create(const std::string& path) {
  created_ = true;
  const auto set = set_stripes(path, choose_stripes(policy_, file_bytes_), policy_.deadline);
  striping_.warning = set ? std::string{} : set.error().text();
}

void Striper::look(const std::string& path) {
  if (!asks_) return;
  const std::string stripes = found_stripes(path, time_left());
  striping_.stripes = stripes + ", " +
                      (policy_.targets ? policy_.targets->of(directory_, time_left())
                                       : found_targets(directory_, time_left()));
}

std::chrono::milliseconds Striper::time_left() const {
  return std::chrono::ceil<std::chrono::milliseconds>(until_ - Clock::now());
}

}  // namespace afterbay::storage
