// SPDX-License-Identifier: Apache-2.0
// PartFile: an output file that gets its name when it is complete, and does not exist otherwise.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/result.hpp"

namespace afterbay::decomp {

/// Until it is published the file has a unique name next to the final one, PATH.PID.part; if PATH
/// is a symbolic link, next to its target. Errors name the final path.
class PartFile {
 public:
  /// Creates the empty file.
  static Result<std::unique_ptr<PartFile>> create(const std::string& path);
  /// Removes the file unless it has been published.
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  Result<> write(std::span<const std::byte> contents);
  /// Flushes it to the disk and renames it, replacing an existing file.
  Result<> publish();

 private:
  PartFile(std::string path, std::string place, std::string name)
      : path_(std::move(path)), place_(std::move(place)), name_(std::move(name)) {}
  [[nodiscard]] Error error(int number, const char* what) const;

  std::string path_;
  std::string place_;  ///< after following symbolic links
  std::string name_;
  bool published_ = false;
};

/// Fails if no file can be created at the path because of its directory, or if the path is not a
/// regular file (a device, a pipe). Follows symbolic links. Creates nothing.
Result<> check_place(const std::string& path);

}  // namespace afterbay::decomp
