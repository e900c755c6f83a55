// SPDX-License-Identifier: Apache-2.0
#include "journal/holder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "journal/journal_file.hpp"

namespace afterbay::journal {
namespace {

/// 0, or why the system does not tell about locks of the file.
int lock_error(int descriptor) noexcept {
  struct flock all {};
  all.l_type = F_RDLCK;
  all.l_whence = SEEK_SET;
  return ::fcntl(descriptor, F_OFD_GETLK, &all) == 0 ? 0 : errno;
}

/// 0 if the file can be read, or why not.
int read_error(const std::string& path) noexcept {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return errno;
  ::close(descriptor);
  return 0;
}

bool means_no_locks(int number) noexcept {
  return number == ENOSYS || number == EOPNOTSUPP || number == EINVAL;
}

}  // namespace

Holder holder_of(int descriptor, const std::string& path) {
  if (is_held(descriptor, path)) return Holder::somebody;
  const int owner = read_error(path + ".owner");  // see JournalFile
  if (owner != 0 && owner != ENOENT) return Holder::unknown;
  const int lock = lock_error(descriptor);
  // ENOLCK: no locks, or none for the moment. The owner file of a run that is dead says that there are none.
  const bool answered = lock == 0 || means_no_locks(lock) || (lock == ENOLCK && owner == 0);
  return answered ? Holder::nobody : Holder::unknown;
}

}  // namespace afterbay::journal
