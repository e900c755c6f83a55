// SPDX-License-Identifier: Apache-2.0
// Destinations: the server that wrote each path last, and the directories of output. Both are
// bounded, because a run may write any number of files.
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

/// The most recently begun files, by path. The paths that it forgets depend only on the order of
/// calls, so that all ranks, which open and close the same files in the same order, forget the same
/// paths.
class Destinations {
 public:
  static constexpr std::size_t usual_most = 4096;

  explicit Destinations(std::size_t most = usual_most) : most_(most) {}

  struct Destination {
    std::size_t server = 0;
    std::uint64_t ticket = 0;  ///< the ticket of its last close; 0: not closed yet
  };
  [[nodiscard]] std::optional<Destination> find(const std::string& path) const;
  /// Adds a file that is begun under that path. Forgets the oldest closed file if there are too
  /// many.
  void begin(const std::string& path, std::size_t server);
  void close(const std::string& path, std::uint64_t ticket);
  /// Whether `find` may have forgotten a path.
  [[nodiscard]] bool has_forgotten() const noexcept { return forgotten_; }
  [[nodiscard]] std::size_t size() const noexcept { return known_.size(); }

 private:
  void forget_one();

  std::size_t most_;
  std::unordered_map<std::size_t, Destination> known_;  ///< by hash of the path
  /// Destinations in the order in which they were begun, each once.
  std::deque<std::size_t> order_;
  bool forgotten_ = false;
};

/// Directories of output files and the real directories that they resolve to, once these are known.
class OutputDirectories {
 public:
  static constexpr std::size_t usual_most = 256;

  explicit OutputDirectories(std::size_t most = usual_most) : limit_(most), most_(most) {}

  /// Returns true if there are so many directories that `keep` must be called.
  bool add(const std::string& directory);
  /// Removes all other directories.
  void keep(const std::set<std::string>& used);
  /// The names under which this session writes, or wrote, the file that `path` refers to: other
  /// spellings, absolute paths, symbolic links. Examines each directory in the file system only
  /// once.
  [[nodiscard]] std::vector<std::string> names_of(const std::string& path);
  /// By directory: the directory that it resolves to; empty if not known yet.
  [[nodiscard]] const std::map<std::string, std::string>& all() const noexcept { return leads_to_; }

 private:
  std::map<std::string, std::string> leads_to_;
  std::size_t limit_;  ///< twice the number that was kept last, at least `most_`
  std::size_t most_;
};

}  // namespace afterbay::client
