// SPDX-License-Identifier: Apache-2.0
// ArtifactFile: one of the files of an artifact that is a directory. Their list, its checksum and
// the comparison with what a directory contains are defined here, for publication and journal.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace afterbay {

struct ArtifactFile {
  std::string name;  ///< relative to the directory, components separated by '/'
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> checksum{};  ///< CRC-64/XZ of its bytes
};

std::uint64_t bytes_of(std::span<const ArtifactFile> files) noexcept;

/// The checksum of a directory: CRC-64/XZ of its list, in which each file is its name, a zero byte,
/// its size in decimal digits, a zero byte, its checksum in 16 hexadecimal digits and a newline.
/// The files must be in the order of their names, compared byte by byte. Nothing if a file has no
/// checksum.
std::optional<std::uint64_t> checksum_of(std::span<const ArtifactFile> files);

struct DirectoryContents {
  struct Found {
    std::string name;  ///< as in ArtifactFile
    std::uint64_t bytes = 0;
    bool regular = true;  ///< false for links, pipes and devices
  };
  // Both in the order of their names, so that a directory precedes what it contains.
  std::vector<Found> files;
  std::vector<std::string> directories;
};

/// Everything below a directory; links are not followed. Fails with the system's error. What
/// disappears meanwhile may be missing in the result.
Result<DirectoryContents> contents_of(const std::string& directory);

/// Reads a file that has the right size; returns what is wrong with it, or an empty text.
using ReadFile = std::function<std::string(const ArtifactFile&)>;

/// What differs from the list, per file and by name: "file 'a' is missing". Empty if nothing does.
/// `expected` must be in the order of names.
std::vector<std::string> differences(std::span<const ArtifactFile> expected, const DirectoryContents& found,
                                     const ReadFile& read = {});

}  // namespace afterbay
