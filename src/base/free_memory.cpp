// SPDX-License-Identifier: Apache-2.0
#include "base/free_memory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string_view>

namespace afterbay {
namespace {

using Buffer = std::array<char, 8192>;

/// The beginning of a file, in `buffer`; empty if it cannot be read. Allocates nothing, because it
/// is called in the middle of model steps.
std::string_view contents(const char* path, Buffer& buffer) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::size_t bytes = 0;
  for (ssize_t got = 0; bytes < buffer.size(); bytes += static_cast<std::size_t>(got)) {
    got = ::read(file, buffer.data() + bytes, buffer.size() - bytes);
    if (got <= 0) break;
  }
  ::close(file);
  return {buffer.data(), bytes};
}

std::optional<std::uint64_t> number_at(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  return parsed.ec == std::errc() ? std::optional(number) : std::nullopt;
}

/// The text that follows `name` at the beginning of a line.
std::optional<std::uint64_t> number_of(std::string_view name, std::string_view text) {
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at), at += at < text.size() ? 1 : 0)
    if (text.substr(at).starts_with(name)) return number_at(text.substr(at + name.size()));
  return std::nullopt;
}

/// A path that grows and shrinks in place.
class Path {
 public:
  explicit Path(std::string_view root, std::string_view below) {
    append(root);
    append(below);
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] const char* with(std::string_view name) {
    const std::size_t before = size_;
    append(name);
    bytes_[size_] = '\0';
    size_ = before;
    return bytes_.data();
  }
  void to_parent() {
    while (size_ > 0 && bytes_[--size_] != '/') {
    }
  }

 private:
  void append(std::string_view text) {
    const std::size_t bytes = std::min(text.size(), bytes_.size() - 1 - size_);
    std::memcpy(bytes_.data() + size_, text.data(), bytes);
    size_ += bytes;
  }
  std::array<char, 4096> bytes_{};
  std::size_t size_ = 0;
};

/// The file names of one version of control groups.
struct GroupFiles {
  std::string_view root, line, most, used, inactive, active;
};
constexpr GroupFiles version_2{"/sys/fs/cgroup", "0::",         "/memory.max", "/memory.current",
                               "inactive_file ", "active_file "};
constexpr GroupFiles version_1{
    "/sys/fs/cgroup/memory", ":memory:",          "/memory.limit_in_bytes", "/memory.usage_in_bytes",
    "total_inactive_file ",  "total_active_file "};

/// The bytes that a control group still allows; nothing if it has no limit.
std::optional<std::uint64_t> free_in(Path& group, const GroupFiles& files, Buffer& buffer) {
  const auto most = number_at(contents(group.with(files.most), buffer));
  if (!most) return std::nullopt;
  const auto used = number_at(contents(group.with(files.used), buffer));
  if (!used) return std::nullopt;
  // Cached files count as used memory, but shared memory is not included in these two.
  const std::string_view stat = contents(group.with("/memory.stat"), buffer);
  const std::uint64_t cache =
      number_of(files.inactive, stat).value_or(0) + number_of(files.active, stat).value_or(0);
  const std::uint64_t held = *used - std::min(*used, cache);
  return *most - std::min(*most, held);
}

std::optional<std::uint64_t> lower(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b) {
  return a && b ? std::min(*a, *b) : a ? a : b;
}

/// The bytes that the control groups of this process allow: its own and their parents, as far as
/// they are visible.
std::optional<std::uint64_t> free_in_control_groups(const GroupFiles& files) {
  Buffer groups;
  Buffer buffer;
  std::optional<std::uint64_t> least;
  std::string_view text = contents("/proc/self/cgroup", groups);
  const std::size_t line = text.find(files.line);
  text = line == std::string_view::npos ? "" : text.substr(line + files.line.size());
  for (Path at(files.root, text.substr(0, text.find('\n'))); at.size() >= files.root.size(); at.to_parent()) {
    const auto free = free_in(at, files, buffer);
    least = lower(least, free);
  }
  return least;
}

}  // namespace

std::optional<std::uint64_t> free_memory() {
  const auto in_groups = lower(free_in_control_groups(version_2), free_in_control_groups(version_1));
  Buffer buffer;
  const auto kib = number_of("MemAvailable:", contents("/proc/meminfo", buffer));
  return lower(in_groups, kib ? std::optional(*kib * 1024) : std::nullopt);
}

}  // namespace afterbay
