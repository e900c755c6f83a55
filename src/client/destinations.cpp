// SPDX-License-Identifier: Apache-2.0
#include "client/destinations.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>

namespace afterbay::client {
namespace {

namespace fs = std::filesystem;

/// The absolute path; links are resolved as far as the path exists.
fs::path resolved(const std::string& path) {
  std::error_code gone;
  const fs::path whole = fs::absolute(path, gone);
  const fs::path found = fs::weakly_canonical(whole, gone);
  return gone ? whole.lexically_normal() : found;
}

}  // namespace
namespace {

std::size_t key_of(const std::string& path) { return std::hash<std::string>()(path); }

}  // namespace

std::optional<Destinations::Destination> Destinations::find(const std::string& path) const {
  const auto at = known_.find(key_of(path));
  return at == known_.end() ? std::nullopt : std::optional(at->second);
}

void Destinations::begin(const std::string& path, std::size_t server) {
  const std::size_t key = key_of(path);
  if (!known_.contains(key)) {
    if (known_.size() >= most_) forget_one();
    order_.push_back(key);
  }
  known_[key] = {server, 0};
}

void Destinations::close(const std::string& path, std::uint64_t ticket) {
  if (const auto at = known_.find(key_of(path)); at != known_.end()) at->second.ticket = ticket;
}

/// Open files are kept: the model bounds their number.
void Destinations::forget_one() {
  for (std::size_t looked_at = 0, all = order_.size(); looked_at < all; ++looked_at) {
    const std::size_t key = order_.front();
    order_.pop_front();
    if (known_.at(key).ticket != 0) {
      known_.erase(key);
      forgotten_ = true;
      return;
    }
    order_.push_back(key);
  }
}

bool OutputDirectories::add(const std::string& directory) {
  leads_to_.try_emplace(directory);
  return leads_to_.size() > limit_;
}

void OutputDirectories::keep(const std::set<std::string>& used) {
  std::erase_if(leads_to_, [&](const auto& entry) { return !used.contains(entry.first); });
  limit_ = std::max(most_, 2 * leads_to_.size());
}

std::vector<std::string> OutputDirectories::names_of(const std::string& path) {
  const fs::path whole = resolved(path);
  std::vector<std::string> names;
  for (auto& [directory, leads_to] : leads_to_) {
    if (leads_to.empty()) leads_to = resolved(directory.empty() ? "." : directory).string();
    if (leads_to == whole.parent_path()) names.push_back((fs::path(directory) / whole.filename()).string());
  }
  return names;
}

}  // namespace afterbay::client
