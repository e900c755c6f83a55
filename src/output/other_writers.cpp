// SPDX-License-Identifier: Apache-2.0
#include "output/other_writers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "journal/judge.hpp"
#include "journal/read.hpp"

namespace afterbay::output {

namespace {

using NumberedFile = struct ::stat;

std::int64_t in_ns(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// When it was written and got its name. A new mode, link or extended attribute of an older file
/// does not count.
std::int64_t written_ns(const NumberedFile& file) {
  return std::min(in_ns(file.st_ctim), in_ns(file.st_mtim));
}

std::string whole_path(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

/// The nearest directory above the path that exists.
std::filesystem::path directory_above(const std::string& path) {
  std::filesystem::path directory = std::filesystem::path(whole_path(path)).parent_path();
  std::error_code error;
  while (!std::filesystem::is_directory(directory, error) && directory != directory.parent_path())
    directory = directory.parent_path();
  return directory;
}

/// A new file without a name. Some file systems can only make one with a name, which is removed.
int open_nameless(const std::filesystem::path& directory) {
  const int descriptor = ::open(directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (descriptor >= 0) return descriptor;
  std::string name = (directory / ".afterbay-time-XXXXXX").string();
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

/// The session that published the file which has the name now, if it still runs. The journal says
/// that a file is ready before it gets its name, and that it was published afterwards.
std::optional<std::string> living_session_of(const journal::Journal& journal, const std::string& path,
                                             const NumberedFile& file) {
  const std::string whole = whole_path(path);
  const journal::Run* writer = nullptr;
  for (const journal::Run& run : journal.runs) {
    for (const journal::PublishedFile& it : run.published)
      if (it.file.file.path == whole && it.identity.inode == file.st_ino) writer = &run;
    for (const journal::OpenedFile& it : run.unpublished)
      if (it.ready && it.file.path == whole && it.ready->inode == file.st_ino) writer = &run;
  }
  if (writer == nullptr || journal::state_of(*writer, journal::this_host()) != journal::RunState::running)
    return std::nullopt;
  return writer->session();
}

}  // namespace

void OtherWriters::watch(const std::string& path) {
  const std::filesystem::path directory = directory_above(path);
  NumberedFile of_directory{};
  if (::stat(directory.c_str(), &of_directory) != 0 || since_.contains(of_directory.st_dev)) return;
  const int descriptor = open_nameless(directory);
  if (descriptor < 0) return;  // writing the first file says what is wrong
  NumberedFile made{};
  if (::fstat(descriptor, &made) == 0) {
    since_.emplace(of_directory.st_dev, written_ns(made));
    since_.emplace(made.st_dev, written_ns(made));  // which stacked file systems may number differently
  }
  ::close(descriptor);
}

std::optional<Error> OtherWriters::living_writer(const std::vector<Wanted>& files) const {
  if (journal_.empty()) return std::nullopt;
  std::vector<std::pair<const Wanted*, NumberedFile>> existing;
  for (const Wanted& it : files) {
    NumberedFile file{};
    if (::lstat(it.path.c_str(), &file) == 0) existing.emplace_back(&it, file);
  }
  const auto living = [&](std::chrono::milliseconds patience) -> std::optional<Error> {
    const auto read = journal::read_journal(journal_, patience);
    if (!read) return std::nullopt;
    for (const auto& [it, file] : existing)
      if (const auto session = living_session_of(*read, it->path, file))
        return make_error(
            ErrorCode::conflict,
            "{}: the file '{}' of the session '{}' would have the name \"{}\", which the session "
            "'{}', which still runs, has given to a file of its own: give the files of each "
            "component names or directories of their own, or wait for the end of that session",
            it->file->at.text(), it->file->name, session_, whole_path(it->path), *session);
    return std::nullopt;
  };
  if (existing.empty() || !living(OwnerFile::no_patience)) return std::nullopt;
  return living(OwnerFile::usual_patience);  // only time tells of a killed run elsewhere
}

std::optional<std::string> OtherWriters::later_writer(const std::string& path) const {
  NumberedFile file{};
  if (::lstat(path.c_str(), &file) != 0) return std::nullopt;
  const auto since = since_.find(file.st_dev);
  if (since == since_.end() || written_ns(file) <= since->second) return std::nullopt;
  if (published_ == nullptr) return std::string();
  published_->look();
  return published_->session_of(whole_path(path), file.st_ino).value_or(std::string());
}

void OtherWriters::check(const describe::File& file, const std::string& path) const {
  if (auto refused = refusal(file, path)) refuse(*std::move(refused));
}

std::optional<Error> OtherWriters::refusal(const describe::File& file, const std::string& path) const {
  const auto writer = later_writer(path);
  if (!writer) return std::nullopt;
  const std::string opens =
      fmt::format("{}: the file '{}' of the session '{}'", file.at.text(), file.name, session_);
  if (!writer->empty())
    return make_error(ErrorCode::conflict,
                      "{} would have the name \"{}\", which the session '{}' has given to a file of its "
                      "own while this session runs: give the files of each component names or "
                      "directories of their own",
                      opens, whole_path(path), *writer);
  logger_.warning(
      "{} replaces or continues \"{}\", which another program, or a session with another journal, has "
      "written "
      "while this session runs: if it is another component's, give the files of each names or directories of "
      "their own",
      opens, whole_path(path));
  return std::nullopt;
}

}  // namespace afterbay::output
