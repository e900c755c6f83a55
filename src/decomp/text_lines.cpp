// SPDX-License-Identifier: Apache-2.0
#include "decomp/text_lines.hpp"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/regular_file.hpp"

namespace afterbay::decomp {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

bool is_space(char letter) { return letter == ' ' || letter == '\t' || letter == '\r'; }

}  // namespace

Result<TextLines> TextLines::open(const std::string& path) {
  TextLines lines;
  lines.path_ = path;
  RegularFile file(path);
  if (!file.open())
    return fail(make_error(ErrorCode::io, "cannot be opened: {}", file.problem())
                    .in_file(path)
                    .with_native(file.number()));
  const int descriptor = file.release();
  lines.file_.reset(::fdopen(descriptor, "rb"));
  if (!lines.file_) ::close(descriptor);
  if (!lines.file_)
    return fail(make_error(ErrorCode::resources, "cannot be opened: {}", std::strerror(errno)).in_file(path));
  lines.buffer_.resize(buffer_bytes);
  return lines;
}

bool TextLines::fill() {
  if (failed_ != 0) return false;
  at_ = 0;
  end_ = std::fread(buffer_.data(), 1, buffer_.size(), file_.get());
  if (end_ == 0 && std::ferror(file_.get()) != 0) failed_ = errno;
  return end_ > 0;
}

Result<> TextLines::status() const {
  if (failed_ == 0) return {};
  return fail(make_error(ErrorCode::io, "cannot be read: {}", std::strerror(failed_))
                  .in_file(path_)
                  .with_native(failed_));
}

TextLines::Next TextLines::next() {
  if (line_ended_) ++line_;
  line_ended_ = false;
  letters_ = 0;
  while (true) {
    if (at_ == end_ && !fill()) {
      word_ends_file_ = letters_ > 0;
      return letters_ > 0 ? Next::word : Next::end_of_file;
    }
    const char letter = buffer_[at_];
    if (is_space(letter) || letter == '\n') {
      if (letters_ > 0) return Next::word;  // the character that ends the word is read again
      ++at_;
      if (letter != '\n') continue;
      line_ended_ = true;
      return Next::end_of_line;
    }
    ++at_;
    if (letters_ < word_.size()) word_[letters_++] = letter;
  }
}

bool TextLines::number(std::int64_t& value) const noexcept {
  const auto [end, error] = std::from_chars(word_.data(), word_.data() + letters_, value);
  return error == std::errc{} && end == word_.data() + letters_;
}

}  // namespace afterbay::decomp
