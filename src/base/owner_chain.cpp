// SPDX-License-Identifier: Apache-2.0
#include "base/owner_chain.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>
#include <random>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/hard_link.hpp"
#include "base/new_file.hpp"

namespace afterbay {
namespace {

constexpr std::size_t longest_chain = 10'000;
constexpr std::size_t largest_file = 1024;
constexpr std::size_t token_digits = 16;
constexpr int line_count = 7;
constexpr int read_attempts = 5;
constexpr std::string_view first_line = "afterbay owner 1";
/// Text for an owner whose file does not name it yet.
constexpr const char* unknown_token = "0000000000000000";

Error owner_error(int number, const char* doing, const std::string& path) {
  return make_error(ErrorCode::io, "cannot {} {}, which says who writes a file: {}", doing, path,
                    std::strerror(number))
      .with_native(number)
      .in_file(path);
}

bool is_number(const std::string& text, std::uint64_t& number) {
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  return wrong == std::errc() && end == text.data() + text.size();
}

bool is_token(std::string_view text) {
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return text.size() == token_digits && std::ranges::all_of(text, is_hex);
}

std::optional<OwnerLink> parse(const std::string& path, const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line) || line != first_line) return std::nullopt;
  const auto value = [&](std::string_view name) -> std::optional<std::string> {
    if (!std::getline(lines, line) || !line.starts_with(name) || line.size() <= name.size() ||
        line[name.size()] != ' ')
      return std::nullopt;
    return line.substr(name.size() + 1);
  };
  // A host may have no name, and the kernel may not report its boot id.
  const auto host = value("host"), boot = value("boot"), space = value("space"), pid = value("pid"),
             started = value("started"), token = value("token");
  OwnerLink link{path, token.value_or(""), {host.value_or(""), boot.value_or(""), 0, 0, 0}};
  if (!boot || !space || !pid || !started || !is_number(*space, link.owner.pid_space) ||
      !is_number(*pid, link.owner.pid) || !is_number(*started, link.owner.started) || !is_token(link.token))
    return std::nullopt;
  return link;
}

/// Whether the text is the beginning of an owner file.
bool is_being_written(const std::string& text) {
  const std::string start = fmt::format("{}\n", first_line);
  if (text.size() < start.size()) return start.starts_with(text);
  return text.starts_with(start) && std::ranges::count(text, '\n') < line_count;
}

Error foreign(const std::string& path) {
  return make_error(ErrorCode::format,
                    "{} should say who writes a file, but is damaged or somebody else's: remove it, once "
                    "nobody writes that file",
                    path)
      .in_file(path);
}

/// Whether errno means that a file cannot be read now but possibly at the next attempt.
bool may_pass(int number) { return number == EINTR || number == ESTALE || number == EIO || number == EAGAIN; }

/// The contents, or errno; EISDIR: not a regular file.
tl::expected<std::string, int> read_text(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return tl::unexpected(errno);
  struct stat status {};
  std::array<char, largest_file> bytes{};
  ssize_t got = -1;
  int number = 0;
  if (::fstat(file, &status) != 0)
    number = errno;
  else if (!S_ISREG(status.st_mode))
    number = EISDIR;
  else if ((got = ::pread(file, bytes.data(), bytes.size(), 0)) < 0)
    number = errno;
  ::close(file);
  if (number != 0) return tl::unexpected(number);
  return std::string(bytes.data(), static_cast<std::size_t>(got));
}

/// Nothing: the file does not exist. Fails with format if it is not an owner file.
Result<std::optional<OwnerLink>> read_link(const std::string& path) {
  auto text = read_text(path);
  for (int attempt = 1; !text && may_pass(text.error()) && attempt < read_attempts; ++attempt)
    text = read_text(path);
  if (!text && text.error() == ENOENT) return std::nullopt;
  if (!text && (text.error() == ELOOP || text.error() == EISDIR)) return fail(foreign(path));
  if (!text) return fail(owner_error(text.error(), "read", path));
  if (auto link = parse(path, *text)) return link;
  if (!is_being_written(*text)) return fail(foreign(path));
  return OwnerLink{path, unknown_token, {}, 0, false};
}

int make_durable(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return errno;
  const int number = ::fsync(file) == 0 || errno == EINVAL ? 0 : errno;
  ::close(file);
  return number;
}

/// Others may see the file before it is complete: they wait for the rest (OwnerLink::complete).
int write_in_place(const std::string& path, std::string_view text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0) return errno;
  int number = 0;
  while (number == 0 && !text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written > 0)
      text.remove_prefix(static_cast<std::size_t>(written));
    else if (written == 0 || errno != EINTR)
      number = written == 0 ? EIO : errno;
  }
  if (number == 0 && ::fsync(file) != 0 && errno != EINVAL) number = errno;
  if (::close(file) != 0 && number == 0) number = errno;
  if (number != 0) ::unlink(path.c_str());
  return number;
}

/// The parts of the name of an owner file that is not the first of its chain.
std::optional<std::string> chain_of_file(std::string name) {
  constexpr std::string_view temporary = ".new";
  if (name.ends_with(temporary)) name.resize(name.size() - temporary.size());
  std::size_t dot = name.rfind('.');
  std::uint64_t number = 0;
  if (dot != std::string::npos && name.size() - dot - 1 < token_digits &&
      is_number(name.substr(dot + 1), number)) {
    name.resize(dot);
    dot = name.rfind('.');
  }
  if (dot == std::string::npos || !is_token(std::string_view(name).substr(dot + 1))) return std::nullopt;
  name.resize(dot);
  if (!name.ends_with(".owner")) return std::nullopt;
  return name;
}

}  // namespace

std::string new_owner_token() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device() & 0xffffffffU, device() & 0xffffffffU);
}

std::string owner_text(const OwnerIdentity& owner, const std::string& token) {
  return fmt::format("{}\nhost {}\nboot {}\nspace {}\npid {}\nstarted {}\ntoken {}\n", first_line, owner.host,
                     owner.boot, owner.pid_space, owner.pid, owner.started, token);
}

std::string owner_successor(const std::string& name, const OwnerLink& link) {
  return link.number == 0 ? fmt::format("{}.{}", name, link.token)
                          : fmt::format("{}.{}.{}", name, link.token, link.number);
}

Result<std::vector<OwnerLink>> owner_chain(const std::string& name) {
  std::vector<OwnerLink> chain;
  std::string path = name;
  while (chain.size() < longest_chain) {
    AFTERBAY_TRY_ASSIGN(auto link, read_link(path));
    if (!link) return chain;
    if (!chain.empty() && chain.back().token == link->token) link->number = chain.back().number + 1;
    path = owner_successor(name, *link);
    chain.push_back(*std::move(link));
  }
  return fail(
      make_error(ErrorCode::format, "{} has more than {} successors: remove these files", name, longest_chain)
          .in_file(name));
}

int make_owner_link(const std::string& path, const std::string& text, const std::string& temporary) {
  int number = write_new_file(temporary, text);
  if (number == 0) number = make_durable(temporary);
  if (number == 0) number = link_file(temporary, path);
  if (has_no_links(number)) {
    if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0) return 0;
    number = errno == EEXIST ? EEXIST : write_in_place(path, text);
  }
  ::unlink(temporary.c_str());
  return number;
}

int repeat_owner_link(const std::string& path, const std::string& of, const std::string& text,
                      const std::string& temporary) {
  const int number = link_file(of, path);
  return has_no_links(number) ? make_owner_link(path, text, temporary) : number;
}

void remove_lost_owner_links(const std::string& directory) {
  std::error_code wrong;
  std::vector<std::pair<std::string, std::string>> found;  // path, name of the chain
  for (std::filesystem::directory_iterator at(directory, wrong), end; !wrong && at != end;
       at.increment(wrong))
    if (auto chain = chain_of_file(at->path().filename().string()))
      found.emplace_back(at->path().string(), (at->path().parent_path() / *chain).string());
  for (const auto& [path, name] : found) {
    const auto link = read_link(path);
    if (!link || !*link || life_of((*link)->owner) != Life::dead) continue;
    // Dead owners create no more of them: files that no chain leads to now are never needed again.
    const auto chain = owner_chain(name);
    if (chain && std::ranges::find(*chain, path, &OwnerLink::path) == chain->end()) ::unlink(path.c_str());
  }
}

}  // namespace afterbay
