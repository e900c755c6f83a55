// SPDX-License-Identifier: Apache-2.0
#include "base/artifact_files.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/crc64.hpp"
#include "base/printable.hpp"

namespace afterbay {
namespace {

/// Nothing if the entry has disappeared.
std::optional<DirectoryContents::Found> look_at(const std::filesystem::directory_entry& entry,
                                                std::string name) {
  std::error_code gone;
  DirectoryContents::Found found{std::move(name), 0,
                                 entry.symlink_status(gone).type() == std::filesystem::file_type::regular};
  if (!gone && found.regular) found.bytes = entry.file_size(gone);
  return gone ? std::nullopt : std::optional(std::move(found));
}

}  // namespace

std::uint64_t bytes_of(std::span<const ArtifactFile> files) noexcept {
  std::uint64_t bytes = 0;
  for (const ArtifactFile& file : files) bytes += file.bytes;
  return bytes;
}

std::optional<std::uint64_t> checksum_of(std::span<const ArtifactFile> files) {
  std::uint64_t sum = 0;
  for (const ArtifactFile& file : files) {
    if (!file.checksum) return std::nullopt;
    std::string line = file.name;
    line += '\0';
    line += std::to_string(file.bytes);
    line += '\0';
    line += fmt::format("{:016x}\n", *file.checksum);
    sum = crc64(std::as_bytes(std::span(line)), sum);
  }
  return sum;
}

Result<DirectoryContents> contents_of(const std::string& directory) {
  DirectoryContents contents;
  std::error_code wrong;
  const std::size_t prefix = directory.size() + (directory.ends_with('/') ? 0 : 1);
  std::filesystem::recursive_directory_iterator at(directory, wrong);
  for (const std::filesystem::recursive_directory_iterator end; !wrong && at != end; at.increment(wrong)) {
    std::string name = at->path().string().substr(prefix);
    std::error_code gone;
    if (at->symlink_status(gone).type() == std::filesystem::file_type::directory)
      contents.directories.push_back(std::move(name));
    else if (auto found = look_at(*at, std::move(name)))
      contents.files.push_back(*std::move(found));
  }
  if (wrong)
    return fail(make_error(ErrorCode::io, "cannot read the directory {}: {}", directory, wrong.message())
                    .with_native(wrong.value())
                    .in_file(directory));
  std::ranges::sort(contents.files, {}, &DirectoryContents::Found::name);
  std::ranges::sort(contents.directories);
  return contents;
}

std::vector<std::string> differences(std::span<const ArtifactFile> expected, const DirectoryContents& found,
                                     const ReadFile& read) {
  std::vector<std::string> texts;
  const auto say = [&](const std::string& name, const std::string& what) {
    texts.push_back(fmt::format("file '{}' {}", printable(name), what));
  };
  auto at = found.files.begin();
  const auto report_extra = [&] { say((at++)->name, "does not belong to it"); };
  for (const ArtifactFile& file : expected) {
    while (at != found.files.end() && at->name < file.name) report_extra();
    if (at == found.files.end() || at->name != file.name) {
      say(file.name, "is missing");
      continue;
    }
    const DirectoryContents::Found& it = *at++;
    if (!it.regular)
      say(file.name, "is not a regular file");
    else if (it.bytes != file.bytes)
      say(file.name, fmt::format("has {} bytes instead of {}", it.bytes, file.bytes));
    else if (const std::string wrong = read ? read(file) : std::string(); !wrong.empty())
      say(file.name, wrong);
  }
  while (at != found.files.end()) report_extra();
  return texts;
}

}  // namespace afterbay
