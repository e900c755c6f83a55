// SPDX-License-Identifier: Apache-2.0
// Finds the journal entry of the file that currently has a name.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "journal/read.hpp"

namespace afterbay::journal {
namespace {

/// The file or directory that has the name now.
struct FoundFile {
  FileIdentity identity;
  std::uint64_t bytes = 0;
  bool directory = false;
};

/// Nothing: no file or directory of that name is visible.
std::optional<FoundFile> find_file(const std::string& path) {
  struct statx found {};
  if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME, &found) != 0 ||
      !(S_ISREG(found.stx_mode) || S_ISDIR(found.stx_mode)))
    return std::nullopt;
  const std::uint64_t born_ns =
      (found.stx_mask & STATX_BTIME) == 0
          ? 0
          : static_cast<std::uint64_t>(found.stx_btime.tv_sec) * 1'000'000'000 + found.stx_btime.tv_nsec;
  return FoundFile{{found.stx_ino, born_ns}, found.stx_size, S_ISDIR(found.stx_mode)};
}

/// Whether it has the size of the entry. A directory is searched for its files.
bool has_size_of(const PublishedFile& entry, const FoundFile& found) {
  if (!found.directory) return found.bytes == entry.file.bytes;
  const auto contents = contents_of(entry.file.file.path);
  if (!contents) return false;
  std::uint64_t bytes = 0;
  for (const DirectoryContents::Found& it : contents->files) bytes += it.bytes;
  return bytes == entry.file.bytes;
}

/// The missing entry if the file got its name after its last line.
std::optional<PublishedFile> entry_of_named(const OpenedFile& file, const std::optional<FoundFile>& found) {
  if (!file.ready || !found || found->directory != file.ready->file.file_count.has_value())
    return std::nullopt;
  const FileIdentity identity{file.ready->inode, file.ready->born_ns};
  if (compare(identity, found->identity) == SameFile::no) return std::nullopt;
  return PublishedFile{file.ready->file, file.ready_at,       file.server,
                       file.ready->name, file.ready_sequence, identity};
}

/// An entry and its position in the order of runs.
struct Entry {
  PublishedFile file;
  std::uint64_t over = 0;  ///< position of the end of its run
};

std::uint64_t end_of(const Run& run) {
  std::uint64_t over = 0;
  for (const auto& [number, server] : run.servers) {
    if (!server.ended && !server.abandoned) return std::numeric_limits<std::uint64_t>::max();
    over = std::max(over, server.over);
  }
  return over;
}

bool is_as_new_as(const PublishedFile& a, const PublishedFile& b) {
  return std::tie(a.sequence, a.file.file.number) >= std::tie(b.sequence, b.file.file.number);
}

/// All entries of one path, in the order in which they are added.
class EntriesOfPath {
 public:
  explicit EntriesOfPath(const std::string& path) : now_(find_file(path)) {}

  [[nodiscard]] const std::optional<FoundFile>& now() const noexcept { return now_; }

  void add(const PublishedFile& file, const Run& run) {
    ++count_;
    const Entry entry{file, file.sequence == run.sequence ? end_of(run) : file.sequence};
    if (!last_ || is_as_new_as(file, last_->file)) last_ = entry;
    const SameFile same = now_ ? compare(file.identity, now_->identity) : SameFile::no;
    if (same == SameFile::no || (present_ && same < sameness_)) return;
    if (!present_ || same > sameness_ || is_as_new_as(file, present_->file)) present_ = entry;
    sameness_ = same;
  }

  /// Nothing: no entry was added.
  [[nodiscard]] std::optional<NewestFile> newest() const {
    if (!last_) return std::nullopt;
    // A run that began after the end of the entry's run may have reused the inode.
    const bool is_present = present_ && (sameness_ == SameFile::yes || present_->over > last_->file.sequence);
    return NewestFile{is_present ? present_->file : last_->file, count_ - 1};
  }

 private:
  std::optional<FoundFile> now_;
  std::optional<Entry> last_;     ///< in the order of runs
  std::optional<Entry> present_;  ///< entry of the file that has the name
  SameFile sameness_ = SameFile::no;
  std::uint64_t count_ = 0;
};

}  // namespace

SameFile compare(const FileIdentity& a, const FileIdentity& b) noexcept {
  if (a.inode == 0 || a.inode != b.inode) return SameFile::no;
  if (a.born_ns == 0 || b.born_ns == 0) return SameFile::perhaps;
  return a.born_ns == b.born_ns ? SameFile::yes : SameFile::no;
}

std::optional<PublishedFile> published_after_all(const OpenedFile& file) {
  if (!file.ready) return std::nullopt;
  const auto found = find_file(file.file.path);
  auto entry = entry_of_named(file, found);
  return entry && has_size_of(*entry, *found) ? entry : std::nullopt;
}

std::map<std::string, NewestFile> newest_files(const Journal& journal) {
  std::map<std::string, EntriesOfPath> paths;
  for (const Run& run : journal.runs) {
    for (const PublishedFile& it : run.published)
      paths.try_emplace(it.file.file.path, it.file.file.path).first->second.add(it, run);
    for (const OpenedFile& it : run.unpublished) {
      if (!it.ready) continue;
      EntriesOfPath& entries = paths.try_emplace(it.file.path, it.file.path).first->second;
      auto entry = entry_of_named(it, entries.now());
      // The file may have been modified since; if only its inode matches, it may be another file.
      const bool sure = entry && compare(entry->identity, entries.now()->identity) == SameFile::yes;
      if (!entry || (!sure && !has_size_of(*entry, *entries.now()))) continue;
      if (entry->sequence == 0) entry->sequence = run.sequence;
      entries.add(*entry, run);
    }
  }
  std::map<std::string, NewestFile> newest;
  for (const auto& [path, entries] : paths)
    if (auto it = entries.newest()) newest.emplace(path, *std::move(it));
  return newest;
}

}  // namespace afterbay::journal
