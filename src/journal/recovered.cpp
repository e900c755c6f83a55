// SPDX-License-Identifier: Apache-2.0
#include "journal/recovered.hpp"

#include <filesystem>

#include "journal/journal_file.hpp"

namespace afterbay::journal {

std::optional<LeftFile> find_left(const Journal& journal, const std::string& path, const FileIdentity& log) {
  std::error_code gone;
  const std::string whole = std::filesystem::absolute(path, gone).lexically_normal().string();
  std::optional<LeftFile> found;
  SameFile sameness = SameFile::no;
  for (auto run = journal.runs.rbegin(); run != journal.runs.rend(); ++run) {
    for (auto at = run->unpublished.rbegin(); at != run->unpublished.rend(); ++at) {
      const OpenedFile& it = *at;
      // A run that was refused the file gave it up before creating one.
      if (it.file.path != whole || !it.was_made()) continue;
      const SameFile same = compare(it.identity(), log);
      const bool may_be = same != SameFile::no || it.inode == 0 || log.inode == 0;
      if (!may_be || (found && same <= sameness)) continue;
      found = LeftFile{&*run, &it};
      sameness = same;
    }
  }
  return found;
}

Result<> check_writable(const Journal& journal, const LeftFile& left) {
  AFTERBAY_TRY(JournalFile::open(journal.directory, left.file->server));
  return {};
}

namespace {

Result<> note(const Journal& journal, const LeftFile& left, Event event) {
  AFTERBAY_TRY_ASSIGN(const auto file, JournalFile::open(journal.directory, left.file->server));
  return file->append_durably(
      text_of({utc_now(), left.run->id, left.file->server, file->sequence(), std::move(event)}));
}

}  // namespace

Result<> note_ready(const Journal& journal, const LeftFile& left, FileReady ready) {
  ready.file.file = left.file->file;
  return note(journal, left, std::move(ready));
}

Result<> note_recovered(const Journal& journal, const LeftFile& left, FileRecovered recovered) {
  recovered.file.file = left.file->file;
  return note(journal, left, std::move(recovered));
}

}  // namespace afterbay::journal
