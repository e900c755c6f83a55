// SPDX-License-Identifier: Apache-2.0
#include "base/bounded_lines.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace afterbay {
namespace {

constexpr std::size_t read_bytes = std::size_t{1} << 20;

}  // namespace

std::optional<BoundedLines::Line> BoundedLines::next() {
  while (!at_end_) {
    const std::size_t newline = buffer_.find('\n', scanned_);
    if (newline != std::string::npos) {
      const std::string_view text = std::string_view(buffer_).substr(begin_, newline - begin_);
      begin_ = scanned_ = newline + 1;
      return Line{text, true, !std::exchange(spoiled_, false) && text.size() <= most_bytes_};
    }
    buffer_.erase(0, std::exchange(begin_, 0));
    scanned_ = buffer_.size();
    if (buffer_.size() > most_bytes_) spoil();
    if (fill()) continue;
    at_end_ = true;
    if (number_ == 0 && (!buffer_.empty() || spoiled_)) return Line{buffer_, false, !spoiled_};
  }
  return std::nullopt;
}

/// Marks the current line as unreadable; the part kept so far is useless.
void BoundedLines::spoil() noexcept {
  spoiled_ = true;
  buffer_.clear();
  scanned_ = 0;
}

bool BoundedLines::fill() {
  const off_t data = ::lseek(descriptor_, offset_, SEEK_DATA);
  if (data < 0 && errno == ENXIO) {  // the end, or a hole up to it
    struct stat status {};
    if (::fstat(descriptor_, &status) == 0 && status.st_size > offset_) {
      spoil();
      offset_ = status.st_size;
    }
    return false;
  }
  if (data > offset_) {
    spoil();
    offset_ = data;
  }
  const std::size_t kept = buffer_.size();
  buffer_.resize(kept + read_bytes);
  ssize_t got = -1;
  do got = ::pread(descriptor_, buffer_.data() + kept, read_bytes, offset_);
  while (got < 0 && errno == EINTR);
  if (got < 0) number_ = errno;
  buffer_.resize(kept + static_cast<std::size_t>(got < 0 ? 0 : got));
  offset_ += got > 0 ? got : 0;
  return got > 0;
}

}  // namespace afterbay
