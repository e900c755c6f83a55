// SPDX-License-Identifier: Apache-2.0
// ReportFiles: reports of a session never replace those of another session that ran at the same
// time.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>

#include "base/result.hpp"

namespace afterbay::session {

/// A report replaces an older one with its name, but only if that is the same file as at the
/// beginning of the session. Otherwise another session has ended meanwhile, and the report goes to
/// the next free name, "report-2.json". Copies share the same knowledge.
class ReportFiles {
 public:
  /// At the beginning of the session: records which files with this name, and with its numbered
  /// variants, exist.
  void expect(const std::string& path);
  /// Writes the text, atomically if the directory allows it, and returns the path. `setting` names
  /// the path in messages.
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
  /// Whether this session may write there: 0, EEXIST if the file belongs to another session, or an
  /// errno.
  [[nodiscard]] int try_write(const std::string& path, const std::string& text) const;

  std::map<std::string, Identity> before_;
};

}  // namespace afterbay::session
