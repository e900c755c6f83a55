// SPDX-License-Identifier: Apache-2.0
// Compares a published file or directory with its entry.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/artifact_files.hpp"
#include "base/crc64.hpp"
#include "base/printable.hpp"
#include "base/regular_file.hpp"
#include "journal/judge.hpp"

namespace afterbay::journal {
namespace {

constexpr std::size_t read_bytes = std::size_t{4} << 20;
constexpr std::size_t most_texts = 5;

/// A file that is open for reading.
class Reading {
 public:
  explicit Reading(const std::string& path, RegularFile::Links links = RegularFile::Links::followed)
      : file_(path, links) {}
  [[nodiscard]] bool open() const noexcept { return file_.open(); }
  [[nodiscard]] bool missing() const noexcept {
    return file_.number() == ENOENT || file_.number() == ENOTDIR;
  }
  [[nodiscard]] std::string problem() const { return file_.problem(); }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return file_.size_bytes(); }
  [[nodiscard]] std::optional<std::uint64_t> checksum() const {
    ::posix_fadvise(file_.descriptor(), 0, 0, POSIX_FADV_SEQUENTIAL);
    std::vector<std::byte> buffer(read_bytes);
    std::uint64_t sum = crc64({});
    for (;;) {
      const ssize_t got = ::read(file_.descriptor(), buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return std::nullopt;
      if (got == 0) return sum;
      sum = crc64(std::span(buffer).first(static_cast<std::size_t>(got)), sum);
    }
  }

 private:
  RegularFile file_;
};

CheckedFile found(const PublishedFile& entry, Finding finding, std::string detail = {}) {
  return {entry, finding, std::move(detail)};
}

std::string other_checksum(std::uint64_t checksum, std::uint64_t published) {
  return fmt::format("{}, published with {}", print_checksum(checksum), print_checksum(published));
}

CheckedFile check_single_file(const PublishedFile& entry, bool quick) {
  const Reading file(entry.file.file.path);
  if (!file.open() && file.missing()) return found(entry, Finding::missing);
  if (!file.open()) return found(entry, Finding::unreadable, file.problem());
  const std::uint64_t size = file.size_bytes();
  if (size != entry.file.bytes)
    return found(entry, size < entry.file.bytes ? Finding::shorter : Finding::longer,
                 fmt::format("{} bytes, published with {}", size, entry.file.bytes));
  if (quick || !entry.file.checksum) return found(entry, Finding::right);
  const auto checksum = file.checksum();
  if (!checksum) return found(entry, Finding::unreadable, std::strerror(errno));
  if (*checksum == *entry.file.checksum) return found(entry, Finding::right);
  return found(entry, Finding::changed, other_checksum(*checksum, *entry.file.checksum));
}

/// The checksum of a file in a directory, or why it cannot be read.
tl::expected<std::uint64_t, std::string> read_in(const std::string& directory, const std::string& name) {
  const Reading file(directory + "/" + name, RegularFile::Links::refused);
  if (!file.open()) return tl::unexpected(file.problem());
  const auto checksum = file.checksum();
  if (!checksum) return tl::unexpected(std::string(std::strerror(errno)));
  return *checksum;
}

/// What the list of an entry says that the entry itself denies; empty: nothing.
std::string contradiction_in(const FilePublished& entry) {
  if (entry.files.size() != *entry.file_count || bytes_of(entry.files) != entry.bytes)
    return fmt::format("its list of {} files with {} bytes contradicts its {} files and {} bytes",
                       entry.files.size(), bytes_of(entry.files), *entry.file_count, entry.bytes);
  const auto listed = checksum_of(entry.files);
  if (listed && entry.checksum && *listed != *entry.checksum)
    return fmt::format("its list has {}, and the entry {}", print_checksum(*listed),
                       print_checksum(*entry.checksum));
  return {};
}

CheckedFile check_listed(const PublishedFile& entry, const DirectoryContents& contents, bool quick) {
  const auto read = [&](const ArtifactFile& file) -> std::string {
    if (quick || !file.checksum) return "";
    const auto checksum = read_in(entry.file.file.path, file.name);
    if (!checksum) return "cannot be read: " + checksum.error();
    return *checksum == *file.checksum ? "" : "has " + other_checksum(*checksum, *file.checksum);
  };
  std::vector<std::string> wrong = differences(entry.file.files, contents, read);
  if (wrong.empty()) return found(entry, Finding::right);
  const std::size_t more = wrong.size() - std::min(wrong.size(), most_texts);
  wrong.resize(wrong.size() - more);
  return found(
      entry, Finding::changed,
      fmt::format("{}{}", fmt::join(wrong, "; "), more > 0 ? fmt::format("; and {} more", more) : ""));
}

/// The entry has no list of files, because it would be too long, or one without all checksums:
/// compares what follows from the list.
CheckedFile check_unlisted(const PublishedFile& entry, const DirectoryContents& contents, bool quick) {
  std::vector<ArtifactFile> files;
  for (const DirectoryContents::Found& it : contents.files) files.push_back({it.name, it.bytes});
  if (files.size() != *entry.file.file_count || bytes_of(files) != entry.file.bytes)
    return found(entry, Finding::changed,
                 fmt::format("{} files with {} bytes, published with {} files and {} bytes", files.size(),
                             bytes_of(files), *entry.file.file_count, entry.file.bytes));
  if (quick || !entry.file.checksum) return found(entry, Finding::right);
  for (ArtifactFile& file : files) {
    const auto checksum = read_in(entry.file.file.path, file.name);
    if (!checksum)
      return found(entry, Finding::unreadable,
                   fmt::format("file '{}': {}", printable(file.name), checksum.error()));
    file.checksum = *checksum;
  }
  const std::uint64_t checksum = *checksum_of(files);
  if (checksum == *entry.file.checksum) return found(entry, Finding::right);
  return found(entry, Finding::changed, other_checksum(checksum, *entry.file.checksum));
}

CheckedFile check_directory(PublishedFile entry, bool quick) {
  const auto contents = contents_of(entry.file.file.path);
  if (!contents && contents.error().native == ENOENT) return found(entry, Finding::missing);
  if (!contents) return found(entry, Finding::unreadable, std::strerror(contents.error().native));
  if (entry.file.files.empty()) return check_unlisted(entry, *contents, quick);
  std::ranges::sort(entry.file.files, {}, &ArtifactFile::name);
  if (const std::string wrong = contradiction_in(entry.file); !wrong.empty())
    return found(entry, Finding::unreadable, "the journal's entry is damaged: " + wrong);
  CheckedFile listed = check_listed(entry, *contents, quick);
  const bool sums_are_missing = entry.file.checksum && !checksum_of(entry.file.files);
  return listed.finding == Finding::right && sums_are_missing ? check_unlisted(entry, *contents, quick)
                                                              : listed;
}

}  // namespace

CheckedFile check_file(const PublishedFile& entry, bool quick) {
  return entry.file.file_count ? check_directory(entry, quick) : check_single_file(entry, quick);
}

}  // namespace afterbay::journal
