// SPDX-License-Identifier: Apache-2.0
#include "base/owner_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <random>
#include <sstream>
#include <thread>
#include <utility>

#include "base/host.hpp"
#include "base/new_file.hpp"
#include "base/process_watch.hpp"

namespace afterbay {
namespace {

constexpr std::chrono::milliseconds beat{1000};
constexpr std::chrono::milliseconds look_again{200};
constexpr int attempts = 64;
constexpr std::size_t longest_chain = 10'000;
constexpr std::size_t largest_file = 1024;
constexpr std::size_t token_digits = 16;

Error owner_error(int number, const char* doing, const std::string& path) {
  return make_error(ErrorCode::io, "cannot {} {}, which says who writes a file: {}", doing, path,
                    std::strerror(number))
      .with_native(number)
      .in_file(path);
}

// --- processes ---------------------------------------------------------------------------------------------

struct ProcessState {
  char letter = '?';
  std::uint64_t started = 0;
};

/// From /proc (proc(5), stat: fields 3 and 22); nothing where there is no such process.
std::optional<ProcessState> process_state(std::uint64_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  ProcessState state;
  fields >> state.letter;
  std::string skipped;
  for (int field = 4; field < 22; ++field) fields >> skipped;
  if (!(fields >> state.started)) return std::nullopt;
  return state;
}

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

OwnerIdentity own_identity() {
  const ProcessId self = own_process();
  const auto state = process_state(self.pid);
  return {host_name(), boot_id(), self.space, self.pid, state ? state->started : 0};
}

enum class Life { alive, dead, elsewhere };

/// By its process number, where this process may know it.
Life life_of(const OwnerIdentity& owner) {
  const OwnerIdentity self = own_identity();
  if (owner.boot.empty() || owner.boot != self.boot || owner.pid_space == 0 ||
      owner.pid_space != self.pid_space || owner.started == 0)
    return Life::elsewhere;
  const auto state = process_state(owner.pid);
  const bool runs = state && state->started == owner.started && state->letter != 'Z' && state->letter != 'X';
  return runs ? Life::alive : Life::dead;
}

std::string random_token() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device() & 0xffffffffU, device() & 0xffffffffU);
}

// --- files -------------------------------------------------------------------------------------------------

struct Link {
  std::string path;
  std::string token;
  OwnerIdentity owner;
};

constexpr std::string_view first_line = "afterbay owner 1";

std::string text_of(const OwnerIdentity& owner, const std::string& token) {
  return fmt::format("{}\nhost {}\nboot {}\nspace {}\npid {}\nstarted {}\ntoken {}\n", first_line, owner.host,
                     owner.boot, owner.pid_space, owner.pid, owner.started, token);
}

bool number_in(const std::string& text, std::uint64_t& number) {
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  return wrong == std::errc() && end == text.data() + text.size();
}

std::optional<Link> parse(const std::string& path, const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line) || line != first_line) return std::nullopt;
  const auto value = [&](std::string_view name) -> std::optional<std::string> {
    if (!std::getline(lines, line) || !line.starts_with(name) || line.size() <= name.size() ||
        line[name.size()] != ' ')
      return std::nullopt;
    return line.substr(name.size() + 1);
  };
  const auto host = value("host"), boot = value("boot"), space = value("space"), pid = value("pid"),
             started = value("started"), token = value("token");
  Link link{path, token.value_or(""), {host.value_or(""), boot.value_or(""), 0, 0, 0}};
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (!boot || !space || !pid || !started || !number_in(*space, link.owner.pid_space) ||
      !number_in(*pid, link.owner.pid) || !number_in(*started, link.owner.started) ||
      link.token.size() != token_digits || !std::ranges::all_of(link.token, is_hex))
    return std::nullopt;
  return link;
}

/// Nothing: there is no such file. With format: it is none of ours.
Result<std::optional<Link>> read_link(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0 && errno == ENOENT) return std::nullopt;
  if (file < 0 && errno != ELOOP) return fail(owner_error(errno, "open", path));
  std::array<char, largest_file> bytes{};
  ssize_t got = -1;
  if (file >= 0) {
    do got = ::pread(file, bytes.data(), bytes.size(), 0);
    while (got < 0 && errno == EINTR);
    ::close(file);
  }
  auto link = got < 0 ? std::nullopt : parse(path, std::string(bytes.data(), static_cast<std::size_t>(got)));
  if (link) return link;
  return fail(
      make_error(ErrorCode::format,
                 "{} should say who writes a file, but is damaged or somebody else's: remove it, once nobody "
                 "writes that file",
                 path)
          .in_file(path));
}

std::string successor(const std::string& name, const std::string& token) { return name + "." + token; }

/// From the first owner to the last; empty: nobody owns it.
Result<std::vector<Link>> chain_of(const std::string& name) {
  std::vector<Link> chain;
  std::string path = name;
  while (chain.size() < longest_chain) {
    AFTERBAY_TRY_ASSIGN(auto link, read_link(path));
    if (!link) return chain;
    path = successor(name, link->token);
    chain.push_back(*std::move(link));
  }
  return fail(
      make_error(ErrorCode::format, "{} has more than {} successors: remove these files", name, longest_chain)
          .in_file(name));
}

bool same_inode(const std::string& a, const std::string& b) {
  struct stat first {};
  struct stat second {};
  return ::lstat(a.c_str(), &first) == 0 && ::lstat(b.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

/// Gives the whole file its name, unless that is taken. 0 or errno; EEXIST: it is.
int give_name(const std::string& made, const std::string& name) {
  if (::link(made.c_str(), name.c_str()) == 0) return 0;
  const int number = errno;
  // A server of NFS may have done it, and its answer been lost.
  if (number == EEXIST) return same_inode(made, name) ? 0 : EEXIST;
  if (number != EPERM && number != EOPNOTSUPP && number != ENOSYS) return number;
  constexpr unsigned no_replace = 1;  // RENAME_NOREPLACE
  return ::syscall(SYS_renameat2, AT_FDCWD, made.c_str(), AT_FDCWD, name.c_str(), no_replace) == 0 ? 0
                                                                                                   : errno;
}

int make_durable(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return errno;
  const int number = ::fsync(file) == 0 || errno == EINVAL ? 0 : errno;
  ::close(file);
  return number;
}

// --- signs of life -----------------------------------------------------------------------------------------

/// Touches the files that this process owns, once a second. Its thread ends with the last of them; it is
/// detached, and its state is never destroyed, so that a process may exit at any time.
class Heart {
 public:
  static Heart& only() {
    static Heart* const heart = new Heart;
    return *heart;
  }

  void add(const std::string& path) {
    const std::lock_guard lock(mutex_);
    paths_.push_back(path);
    if (!beating_) std::thread([this] { run(); }).detach();
    beating_ = true;
  }

  void remove(const std::string& path) noexcept {
    const std::lock_guard lock(mutex_);
    if (const auto at = std::ranges::find(paths_, path); at != paths_.end()) paths_.erase(at);
    changed_.notify_all();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (!paths_.empty()) {
      const std::vector<std::string> paths = paths_;
      lock.unlock();
      for (const std::string& path : paths) ::utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
      lock.lock();
      changed_.wait_for(lock, beat, [this] { return paths_.empty(); });
    }
    beating_ = false;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> paths_;
  bool beating_ = false;
};

/// Processes elsewhere that gave no sign of life: they are waited for once.
class KnownDead {
 public:
  static KnownDead& only() {
    static auto* const known = new KnownDead;
    return *known;
  }
  void add(const OwnerIdentity& owner) {
    const std::lock_guard lock(mutex_);
    if (std::ranges::find(dead_, owner) == dead_.end()) dead_.push_back(owner);
  }
  bool has(const OwnerIdentity& owner) {
    const std::lock_guard lock(mutex_);
    return std::ranges::find(dead_, owner) != dead_.end();
  }

 private:
  std::mutex mutex_;
  std::vector<OwnerIdentity> dead_;
};

/// Opened anew each time: an NFS client then asks the server.
std::optional<timespec> touched_at(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  struct stat status {};
  const bool known = ::fstat(file, &status) == 0;
  ::close(file);
  if (!known) return std::nullopt;
  return status.st_mtim;
}

/// Whether the owner's file changes or goes within `patience`, by this process's own clock.
bool gives_sign_of_life(const std::string& path, std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  const auto first = touched_at(path);
  if (!first) return true;
  while (std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(look_again);
    const auto now = touched_at(path);
    if (!now || now->tv_sec != first->tv_sec || now->tv_nsec != first->tv_nsec) return true;
  }
  return false;
}

bool is_dead(const Link& last, std::chrono::milliseconds patience) {
  const Life life = life_of(last.owner);
  if (life != Life::elsewhere) return life == Life::dead;
  if (KnownDead::only().has(last.owner) && !gives_sign_of_life(last.path, 2 * beat)) return true;
  if (gives_sign_of_life(last.path, patience)) return false;
  KnownDead::only().add(last.owner);
  return true;
}

Error living_owner(const Link& last, const std::string& name) {
  return make_error(ErrorCode::conflict,
                    "process {} on {} owns it, as {} says: wait until that run has ended, or give the files "
                    "different "
                    "names",
                    last.owner.pid, last.owner.host, last.path)
      .with_native(EWOULDBLOCK)
      .in_file(name);
}

/// A temporary file: removed, unless it was renamed.
struct Made {
  std::string path;
  ~Made() { ::unlink(path.c_str()); }
};

}  // namespace

Result<OwnerFile> OwnerFile::claim(const std::string& name, std::chrono::milliseconds patience) {
  const std::string token = random_token();
  const Made made{successor(name, token) + ".new"};
  const std::string text = text_of(own_identity(), token);
  for (int attempt = 0; attempt < attempts; ++attempt) {
    AFTERBAY_TRY_ASSIGN(const auto before, chain_of(name));
    if (!before.empty() && !is_dead(before.back(), patience)) {
      if (::access(before.back().path.c_str(), F_OK) != 0) continue;  // given up meanwhile
      return fail(living_owner(before.back(), name));
    }
    const std::string path = before.empty() ? name : successor(name, before.back().token);
    // Made anew in each attempt: a rename takes it away.
    int number = write_new_file(made.path, text);
    if (number == 0) number = make_durable(made.path);
    if (number == 0) number = give_name(made.path, path);
    if (number == EEXIST) continue;
    if (number != 0) return fail(owner_error(number, "make", path));
    AFTERBAY_TRY_ASSIGN(const auto after, chain_of(name));
    const auto mine = std::ranges::find(after, token, &Link::token);
    if (mine == after.end()) {  // the owner before has ended it all: nobody will find this file
      ::unlink(path.c_str());
      continue;
    }
    if (mine + 1 != after.end())
      return fail(living_owner(after.back(), name));  // stopped for long in between
    return OwnerFile(name, token, path);
  }
  return fail(make_error(ErrorCode::conflict,
                         "{} changes hands all the time: stop the other programs that claim it", name)
                  .in_file(name));
}

bool OwnerFile::is_owned(const std::string& name, std::chrono::milliseconds patience) {
  const auto chain = chain_of(name);
  return chain && !chain->empty() && !is_dead(chain->back(), patience);
}

OwnerFile::OwnerFile(std::string name, std::string token, std::string path)
    : name_(std::move(name)), token_(std::move(token)), path_(std::move(path)) {
  Heart::only().add(path_);
}

OwnerFile::OwnerFile(OwnerFile&& other) noexcept
    : name_(std::move(other.name_)), token_(std::exchange(other.token_, {})), path_(std::move(other.path_)) {}

OwnerFile& OwnerFile::operator=(OwnerFile&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(token_, other.token_);
  std::swap(path_, other.path_);
  return *this;
}

OwnerFile::~OwnerFile() {
  if (token_.empty()) return;
  Heart::only().remove(path_);
  const auto chain = chain_of(name_);
  if (!chain || chain->empty() || chain->back().token != token_) return;
  for (const Link& link : *chain) ::unlink(link.path.c_str());  // the root first: nobody finds the others
}

bool OwnerFile::still_ours() const {
  const auto chain = chain_of(name_);
  return chain && !chain->empty() && chain->back().token == token_;
}

}  // namespace afterbay
