// SPDX-License-Identifier: Apache-2.0
// Publications: which sessions have published which files, while they run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "journal/line.hpp"

namespace afterbay::journal {

/// Follows a journal: each line is read once, however often it is looked at. Keeps a path per
/// file that was made ready. One thread.
class Publications {
 public:
  /// `directory`: of the journal; it may not exist yet.
  explicit Publications(std::string directory) : directory_(std::move(directory)) {}

  /// Reads what has been added. Files that cannot be read are left out. Does not wait.
  void look();
  /// The session that published the file with this absolute path and inode, or is giving it its
  /// name; nullopt: none that the journal names.
  [[nodiscard]] std::optional<std::string> session_of(const std::string& path, std::uint64_t inode) const;
  /// All that has been read of the journal.
  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return bytes_read_; }

 private:
  /// A file of the journal.
  struct Source {
    std::uint64_t inode = 0;
    std::uint64_t end = 0;  ///< where the last line that was read ends
  };
  struct Publication {
    std::string run;
    std::uint64_t sequence = 0;
  };
  void follow(const std::string& path, Source& source);
  void take(std::string_view text);
  void make_ready(const Line& line, const FileReady& ready);
  void publish(const Line& line, const FilePublished& published);
  void credit(const Line& line, const std::string& path, std::uint64_t inode);

  std::string directory_;
  std::map<std::string, Source> sources_;        ///< by path
  std::map<std::string, std::string> sessions_;  ///< by run
  /// Inodes of files that are not published yet, by run and number.
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> inodes_;
  std::unordered_map<std::string, Publication> published_;  ///< by path and inode
  std::uint64_t bytes_read_ = 0;
};

}  // namespace afterbay::journal
