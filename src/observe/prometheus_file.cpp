// SPDX-License-Identifier: Apache-2.0
#include "observe/prometheus_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/file_lock.hpp"
#include "base/hard_link.hpp"
#include "base/new_file.hpp"
#include "observe/numbered_path.hpp"
#include "observe/prometheus.hpp"

namespace afterbay::observe {
namespace {

constexpr int most_turns = 1000;  ///< concurrent sessions that write one path
constexpr int most_looks = 20;    ///< the file may change owners meanwhile

/// A descriptor that is closed by the destructor.
class Opened {
 public:
  explicit Opened(const std::string& path)
      : descriptor_(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)) {}
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] int get() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

bool is_at(int descriptor, const std::string& path) {
  struct stat opened {
  }, named{};
  return ::fstat(descriptor, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

bool is_missing(const std::string& path) {
  struct stat named {};
  return ::lstat(path.c_str(), &named) != 0 && errno == ENOENT;
}

}  // namespace

bool PrometheusFile::is_ours(const std::string& name) const { return owned_ >= 0 && is_at(owned_, name); }

void PrometheusFile::let_go() {
  if (owned_ >= 0) ::close(owned_);
  owned_ = -1;
}

/// Renames the file `beside` to the name. Returns 0, EEXIST if another session got the name
/// meanwhile, or errno.
int PrometheusFile::replace(const std::string& name, const std::string& beside, bool is_new) {
  Opened made(beside);
  if (made.get() >= 0) (void)take_file_lock(made.get());
  if (is_new) {
    if (const int number = rename_to_free(beside, name); number != 0) return number;
  } else if (std::rename(beside.c_str(), name.c_str()) != 0) {
    return errno;
  }
  let_go();
  owned_ = made.release();
  return 0;
}

int PrometheusFile::try_write(const std::string& name, const std::string& text) {
  const std::string beside = name_beside(name);  // not *.prom
  if (const int number = write_new_file(beside, text); number != 0) return number;
  int number = EEXIST;
  for (int look = 0; look < most_looks && number == EEXIST; ++look) {
    if (is_ours(name)) {
      number = replace(name, beside, false);
    } else if (is_missing(name)) {
      number = replace(name, beside, true);
    } else {
      const Opened older(name);  // locked while it is replaced: otherwise a third session would find it
                                 // without an owner
      if (older.get() >= 0 && take_file_lock(older.get()) == FileLock::others) break;
      if (older.get() < 0 || is_at(older.get(), name)) number = replace(name, beside, false);
    }
  }
  if (number != 0) (void)std::remove(beside.c_str());
  return number;
}

Result<> PrometheusFile::write(const ServerState& state) {
  int number = EEXIST;
  for (; turn_ <= most_turns; ++turn_) {
    number = try_write(path_of_turn(path_, turn_), prometheus_text(state, turn_));
    if (number != EEXIST) break;
    let_go();
  }
  if (number == 0) return {};
  return fail(
      make_error(ErrorCode::io, "cannot write {} (report.prometheus): {}", path_, std::strerror(number))
          .with_native(number)
          .in_file(path_));
}

}  // namespace afterbay::observe
