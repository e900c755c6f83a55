// SPDX-License-Identifier: Apache-2.0
// PartFile: an output that appears under its name when it is complete, and not at all otherwise.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/result.hpp"

namespace afterbay::decomp {

/// Until it is published the file has a name of its own beside the final one, PATH.PID.part, which no other
/// file had; where PATH is a symbolic link, beside that to which it leads. Errors name the final path.
class PartFile {
 public:
  /// Makes it, empty.
  static Result<std::unique_ptr<PartFile>> create(const std::string& path);
  /// Removes it, unless it has been published.
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  Result<> write(std::span<const std::byte> contents);
  /// Flushes it to the disk and renames it, over a file that exists.
  Result<> publish();

 private:
  PartFile(std::string path, std::string place, std::string name)
      : path_(std::move(path)), place_(std::move(place)), name_(std::move(name)) {}
  [[nodiscard]] Error error(int number, const char* what) const;

  std::string path_;
  std::string place_;  ///< behind symbolic links
  std::string name_;
  bool published_ = false;
};

/// Refuses a path at which no file can be made because of its directory, and one where something lies that is
/// no file (a device, a pipe). Symbolic links are followed. Makes nothing.
Result<> check_place(const std::string& path);

}  // namespace afterbay::decomp
