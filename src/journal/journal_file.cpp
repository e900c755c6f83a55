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
#include "base/owner_file.hpp"
#include "journal/line.hpp"
#include "journal/sequence.hpp"

namespace afterbay::journal {
namespace {

constexpr std::string_view name_start = "server-";
constexpr std::string_view name_end = ".jsonl";
constexpr int most_turns = 1000;                     ///< concurrent sessions in one directory
constexpr std::int64_t looked_at_bytes = 256 << 10;  ///< from the end, when searching for the last
                                                     ///< line
constexpr std::int64_t usual_tail_bytes = 4 << 10;   ///< usually enough

Error journal_error(int number, const char* doing, const std::string& path) {
  return make_error(number == ENOSPC || number == EDQUOT ? ErrorCode::no_space : ErrorCode::io,
                    "cannot {} the journal {}: {}", doing, path, std::strerror(number))
      .with_native(number)
      .in_file(path);
}

/// The state at the end of a journal file.
struct End {
  bool known = false;                     ///< the file has a line of a run
  bool torn = false;                      ///< the last line has no newline
  std::optional<std::string> unfinished;  ///< the last run, if it has no end
  std::uint64_t sequence = 0;             ///< sequence number of the last line
};

/// The last `length` bytes of the file, or errno.
tl::expected<std::string, int> tail_of(int descriptor, std::int64_t size, std::int64_t length) {
  const std::int64_t begin = std::max<std::int64_t>(0, size - length);
  std::string text(static_cast<std::size_t>(size - begin), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t got =
        ::pread(descriptor, text.data() + done, text.size() - done, begin + static_cast<std::int64_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return tl::unexpected(errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  text.resize(done);
  return text;
}

/// The last line of a run in the text, if there is one; later lines update `end`.
bool find_last_line(std::string text, End& end) {
  while (!text.empty()) {
    const std::size_t newline = text.size() > 1 ? text.rfind('\n', text.size() - 2) : std::string::npos;
    const std::size_t first = newline == std::string::npos ? 0 : newline + 1;
    if (const auto line = parse_line(std::string_view(text).substr(first))) {
      end.sequence = std::max(end.sequence, line->sequence);
      if (!is_of_command(*line)) {
        if (!std::holds_alternative<RunEnded>(line->event)) end.unfinished = line->run;
        end.known = true;
        return true;
      }
    }
    text.resize(first);
  }
  return false;
}

tl::expected<End, int> end_of(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return tl::unexpected(errno);
  End end;
  for (std::int64_t length = usual_tail_bytes;; length *= 8) {
    auto text = tail_of(descriptor, status.st_size, length);
    if (!text) return tl::unexpected(text.error());
    end.torn = !text->empty() && text->back() != '\n';
    if (find_last_line(*std::move(text), end)) return end;
    if (length >= std::min<std::int64_t>(looked_at_bytes, status.st_size)) return end;
  }
}

bool exists(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

int open_to_read(const std::string& path) {
  return ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

std::vector<std::string> journal_paths(const std::string& directory) {
  std::vector<std::string> paths;
  std::error_code wrong;
  for (std::filesystem::directory_iterator at(directory, wrong), end; !wrong && at != end;
       at.increment(wrong))
    if (is_journal_name(at->path().filename().string())) paths.push_back(at->path().string());
  return paths;
}

/// Waits for signs of life of all owners that matter to the server, at the same time; OwnerFile
/// remembers the results. These are owners of files that it may use itself and, for server 0, of
/// files whose last run has not ended.
void meet_owners(const std::string& directory, std::int64_t server, const std::string& run,
                 const OwnerPatience& patience) {
  std::vector<std::string> names;
  for (const std::string& path : journal_paths(directory)) {
    if (!exists(owner_path(path))) continue;
    bool matters =
        std::filesystem::path(path).filename().string().starts_with(fmt::format("{}{}.", name_start, server));
    if (const int descriptor = server == 0 && !matters ? open_to_read(path) : -1; descriptor >= 0) {
      const auto end = end_of(descriptor);
      matters = end && end->unfinished && *end->unfinished != run;
      ::close(descriptor);
    }
    if (matters) names.push_back(owner_path(path));
  }
  if (!names.empty()) static_cast<void>(OwnerFile::are_owned(names, patience));
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

std::string owner_path(const std::string& path) { return path + ".owner"; }

bool is_unfinished(int descriptor) {
  const auto end = end_of(descriptor);
  return !end || !end->known || end->unfinished || end->torn;
}

Result<std::unique_ptr<JournalFile>> JournalFile::open(const std::string& directory, std::int64_t server,
                                                       const std::string& run,
                                                       const OwnerPatience& patience) {
  if (const int number = make_directories(directory))
    return fail(journal_error(number, "make the directory of", directory));
  // Another process may have created it, and not have synchronized it yet.
  const auto whole = std::filesystem::absolute(directory + "/").lexically_normal().parent_path();
  if (const int number = sync_directory(whole.parent_path().string()); number != 0 && number != EACCES)
    return fail(journal_error(number, "make durable (fsync) the directory of", directory));
  meet_owners(directory, server, run, patience);
  for (int turn = 0; turn < most_turns; ++turn) {
    const std::string path = (std::filesystem::path(directory) / file_name(server, turn)).string();
    const int descriptor =
        ::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno == ELOOP)
      return fail(
          make_error(ErrorCode::io, "{} is a symbolic link: a journal's files must not be links", path)
              .with_native(ELOOP)
              .in_file(path));
    if (descriptor < 0) return fail(journal_error(errno, "open", path));
    struct stat status {};
    if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
      ::close(descriptor);
      return fail(make_error(ErrorCode::io, "{} is not a regular file: remove it", path).in_file(path));
    }
    const FileLock held = take_file_lock(descriptor);
    std::optional<OwnerFile> owner;
    bool others = held == FileLock::others;
    // Nodes may have mounted it differently: even with a lock, an owner must be respected.
    if (held == FileLock::none || (held == FileLock::ours && exists(owner_path(path)))) {
      auto claimed = OwnerFile::claim(owner_path(path), OwnerFile::no_patience);
      others = !claimed && claimed.error().code == ErrorCode::conflict;
      if (!claimed && !others) {
        ::close(descriptor);
        return fail(std::move(claimed).error());
      }
      if (claimed) owner = *std::move(claimed);
    }
    if (others) {
      ::close(descriptor);
      continue;
    }
    std::unique_ptr<JournalFile> file(new JournalFile(descriptor, path, std::move(owner)));
    AFTERBAY_TRY(file->look_at_end());
    if (server == 0) file->look_at_others(directory, run);
    file->next_sequence();
    if (const int number = sync_directory(directory))
      return fail(journal_error(number, "make durable (fsync) the directory of", path));
    return file;
  }
  return fail(ErrorCode::resources, "{} sessions write journals to {}: give each a directory of its own",
              most_turns, directory);
}

JournalFile::~JournalFile() { ::close(descriptor_); }

Error JournalFile::error(int number, const char* doing) const { return journal_error(number, doing, path_); }

/// Whether the last run has an end, and its last line.
Result<> JournalFile::look_at_end() {
  const auto end = end_of(descriptor_);
  if (!end) return fail(error(end.error(), "read"));
  const MutexLock lock(write_mutex_);
  torn_ = end->torn;
  sequence_ = end->sequence;
  if (end->unfinished) runs_without_end_.push_back(*end->unfinished);
  return {};
}

/// Files of other sessions, and of servers that this run may not have: an owner without a lock on
/// them is dead.
void JournalFile::look_at_others(const std::string& directory, const std::string& run) {
  for (const std::string& path : journal_paths(directory)) {
    if (path == path_) continue;
    const int descriptor = open_to_read(path);
    if (descriptor < 0) continue;
    // First the lock: a run that ends meanwhile has written its end before it releases the lock.
    const std::string owner = owner_path(path);
    const bool owned = exists(owner);
    const bool held =
        file_lock_is_held(descriptor) || (owned && OwnerFile::is_owned(owner, OwnerFile::no_patience));
    if (const auto end = end_of(descriptor); end) {
      sequence_ = std::max(sequence_.load(), end->sequence);
      if (!held && end->unfinished && *end->unfinished != run) runs_without_end_.push_back(*end->unfinished);
    }
    ::close(descriptor);
    // The file of a killed server is claimed for a moment, which removes it; a server that needs it
    // at that moment uses another number.
    if (owned && !held) static_cast<void>(OwnerFile::claim(owner, OwnerFile::no_patience));
  }
}

std::uint64_t JournalFile::next_sequence() {
  const auto directory = std::filesystem::path(path_).parent_path().string();
  sequence_ = journal::next_sequence(directory, sequence_);
  return sequence_;
}

/// Writes the line and returns its number.
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
  const std::string alone[] = {std::string(line)};
  return append_durably(alone);
}

Result<> JournalFile::append_durably(std::span<const std::string> lines) {
  std::vector<std::uint64_t> numbers;
  for (const std::string& line : lines) {
    AFTERBAY_TRY_ASSIGN(const std::uint64_t number, put(line));
    numbers.push_back(number);
  }
  if (numbers.empty()) return {};
  AFTERBAY_TRY(sync(numbers.back()));
  for (const std::uint64_t number : numbers)
    AFTERBAY_TRY(sync(number));  // a failed sync of another thread may have lost some lines
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) return fail(error(errno, "look at"));
  if (status.st_nlink > 0) return {};
  return fail(make_error(ErrorCode::io, "the journal {} was removed while the run lasted", path_)
                  .with_native(ENOENT)
                  .in_file(path_));
}

Result<> JournalFile::settle() {
  std::uint64_t last = 0;
  {
    const MutexLock lock(write_mutex_);
    last = written_;
  }
  return sync(last);
}

Result<> JournalFile::sync(std::uint64_t number) {
  const MutexLock turn(sync_mutex_);
  for (const Lost& lost : lost_)
    if (lost.first <= number && number <= lost.last) return fail(error(lost.number, "make durable (fsync)"));
  if (synced_ >= number) return {};
  std::uint64_t all = 0;
  {
    const MutexLock lock(write_mutex_);
    all = written_;
  }
  if (::fdatasync(descriptor_) == 0) {
    synced_ = all;
    return {};
  }
  // The kernel reports this once, and may consider the pages written.
  const int cause = errno;
  if (!lost_.empty() && lost_.back().last == synced_)
    lost_.back().last = all;
  else
    lost_.push_back({synced_ + 1, all, cause});
  synced_ = all;
  return fail(error(cause, "make durable (fsync)"));
}

}  // namespace afterbay::journal
