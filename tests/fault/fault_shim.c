/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into the processes of a run: makes system calls on files fail, by rule.
 *
 * FAULT_RULES names a file with one rule per line. A rule consists of words:
 *
 * - ops=write,sync,rename,open,truncate,unlink,mkdir,allocate,lock,hard,attribute: the calls it
 *   applies to (hard: link; attribute: extended attributes)
 *
 * - path=PATTERN: the files it applies to, as in fnmatch(3); of a rename or link, the older name. A
 *   further name of an open file (linkat) counts as a rename of it
 *
 * - from=N to=N: only from the N-th such call of a process on, and up to the N-th
 *
 * - after_bytes=N: only once the process has written (or allocated) so many bytes to such files
 *
 * - until=FILE, while=FILE: only as long as this file does not exist, or does
 *
 * - errno=N: the call fails; lie: the call reports success and does nothing
 *
 * - kill: the process is killed (SIGKILL) just before the call
 *
 * - short=N: a write takes no more than N bytes
 *
 * - wait=FILE: the call begins when this file exists, or after two minutes
 *
 * - ms=N: the call takes so much longer; kib_s=N: a write takes as long as at N KiB/s
 *
 * All rules that match a call apply, those that end it after those that slow it down.
 *
 * FAULT_CLOCK=SECONDS moves the wall clock of the process by so much. */
#define _GNU_SOURCE
#include "fault_shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
  op_write = 1,
  op_sync = 2,
  op_rename = 4,
  op_open = 8,
  op_truncate = 16,
  op_unlink = 32,
  op_mkdir = 64,
  op_allocate = 128,
  op_lock = 256,
  op_attribute = 1024,
  op_hard = 512
};
enum { most_rules = 16, path_room = 4096 };

struct rule {
  unsigned ops;
  char path[512], until[512], during[512], wait[512];
  unsigned long from, to, after_bytes, kib_s, ms;
  size_t most_bytes;
  int error, lies, kills;
  _Atomic unsigned long calls, bytes;
};
static struct rule rules[most_rules];
static int rule_count;
static unsigned all_ops;
static pthread_once_t rules_read = PTHREAD_ONCE_INIT;

static unsigned ops_of(const char* text) {
  static const char* const names[] = {"write", "sync",     "rename", "open", "truncate", "unlink",
                                      "mkdir", "allocate", "lock",   "hard", "attribute"};
  unsigned ops = 0;
  for (int i = 0; i < (int)(sizeof names / sizeof *names); ++i)
    if (strstr(text, names[i]) != NULL) ops |= 1u << i;
  return ops;
}

static void take_word(struct rule* rule, char* word) {
  char* value = strchr(word, '=');
  if (value != NULL) *value++ = '\0';
  if (strcmp(word, "lie") == 0) rule->lies = 1;
  if (strcmp(word, "kill") == 0) rule->kills = 1;
  if (value == NULL) return;
  const unsigned long number = strtoul(value, NULL, 10);
  if (strcmp(word, "ops") == 0) rule->ops = ops_of(value);
  if (strcmp(word, "path") == 0) snprintf(rule->path, sizeof rule->path, "%s", value);
  if (strcmp(word, "until") == 0) snprintf(rule->until, sizeof rule->until, "%s", value);
  if (strcmp(word, "while") == 0) snprintf(rule->during, sizeof rule->during, "%s", value);
  if (strcmp(word, "wait") == 0) snprintf(rule->wait, sizeof rule->wait, "%s", value);
  if (strcmp(word, "from") == 0) rule->from = number;
  if (strcmp(word, "to") == 0) rule->to = number;
  if (strcmp(word, "after_bytes") == 0) rule->after_bytes = number;
  if (strcmp(word, "errno") == 0) rule->error = (int)number;
  if (strcmp(word, "short") == 0) rule->most_bytes = number;
  if (strcmp(word, "ms") == 0) rule->ms = number;
  if (strcmp(word, "kib_s") == 0) rule->kib_s = number;
}

static void read_rules(void) {
  const char* name = getenv("FAULT_RULES");
  FILE* file = name == NULL ? NULL : fopen(name, "r");
  char line[2048];
  while (file != NULL && rule_count < most_rules && fgets(line, sizeof line, file) != NULL) {
    struct rule* rule = &rules[rule_count];
    rule->to = ~0ul;
    strcpy(rule->path, "*");
    char* rest = NULL;
    for (char* word = strtok_r(line, " \n", &rest); word != NULL; word = strtok_r(NULL, " \n", &rest))
      take_word(rule, word);
    if (rule->ops == 0) continue;
    all_ops |= rule->ops;
    ++rule_count;
  }
  if (file != NULL) fclose(file);
}

static int wanted(unsigned op) {
  pthread_once(&rules_read, read_rules);
  return (all_ops & op) != 0 || getenv("FAULT_POWER") != NULL;
}

static int exists(const char* path) { return syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0; }

static void pause_us(uint64_t us) {
  const struct timespec time = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};
  nanosleep(&time, NULL);
}

static int holds(struct rule* rule, unsigned op, const char* path, size_t bytes) {
  if ((rule->ops & op) == 0 || fnmatch(rule->path, path, 0) != 0) return 0;
  if (rule->until[0] != '\0' && exists(rule->until)) return 0;
  if (rule->during[0] != '\0' && !exists(rule->during)) return 0;
  const unsigned long call = atomic_fetch_add(&rule->calls, 1) + 1;
  const unsigned long written = atomic_fetch_add(&rule->bytes, bytes) + bytes;
  return call >= rule->from && call <= rule->to && written > rule->after_bytes;
}

enum verdict { go_on, failed, lied };

/* `bytes`: of a write; may become fewer. */
static enum verdict judge(unsigned op, const char* path, size_t* bytes) {
  enum verdict verdict = go_on;
  int error = 0;
  for (int i = 0; i < rule_count; ++i) {
    struct rule* rule = &rules[i];
    if (!holds(rule, op, path, bytes == NULL ? 1 : *bytes)) continue;
    if (rule->kills) kill(getpid(), SIGKILL);
    for (int i = 0; i < 12000 && rule->wait[0] != '\0' && !exists(rule->wait); ++i) pause_us(10000);
    if (rule->ms > 0) pause_us(rule->ms * 1000);
    if (rule->kib_s > 0 && bytes != NULL) pause_us(*bytes * 1000000 / 1024 / rule->kib_s);
    if (rule->most_bytes > 0 && bytes != NULL && *bytes > rule->most_bytes) *bytes = rule->most_bytes;
    if (rule->error != 0) verdict = failed, error = rule->error;
    if (rule->lies && verdict == go_on) verdict = lied;
  }
  if (verdict == failed) errno = error;
  return verdict;
}

int shim_path_of(int fd, char* path, size_t room) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, room - 1);
  if (length <= 0) return 0;
  path[length] = '\0';
  return path[0] == '/';
}

/* ---- calls on open files. Offset -1 means the file's end or position. */

static ssize_t write_at(int fd, const void* data, size_t bytes, off_t offset) {
  char path[path_room];
  struct stat status;
  int lock = -1;
  if (wanted(op_write) && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
      shim_path_of(fd, path, sizeof path)) {
    const enum verdict verdict = judge(op_write, path, &bytes);
    if (verdict != go_on) return verdict == failed ? -1 : (ssize_t)bytes;
    lock = power_begin_write(fd, offset, bytes);
  }
  const ssize_t written =
      offset < 0 ? syscall(SYS_write, fd, data, bytes) : syscall(SYS_pwrite64, fd, data, bytes, offset);
  const int error = errno;
  power_end(lock);
  errno = error;
  return written;
}

ssize_t write(int fd, const void* data, size_t bytes) { return write_at(fd, data, bytes, -1); }
ssize_t pwrite(int fd, const void* data, size_t bytes, off_t offset) {
  return write_at(fd, data, bytes, offset);
}
ssize_t pwrite64(int fd, const void* data, size_t bytes, off_t offset) {
  return write_at(fd, data, bytes, offset);
}

/* Power is lost only in the record: the state of the real disk does not matter, so it need not
   be waited for. */
static int sync_file(int fd, long call) {
  char path[path_room];
  if (wanted(op_sync) && shim_path_of(fd, path, sizeof path)) {
    const enum verdict verdict = judge(op_sync, path, NULL);
    if (verdict != go_on) return verdict == failed ? -1 : 0;
    if (power_tracks(path)) {
      power_synced(fd);
      return 0;
    }
  }
  return (int)syscall(call, fd);
}
int fsync(int fd) { return sync_file(fd, SYS_fsync); }
int fdatasync(int fd) { return sync_file(fd, SYS_fdatasync); }

int ftruncate(int fd, off_t length) {
  char path[path_room];
  int lock = -1;
  if (wanted(op_truncate) && shim_path_of(fd, path, sizeof path)) {
    const enum verdict verdict = judge(op_truncate, path, NULL);
    if (verdict != go_on) return verdict == failed ? -1 : 0;
    lock = power_begin_truncate(fd, length);
  }
  const int result = (int)syscall(SYS_ftruncate, fd, length);
  const int error = errno;
  power_end(lock);
  errno = error;
  return result;
}
int ftruncate64(int fd, off_t length) { return ftruncate(fd, length); }

/* Returns errno. */
int posix_fallocate(int fd, off_t offset, off_t length) {
  char path[path_room];
  size_t bytes = (size_t)length;
  if (wanted(op_allocate) && shim_path_of(fd, path, sizeof path)) {
    const enum verdict verdict = judge(op_allocate, path, &bytes);
    if (verdict != go_on) return verdict == failed ? errno : 0;
  }
  return syscall(SYS_fallocate, fd, 0, offset, length) == 0 ? 0 : errno;
}
int posix_fallocate64(int fd, off_t offset, off_t length) { return posix_fallocate(fd, offset, length); }

/* Memory that is allocated through a mapping: of the rules for allocation, those that name no other
 * path than that of a memfd apply. */
int madvise(void* at, size_t length, int advice) {
  const int populate_write = 23;
  size_t bytes = length;
  if (advice == populate_write && wanted(op_allocate)) {
    const enum verdict verdict = judge(op_allocate, "/memfd:afterbay (deleted)", &bytes);
    if (verdict == failed) return -1;
  }
  return (int)syscall(SYS_madvise, at, length, advice);
}

/* ---- locks on open files (fcntl and flock), as on a file system without locks */

static int lock_fails(int fd) {
  char path[path_room];
  return wanted(op_lock) && shim_path_of(fd, path, sizeof path) && judge(op_lock, path, NULL) == failed;
}

int flock(int fd, int operation) { return lock_fails(fd) ? -1 : (int)syscall(SYS_flock, fd, operation); }

static int control(int fd, int command, void* argument) {
  const int locks = command == F_SETLK || command == F_SETLKW || command == F_GETLK ||
                    command == F_OFD_SETLK || command == F_OFD_SETLKW || command == F_OFD_GETLK;
  if (locks && lock_fails(fd)) return -1;
  return (int)syscall(SYS_fcntl, fd, command, argument);
}
#define FCNTL(name)                            \
  int name(int fd, int command, ...) {         \
    va_list arguments;                         \
    va_start(arguments, command);              \
    void* argument = va_arg(arguments, void*); \
    va_end(arguments);                         \
    return control(fd, command, argument);     \
  }
FCNTL(fcntl)
FCNTL(fcntl64)

/* Copies made by the kernel would not be recorded: callers then copy by themselves. */
ssize_t copy_file_range(int from, off_t* from_offset, int to, off_t* to_offset, size_t bytes,
                        unsigned flags) {
  if (getenv("FAULT_POWER") != NULL) return errno = EXDEV, -1;
  return syscall(SYS_copy_file_range, from, from_offset, to, to_offset, bytes, flags);
}

/* ---- extended attributes, as on a file system without them */

static int attribute_fails(int fd) {
  char path[path_room];
  return wanted(op_attribute) && shim_path_of(fd, path, sizeof path) &&
         judge(op_attribute, path, NULL) == failed;
}

int fsetxattr(int fd, const char* name, const void* value, size_t size, int flags) {
  return attribute_fails(fd) ? -1 : (int)syscall(SYS_fsetxattr, fd, name, value, size, flags);
}

ssize_t fgetxattr(int fd, const char* name, void* value, size_t size) {
  return attribute_fails(fd) ? -1 : (ssize_t)syscall(SYS_fgetxattr, fd, name, value, size);
}

/* ---- the wall clock */

int clock_gettime(clockid_t clock, struct timespec* time) {
  const int result = (int)syscall(SYS_clock_gettime, clock, time);
  const char* seconds = clock == CLOCK_REALTIME ? getenv("FAULT_CLOCK") : NULL;
  if (result == 0 && seconds != NULL) time->tv_sec += strtol(seconds, NULL, 10);
  return result;
}

/* ---- calls on names */

/* Whether the call ends here; *result is its return value. */
static int ends(unsigned op, const char* path, int* result) {
  const enum verdict verdict = wanted(op) ? judge(op, path, NULL) : go_on;
  *result = verdict == failed ? -1 : 0;
  return verdict != go_on;
}

static int open_at(int directory, const char* path, int flags, mode_t mode) {
  int result = 0;
  if (ends(op_open, path, &result))
    return result < 0 ? -1 : (int)syscall(SYS_openat, directory, path, flags, mode);
  const int makes =
      (flags & O_CREAT) != 0 && directory == AT_FDCWD && getenv("FAULT_POWER") != NULL && !exists(path);
  result = (int)syscall(SYS_openat, directory, path, flags, mode);
  if (makes && result >= 0) power_created(path, "create");
  return result;
}

static mode_t mode_in(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}
#define OPEN(name)                                 \
  int name(const char* path, int flags, ...) {     \
    va_list arguments;                             \
    va_start(arguments, flags);                    \
    const mode_t mode = mode_in(flags, arguments); \
    va_end(arguments);                             \
    return open_at(AT_FDCWD, path, flags, mode);   \
  }
OPEN(open)
OPEN(open64)

int rename(const char* from, const char* to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat2(int from_directory, const char* from, int to_directory, const char* to, unsigned flags) {
  int result = 0;
  if (ends(op_rename, from, &result)) return result;
  const int lock = power_begin_rename(from, to);
  result = (int)syscall(SYS_renameat2, from_directory, from, to_directory, to, flags);
  const int error = errno;
  power_end(lock);
  errno = error;
  return result;
}

/* From /proc/self/fd/N. */
int linkat(int from_directory, const char* from, int to_directory, const char* to, int flags) {
  char path[path_room];
  int result = 0;
  const ssize_t length = readlink(from, path, sizeof path - 1);
  if (length > 0) path[length] = '\0';
  if (ends(op_rename, length > 0 ? path : from, &result)) return result;
  result = (int)syscall(SYS_linkat, from_directory, from, to_directory, to, flags);
  const int error = errno;
  if (result == 0) power_linked(to);
  errno = error;
  return result;
}

int unlink(const char* path) {
  int result = 0;
  if (ends(op_unlink, path, &result)) return result;
  const int lock = power_begin_unlink(path);
  result = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
  const int error = errno;
  power_end(lock);
  errno = error;
  return result;
}

int link(const char* from, const char* to) {
  int result = 0;
  if (ends(op_hard, from, &result)) return result;
  return (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int mkdir(const char* path, mode_t mode) {
  int result = 0;
  if (ends(op_mkdir, path, &result)) return result;
  result = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
  if (result == 0) power_created(path, "mkdir");
  return result;
}
