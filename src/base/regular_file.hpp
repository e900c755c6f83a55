// SPDX-License-Identifier: Apache-2.0
// RegularFile: opens for reading what others may have put under a name, or replaced.
#pragma once

#include <cstdint>
#include <string>

namespace afterbay {

/// A regular file that is open for reading. Nothing else is opened: a named pipe would wait for its other
/// side, and opening a device can have effects. Never waits, but for the file system.
class RegularFile {
 public:
  enum class Links : bool {
    followed,
    refused  ///< of the last component: ELOOP
  };

  explicit RegularFile(const std::string& path, Links links = Links::followed);
  RegularFile(RegularFile&& other) noexcept;
  RegularFile& operator=(RegularFile&&) = delete;
  ~RegularFile();

  [[nodiscard]] bool open() const noexcept { return descriptor_ >= 0; }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// The caller closes it.
  [[nodiscard]] int release() noexcept;
  /// When it was opened.
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }

  /// Why it is not open: an errno; EISDIR for directories, ENODEV for pipes, sockets and devices.
  [[nodiscard]] int number() const noexcept { return number_; }
  /// The same in words: "it is a named pipe, not a regular file".
  [[nodiscard]] std::string problem() const;

 private:
  bool accept(unsigned mode) noexcept;

  int descriptor_ = -1;
  int number_ = 0;
  const char* kind_ = nullptr;  ///< what it is instead
  std::uint64_t size_bytes_ = 0;
};

}  // namespace afterbay
