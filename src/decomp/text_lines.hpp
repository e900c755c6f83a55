// SPDX-License-Identifier: Apache-2.0
// TextLines: the words of a text file with their lines. A line may be longer than memory.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace afterbay::decomp {

class TextLines {
 public:
  static Result<TextLines> open(const std::string& path);

  /// What stands next: a word, or the end of the line, or of the file (which also ends an unfinished line).
  enum class Next { word, end_of_line, end_of_file };
  Next next();

  /// The last word, at most its first 64 letters: nothing that long is a number.
  [[nodiscard]] std::string_view word() const noexcept { return {word_.data(), letters_}; }
  /// Whether the file ends directly behind the last word, so that more of it may have been there.
  [[nodiscard]] bool word_ends_file() const noexcept { return word_ends_file_; }
  /// The word as a whole number.
  [[nodiscard]] bool number(std::int64_t& value) const noexcept;
  /// The line of what next() has found, from 1.
  [[nodiscard]] std::uint64_t line() const noexcept { return line_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// The system's error, if reading has failed; the file then seems to end.
  [[nodiscard]] Result<> status() const;

  /// A mistake on the line of what next() has found.
  template <class... Args>
  tl::unexpected<Error> malformed(fmt::format_string<Args...> format, Args&&... args) const {
    return fail(
        make_error(ErrorCode::format, "line {}: {}", line_, fmt::format(format, std::forward<Args>(args)...))
            .in_file(path_));
  }

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  bool fill();

  std::string path_;
  std::unique_ptr<std::FILE, Closer> file_;
  std::vector<char> buffer_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::uint64_t line_ = 1;
  bool line_ended_ = false;  ///< the next word is on the line behind line_
  std::array<char, 64> word_{};
  std::size_t letters_ = 0;
  bool word_ends_file_ = false;
  int failed_ = 0;
};

}  // namespace afterbay::decomp
