// SPDX-License-Identifier: Apache-2.0
// Destinations: which server wrote a path last, and the directories that output goes to. Both are bounded:
// a run may write any number of files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace afterbay::client {

/// The files that were begun last, by path. What it forgets depends only on the order of calls, so that all
/// ranks, which open and close the same files in the same order, forget the same.
class Destinations {
 public:
  static constexpr std::size_t usual_most = 4096;

  explicit Destinations(std::size_t most = usual_most) : most_(most) {}

  struct Destination {
    std::size_t server = 0;
    std::uint64_t ticket = 0;  ///< of its last close; 0: not closed yet
  };
  [[nodiscard]] std::optional<Destination> find(const std::string& path) const;
  /// A file is begun under that path. The oldest closed one is forgotten if there are too many.
  void begin(const std::string& path, std::size_t server);
  void close(const std::string& path, std::uint64_t ticket);
  /// Whether `find` may have forgotten a path.
  [[nodiscard]] bool has_forgotten() const noexcept { return forgotten_; }
  [[nodiscard]] std::size_t size() const noexcept { return known_.size(); }

 private:
  void forget_one();

  std::size_t most_;
  std::unordered_map<std::size_t, Destination> known_;  ///< by hash of the path
  std::deque<std::size_t> order_;                       ///< as begun; each once
  bool forgotten_ = false;
};

/// Directories of output files, with what they lead to once that is known.
class OutputDirectories {
 public:
  static constexpr std::size_t usual_most = 256;

  explicit OutputDirectories(std::size_t most = usual_most) : limit_(most), most_(most) {}

  /// True: there are many, and it is time to call `keep`.
  bool add(const std::string& directory);
  /// Forgets all others.
  void keep(const std::set<std::string>& used);
  /// The names under which this session writes, or wrote, the file that `path` leads to: another spelling,
  /// an absolute path, a symbolic link. Looks at each directory in the file system once.
  [[nodiscard]] std::vector<std::string> names_of(const std::string& path);
  /// By directory: what it leads to; empty: not known yet.
  [[nodiscard]] const std::map<std::string, std::string>& all() const noexcept { return leads_to_; }

 private:
  std::map<std::string, std::string> leads_to_;
  std::size_t limit_;  ///< twice what was kept last, at least `most_`
  std::size_t most_;
};

}  // namespace afterbay::client
