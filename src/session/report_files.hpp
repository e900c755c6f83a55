// SPDX-License-Identifier: Apache-2.0
// ReportFiles: the reports of a session never replace those of another one that ran at the same time.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>

#include "base/result.hpp"

namespace afterbay::session {

/// A report replaces an older one of its name, but only if that is still the file that was there when the
/// session began. Otherwise another session has ended meanwhile: the report goes to the next free name,
/// "report-2.json". Copies know the same files.
class ReportFiles {
 public:
  /// At the beginning of the session: notes which files have this name and its numbered ones.
  void expect(const std::string& path);
  /// Writes the text, whole or not at all where directories allow it, and returns where. `setting` names the
  /// path in messages.
  [[nodiscard]] Result<std::string> write(const std::string& path, const std::string& text,
                                          const char* setting) const;

 private:
  struct Identity {
    dev_t device = 0;
    ino_t inode = 0;
    std::int64_t modified_ns = 0;
    std::int64_t size_bytes = 0;
    bool operator==(const Identity&) const = default;
  };
  enum class Presence : std::uint8_t { none, regular, special };
  static Presence look(const std::string& path, Identity& found);
  /// Whether this session may write there: 0, EEXIST if the file is another session's, or an errno.
  [[nodiscard]] int try_write(const std::string& path, const std::string& text) const;

  std::map<std::string, Identity> before_;
};

}  // namespace afterbay::session
