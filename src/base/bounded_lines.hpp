// SPDX-License-Identifier: Apache-2.0
// BoundedLines: the lines of a file of any size, in bounded memory.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace afterbay {

/// Reads a regular file from its beginning. Holes are skipped, where the file system can say where they are.
class BoundedLines {
 public:
  struct Line {
    std::string_view text;  ///< without the newline; until the next call
    bool ended = false;     ///< by a newline; false: the end of the file
    bool readable = true;   ///< false: longer than `most_bytes` or with a hole in it; `text` is a part of it
  };

  /// `descriptor` outlives this.
  BoundedLines(int descriptor, std::size_t most_bytes) : descriptor_(descriptor), most_bytes_(most_bytes) {}

  /// Nothing at the end of the file, or when it cannot be read.
  std::optional<Line> next();
  /// errno of the read that failed; 0: none did.
  [[nodiscard]] int number() const noexcept { return number_; }

 private:
  bool fill();
  void spoil() noexcept;

  int descriptor_;
  std::size_t most_bytes_;
  off_t offset_ = 0;       ///< of what is read next
  std::string buffer_;     ///< what was read and not given
  std::size_t begin_ = 0;  ///< of the current line
  std::size_t scanned_ = 0;
  bool spoiled_ = false;  ///< the current line
  bool at_end_ = false;   ///< what is appended from now on may be the rest of a line that was given
  int number_ = 0;
};

}  // namespace afterbay
