// SPDX-License-Identifier: Apache-2.0
// RegularFile: opens a path for reading that others may have created or replaced.
#pragma once

#include <cstdint>
#include <string>

namespace afterbay {

/// A regular file that is open for reading. Other kinds are not opened: a named pipe would wait for
/// its other side, and opening a device can have side effects. Waits only for the file system.
class RegularFile {
 public:
  enum class Links : bool {
    followed,
    refused  ///< in the last component: ELOOP
  };

  explicit RegularFile(const std::string& path, Links links = Links::followed);
  RegularFile(RegularFile&& other) noexcept;
  RegularFile& operator=(RegularFile&&) = delete;
  ~RegularFile();

  [[nodiscard]] bool open() const noexcept { return descriptor_ >= 0; }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// The descriptor; the caller closes it.
  [[nodiscard]] int release() noexcept;
  /// The file's status when it was opened.
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }

  /// Why it is not open: an errno; EISDIR for directories, ENODEV for pipes, sockets and devices.
  [[nodiscard]] int number() const noexcept { return number_; }
  /// The same in words: "it is a named pipe, not a regular file".
  [[nodiscard]] std::string problem() const;

 private:
  bool accept(unsigned mode) noexcept;

  int descriptor_ = -1;
  int number_ = 0;
  const char* kind_ = nullptr;  ///< the actual kind, if it is not a regular file
  std::uint64_t size_bytes_ = 0;
};

/// Whether an open file is a regular one.
[[nodiscard]] bool is_regular_file(int descriptor) noexcept;

}  // namespace afterbay
