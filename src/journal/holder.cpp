// SPDX-License-Identifier: Apache-2.0
#include "journal/holder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/file_lock.hpp"
#include "base/owner_file.hpp"
#include "base/regular_file.hpp"
#include "journal/journal_file.hpp"

namespace afterbay::journal {
namespace {

/// 0, or the reason why the system gives no information about locks on the file.
int lock_error(int descriptor) noexcept {
  struct flock all {};
  all.l_type = F_RDLCK;
  all.l_whence = SEEK_SET;
  return ::fcntl(descriptor, F_OFD_GETLK, &all) == 0 ? 0 : errno;
}

/// 0 if the file can be read, or the reason. A file server may need several attempts (ESTALE).
int read_error(const std::string& path) noexcept {
  constexpr int tries = 5;
  int number = 0;
  for (int i = 0; i < tries; ++i) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    number = descriptor < 0 ? errno : 0;
    if (descriptor >= 0) ::close(descriptor);
    if (number == 0 || number == ENOENT) break;
  }
  return number;
}

bool means_no_locks(int number) noexcept {
  return number == ENOSYS || number == EOPNOTSUPP || number == EINVAL;
}

/// The result that is known without waiting.
struct Look {
  Holder holder = Holder::nobody;
  bool owner_may_live = false;  ///< the owner must be watched
};

Look look_at(int descriptor, const std::string& path) {
  if (file_lock_is_held(descriptor)) return {Holder::somebody, false};
  const int owner = read_error(owner_path(path));
  if (owner != 0 && owner != ENOENT) return {Holder::unknown, false};
  const int lock = lock_error(descriptor);
  // ENOLCK: no locks, or none at the moment. The owner file of a dead run shows that there are
  // none.
  const bool answered = lock == 0 || means_no_locks(lock) || (lock == ENOLCK && owner == 0);
  return {answered ? Holder::nobody : Holder::unknown, owner == 0 && is_unfinished(descriptor)};
}

}  // namespace

Holder holder_of(int descriptor, const std::string& path) {
  const Look look = look_at(descriptor, path);
  return look.owner_may_live && OwnerFile::is_owned(owner_path(path)) ? Holder::somebody : look.holder;
}

std::vector<Holder> holders_of(std::span<const std::string> paths, const OwnerPatience& patience) {
  std::vector<Holder> holders(paths.size(), Holder::unknown);
  std::vector<std::string> owners;
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const RegularFile file(paths[i]);
    if (!file.open()) continue;
    const Look look = look_at(file.descriptor(), paths[i]);
    holders[i] = look.holder;
    if (!look.owner_may_live) continue;
    owners.push_back(owner_path(paths[i]));
    asked.push_back(i);
  }
  const std::vector<bool> owned = OwnerFile::are_owned(owners, patience);
  for (std::size_t k = 0; k < asked.size(); ++k)
    if (owned[k]) holders[asked[k]] = Holder::somebody;
  return holders;
}

}  // namespace afterbay::journal
