// SPDX-License-Identifier: Apache-2.0
// BoundedLines: the lines of a file of any size, in bounded memory.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace afterbay {

/// Reads a regular file from its beginning. Holes are skipped if the file system reports them.
class BoundedLines {
 public:
  struct Line {
    std::string_view text;  ///< without the newline; valid until the next call
    bool ended = false;     ///< by a newline; false: the end of the file
    bool readable = true;   ///< false: longer than `most_bytes` or with a hole in it; `text` is
                            ///< only a part of it
  };

  /// `descriptor` must outlive this object.
  BoundedLines(int descriptor, std::size_t most_bytes) : descriptor_(descriptor), most_bytes_(most_bytes) {}

  /// The next line; nothing at the end of the file, or if it cannot be read.
  std::optional<Line> next();
  /// errno of the read that failed; 0: no read failed.
  [[nodiscard]] int number() const noexcept { return number_; }

 private:
  bool fill();
  void spoil() noexcept;

  int descriptor_;
  std::size_t most_bytes_;
  off_t offset_ = 0;       ///< file offset of the next byte to read
  std::string buffer_;     ///< bytes read but not yet returned
  std::size_t begin_ = 0;  ///< start of the current line in `buffer_`
  std::size_t scanned_ = 0;
  bool spoiled_ = false;  ///< the current line is unreadable
  bool at_end_ = false;   ///< bytes appended from now on may be the rest of a line that was
                          ///< returned
  int number_ = 0;
};

}  // namespace afterbay
