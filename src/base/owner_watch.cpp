// SPDX-License-Identifier: Apache-2.0
#include "base/owner_watch.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace afterbay {
namespace {

using TimePoint = OwnerClock::TimePoint;
using std::chrono::milliseconds;

constexpr milliseconds beat{1000};
constexpr milliseconds longest_pause{200};  ///< between looks
constexpr int fewest_looks = 5;
constexpr int most_windows = 3;
/// A process touches all its files within this time of each other, or within half the patience.
constexpr milliseconds same_beat{5000};

/// Its thread is detached, and its state is never destroyed, so that a process may exit at any
/// time.
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
      for (const std::string& path : paths) beat_now(path);
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

/// The result of one look at a file.
struct Look {
  enum { there, gone, failed } what = failed;
  std::uint64_t device = 0;
  std::int64_t touched_ns = 0;
};

/// Opened anew each time, so that an NFS client asks the server.
Look look_at(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return {errno == ENOENT ? Look::gone : Look::failed};
  struct stat status {};
  const bool known = ::fstat(file, &status) == 0;
  ::close(file);
  if (!known) return {};
  return {Look::there, status.st_dev,
          std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
}

/// Results for processes elsewhere that were watched. Never destroyed, like the heart.
class Memory {
 public:
  static Memory& only() {
    static auto* const memory = new Memory;
    return *memory;
  }

  /// `look`: the last look at one of its files, which was watched for `patience`.
  void note_dead(const OwnerIdentity& owner, const Look& look, milliseconds patience) {
    const std::lock_guard lock(mutex_);
    std::erase_if(alive_, [&](const auto& it) { return it.owner == owner; });
    dead_.push_back({owner, look, std::chrono::nanoseconds(std::min(same_beat, patience / 2)).count()});
  }
  void note_alive(const OwnerIdentity& owner, TimePoint now) {
    const std::lock_guard lock(mutex_);
    std::erase_if(dead_, [&](const auto& it) { return it.owner == owner; });
    std::erase_if(alive_, [&](const auto& it) { return it.owner == owner; });
    alive_.push_back({owner, now});
  }
  /// A file that the process has touched since it was found dead, or that is on another file
  /// system, proves nothing.
  bool is_dead(const OwnerIdentity& owner, const Look& look) {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(dead_, [&](const Dead& it) {
      return it.owner == owner && it.look.device == look.device &&
             std::abs(it.look.touched_ns - look.touched_ns) < it.same_beat_ns;
    });
  }
  bool was_alive(const OwnerIdentity& owner, TimePoint now, milliseconds ago) {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(alive_,
                               [&](const Alive& it) { return it.owner == owner && now - it.seen < ago; });
  }

 private:
  struct Dead {
    OwnerIdentity owner;
    Look look;
    std::int64_t same_beat_ns;
  };
  struct Alive {
    OwnerIdentity owner;
    TimePoint seen;
  };
  std::mutex mutex_;
  std::vector<Dead> dead_;
  std::vector<Alive> alive_;
};

/// The key of an owner in the memory; a file that does not name its owner yet is its own key.
OwnerIdentity known_as(const OwnerLink& link) {
  return link.complete ? link.owner : OwnerIdentity{link.path, {}, 0, 0, 0};
}

/// The state of an owner while it is watched.
class Watched {
 public:
  explicit Watched(const OwnerLink& link) : link_(&link) {}

  /// The verdict, as soon as there is one. `slow`: a look that takes longer observed nothing during
  /// that time.
  std::optional<Liveness> look(const OwnerPatience& patience, milliseconds slow) {
    const TimePoint begun = patience.clock->now();
    const Look look = look_at(link_->path);
    const TimePoint now = patience.clock->now();
    if (look.what == Look::gone) return Liveness::alive;
    if (first_ && look.what == Look::there && look.touched_ns != first_->touched_ns) {
      Memory::only().note_alive(known_as(*link_), now);
      return Liveness::alive;
    }
    if (look.what == Look::failed || now - begun > slow || (looks_ > 0 && now - last_ > slow)) looks_ = 0;
    if (look.what == Look::failed) return std::nullopt;
    if (!first_) first_ = look;
    if (looks_++ == 0) since_ = now;
    last_ = now;
    if (looks_ < fewest_looks || now - since_ < patience.limit) return std::nullopt;
    Memory::only().note_dead(known_as(*link_), look, patience.limit);
    return Liveness::dead;
  }

 private:
  const OwnerLink* link_;
  std::optional<Look> first_;
  int looks_ = 0;  ///< consecutive looks
  TimePoint since_, last_;
};

/// The verdict that is known without waiting.
Liveness liveness_so_far(const OwnerLink& link, TimePoint now, milliseconds recent) {
  const Liveness liveness = link.complete ? liveness_of(link.owner) : Liveness::elsewhere;
  if (liveness != Liveness::elsewhere) return liveness;
  if (Memory::only().was_alive(known_as(link), now, recent)) return Liveness::alive;
  const Look look = look_at(link.path);
  const bool dead = look.what == Look::there && Memory::only().is_dead(known_as(link), look);
  return dead ? Liveness::dead : Liveness::elsewhere;
}

}  // namespace

void start_beating(const std::string& path) { Heart::only().add(path); }
void stop_beating(const std::string& path) noexcept { Heart::only().remove(path); }
void beat_now(const std::string& path) noexcept {
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

std::vector<bool> find_dead(std::span<const OwnerLink> owners, const OwnerPatience& patience,
                            milliseconds recent) {
  OwnerClock& clock = *patience.clock;
  std::vector<bool> dead(owners.size(), false);
  std::vector<std::pair<std::size_t, Watched>> watched;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const Liveness liveness = liveness_so_far(owners[i], clock.now(), recent);
    dead[i] = liveness == Liveness::dead;
    if (liveness == Liveness::elsewhere && patience.limit > milliseconds::zero())
      watched.emplace_back(i, Watched(owners[i]));
  }
  const milliseconds slow = std::max(patience.limit / 4, 2 * longest_pause);
  const milliseconds pause = std::clamp(patience.limit / 20, milliseconds(1), longest_pause);
  const TimePoint end = clock.now() + most_windows * patience.limit;
  for (; !watched.empty() && clock.now() < end; clock.sleep(pause))
    std::erase_if(watched, [&](auto& it) {
      const auto liveness = it.second.look(patience, slow);
      if (liveness) dead[it.first] = *liveness == Liveness::dead;
      return liveness.has_value();
    });
  return dead;
}

}  // namespace afterbay
