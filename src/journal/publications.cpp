// SPDX-License-Identifier: Apache-2.0
#include "journal/publications.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <variant>

#include "base/regular_file.hpp"
#include "journal/journal_file.hpp"
#include "journal/read.hpp"

namespace afterbay::journal {
namespace {

constexpr std::size_t block_bytes = std::size_t{64} << 10;
/// Longer lines are unreadable, as for read_journal.
constexpr std::size_t longest_line_bytes = std::size_t{16} << 20;

std::string name_and_inode(const std::string& path, std::uint64_t inode) {
  return fmt::format("{} {}", inode, path);
}

}  // namespace

void Publications::look() {
  const auto found = find_journal(directory_);
  if (!found) return;
  std::error_code wrong;
  for (const auto& entry : std::filesystem::directory_iterator(*found, wrong))
    if (is_journal_name(entry.path().filename().string()))
      follow(entry.path().string(), sources_[entry.path().string()]);
}

std::optional<std::string> Publications::session_of(const std::string& path, std::uint64_t inode) const {
  const auto at = published_.find(name_and_inode(path, inode));
  if (at == published_.end()) return std::nullopt;
  const auto session = sessions_.find(at->second.run);
  return session == sessions_.end() ? std::nullopt : std::optional(session->second);
}

/// A line that has no end yet is read again.
void Publications::follow(const std::string& path, Source& source) {
  const RegularFile file(path);
  struct ::stat status {};
  if (!file.open() || ::fstat(file.descriptor(), &status) != 0) return;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (status.st_ino != source.inode || size < source.end) source = {status.st_ino, 0};
  if (size == source.end) return;
  std::string text;
  bool is_too_long = false;
  std::string block(block_bytes, '\0');
  for (std::uint64_t at = source.end;;) {
    const ssize_t got = ::pread(file.descriptor(), block.data(), block.size(), static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    bytes_read_ += static_cast<std::uint64_t>(got);
    std::string_view rest(block.data(), static_cast<std::size_t>(got));
    for (auto end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
      text += rest.substr(0, end);
      if (!is_too_long) take(text);
      text.clear();
      is_too_long = false;
      rest.remove_prefix(end + 1);
      source.end = at + static_cast<std::uint64_t>(got) - rest.size();
    }
    text += rest;
    if (text.size() > longest_line_bytes) {
      is_too_long = true;
      text.clear();
    }
    at += static_cast<std::uint64_t>(got);
  }
}

void Publications::take(std::string_view text) {
  const auto line = parse_line(text);
  if (!line) return;
  if (const auto* started = std::get_if<RunStarted>(&line->event))
    sessions_[line->run] = started->session;
  else if (const auto* opened = std::get_if<FileOpened>(&line->event))
    inodes_[{line->run, opened->file.number}] = opened->inode;
  else if (const auto* ready = std::get_if<FileReady>(&line->event); ready != nullptr && ready->inode != 0)
    make_ready(*line, *ready);
  else if (const auto* published = std::get_if<FilePublished>(&line->event))
    publish(*line, *published);
  else if (const auto* recovered = std::get_if<FileRecovered>(&line->event))
    publish(*line, recovered->file);
  else if (const auto* given_up = std::get_if<FileGivenUp>(&line->event))
    inodes_.erase({line->run, given_up->file.number});
}

/// The file may have its name already: a server notes that it has it only afterwards.
void Publications::make_ready(const Line& line, const FileReady& ready) {
  inodes_[{line.run, ready.file.file.number}] = ready.inode;
  credit(line, ready.file.file.path, ready.inode);
}

void Publications::publish(const Line& line, const FilePublished& published) {
  const auto inode = inodes_.find({line.run, published.file.number});
  if (inode == inodes_.end()) return;
  credit(line, published.file.path, inode->second);
  inodes_.erase(inode);
}

/// A later run may have used the inode again, for a file of that name.
void Publications::credit(const Line& line, const std::string& path, std::uint64_t inode) {
  Publication& it = published_[name_and_inode(path, inode)];
  if (line.sequence >= it.sequence) it = {line.run, line.sequence};
}

}  // namespace afterbay::journal
