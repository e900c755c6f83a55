// SPDX-License-Identifier: Apache-2.0
#include "journal/journal_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/directories.hpp"
#include "base/file_lock.hpp"
#include "journal/line.hpp"

namespace afterbay::journal {
namespace {

constexpr std::string_view name_start = "server-";
constexpr std::string_view name_end = ".jsonl";
constexpr int most_turns = 1000;                     ///< sessions at a time in one directory
constexpr std::int64_t looked_at_bytes = 256 << 10;  ///< from the end, for the last line

Error journal_error(int number, const char* doing, const std::string& path) {
  return make_error(number == ENOSPC || number == EDQUOT ? ErrorCode::no_space : ErrorCode::io,
                    "cannot {} the journal {}: {}", doing, path, std::strerror(number))
      .with_native(number)
      .in_file(path);
}

}  // namespace

std::string file_name(std::int64_t server, int turn) {
  return turn == 0 ? fmt::format("{}{}{}", name_start, server, name_end)
                   : fmt::format("{}{}.{}{}", name_start, server, turn + 1, name_end);
}

bool is_journal_name(std::string_view name) {
  if (name.size() <= name_start.size() + name_end.size()) return false;
  if (!name.starts_with(name_start) || !name.ends_with(name_end)) return false;
  name.remove_prefix(name_start.size());
  name.remove_suffix(name_end.size());
  return std::ranges::all_of(name, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
}

Result<std::unique_ptr<JournalFile>> JournalFile::open(const std::string& directory, std::int64_t server) {
  if (const int number = make_directories(directory))
    return fail(journal_error(number, "make the directory of", directory));
  // Another process may have made it, and not have come to this yet.
  const auto whole = std::filesystem::absolute(directory + "/").lexically_normal().parent_path();
  if (const int number = sync_directory(whole.parent_path().string()); number != 0 && number != EACCES)
    return fail(journal_error(number, "make durable (fsync) the directory of", directory));
  for (int turn = 0; turn < most_turns; ++turn) {
    const std::string path = (std::filesystem::path(directory) / file_name(server, turn)).string();
    const int descriptor = ::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) return fail(journal_error(errno, "open", path));
    const FileLock held = take_file_lock(descriptor);
    if (held == FileLock::others) {
      ::close(descriptor);
      continue;
    }
    std::unique_ptr<JournalFile> file(new JournalFile(descriptor, path, held == FileLock::ours));
    AFTERBAY_TRY(file->look_at_end());
    if (const int number = sync_directory(directory))
      return fail(journal_error(number, "make durable (fsync) the directory of", path));
    return file;
  }
  return fail(ErrorCode::resources, "{} sessions write journals to {}: give each a directory of its own",
              most_turns, directory);
}

JournalFile::~JournalFile() { ::close(descriptor_); }

Error JournalFile::error(int number, const char* doing) const { return journal_error(number, doing, path_); }

/// Did the last run end, and its last line?
Result<> JournalFile::look_at_end() {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) return fail(error(errno, "look at"));
  const std::int64_t begin = std::max<std::int64_t>(0, status.st_size - looked_at_bytes);
  std::string end(static_cast<std::size_t>(status.st_size - begin), '\0');
  std::size_t done = 0;
  while (done < end.size()) {
    const ssize_t got =
        ::pread(descriptor_, end.data() + done, end.size() - done, begin + static_cast<std::int64_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(error(errno, "read"));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  end.resize(done);
  const MutexLock lock(write_mutex_);
  torn_ = !end.empty() && end.back() != '\n';
  while (!end.empty()) {
    const std::size_t newline = end.size() > 1 ? end.rfind('\n', end.size() - 2) : std::string::npos;
    const std::size_t first = newline == std::string::npos ? 0 : newline + 1;
    if (const auto line = parse_line(std::string_view(end).substr(first))) {
      if (!std::holds_alternative<RunEnded>(line->event)) run_without_end_ = line->run;
      break;
    }
    end.resize(first);
  }
  return {};
}

/// Writes the line and gives its number.
Result<std::uint64_t> JournalFile::put(std::string_view line) {
  const MutexLock lock(write_mutex_);
  const std::string text = fmt::format("{}{}\n", torn_ ? "\n" : "", line);
  ssize_t written = 0;
  do written = ::write(descriptor_, text.data(), text.size());
  while (written < 0 && errno == EINTR);
  if (written < 0) return fail(error(errno, "write to"));
  torn_ = static_cast<std::size_t>(written) != text.size();
  if (torn_) return fail(error(ENOSPC, "write to"));
  return ++written_;
}

Result<> JournalFile::append(std::string_view line) {
  AFTERBAY_TRY(put(line));
  return {};
}

Result<> JournalFile::append_durably(std::string_view line) {
  AFTERBAY_TRY_ASSIGN(const std::uint64_t number, put(line));
  const MutexLock turn(sync_mutex_);
  if (synced_ >= number) return {};
  std::uint64_t all = 0;
  {
    const MutexLock lock(write_mutex_);
    all = written_;
  }
  if (::fdatasync(descriptor_) != 0) return fail(error(errno, "make durable (fsync)"));
  synced_ = all;
  return {};
}

}  // namespace afterbay::journal
