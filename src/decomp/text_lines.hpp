// SPDX-License-Identifier: Apache-2.0
// TextLines: the words of a text file with their line numbers. A line may be larger than memory.
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

  /// The next token: a word, the end of the line, or the end of the file (which also ends an
  /// unfinished line).
  enum class Next { word, end_of_line, end_of_file };
  Next next();

  /// The last word, at most its first 64 characters: numbers are shorter.
  [[nodiscard]] std::string_view word() const noexcept { return {word_.data(), letters_}; }
  /// Whether the file ends directly after the last word, which may therefore be incomplete.
  [[nodiscard]] bool word_ends_file() const noexcept { return word_ends_file_; }
  /// The word as a whole number.
  [[nodiscard]] bool number(std::int64_t& value) const noexcept;
  /// The line of the last token, counted from 1.
  [[nodiscard]] std::uint64_t line() const noexcept { return line_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// The system's error if reading has failed; the file then appears to end.
  [[nodiscard]] Result<> status() const;

  /// An error on the line of the last token.
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
  bool line_ended_ = false;  ///< the next word is on the line after line_
  std::array<char, 64> word_{};
  std::size_t letters_ = 0;
  bool word_ends_file_ = false;
  int failed_ = 0;
};

}  // namespace afterbay::decomp
