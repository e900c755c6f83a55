/* SPDX-License-Identifier: Apache-2.0 */
/* Records how to take back what was not yet made durable: for each file its older bytes (f_INODE,
 * binary), for each directory its older names (d_INODE, lines of tab-separated words), in the order
 * of the changes. Older files that lose their names keep one in .power. A change and its record
 * hold the log's lock, so that kill -9 leaves at most one record of a change that did not happen,
 * which taking back does not mind. fsync empties the log. */
#define _GNU_SOURCE
#include "fault_shim.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { path_room = 4096 };

/* A change in f_INODE, followed by `bytes` older bytes. */
struct change {
  uint64_t magic;
  uint64_t offset;
  uint64_t old_size;
  uint64_t bytes;
};
static const uint64_t change_magic = 0x4552414843574f50u;

static const char* root(void) {
  const char* directory = getenv("FAULT_POWER");
  return directory != NULL && directory[0] == '/' ? directory : NULL;
}

int power_tracks(const char* path) {
  const char* directory = root();
  if (directory == NULL) return 0;
  const size_t length = strlen(directory);
  if (strncmp(path, directory, length) != 0 || (path[length] != '/' && path[length] != '\0')) return 0;
  return strncmp(path + length, "/.power", 7) != 0;
}

/* The real calls: those of libc come back to the shim. */
static int real_open(const char* path, int flags) {
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0666);
}
static void put(int log, const void* bytes, size_t count) {
  if (syscall(SYS_write, log, bytes, count) != (long)count) _exit(86); /* the test needs this */
}

static int locked_log(char kind, ino_t inode) {
  char path[path_room];
  snprintf(path, sizeof path, "%s/.power", root());
  syscall(SYS_mkdirat, AT_FDCWD, path, 0777);
  snprintf(path, sizeof path, "%s/.power/%c_%lu", root(), kind, (unsigned long)inode);
  const int log = real_open(path, O_RDWR | O_CREAT | O_APPEND);
  if (log < 0 || flock(log, LOCK_EX) != 0) _exit(86);
  return log;
}

void power_end(int lock) {
  if (lock >= 0) close(lock);
}

static int tracked(int fd, struct stat* status) {
  char path[path_room];
  return root() != NULL && shim_path_of(fd, path, sizeof path) && power_tracks(path) &&
         fstat(fd, status) == 0;
}

static int record_bytes(int fd, const struct stat* status, off_t offset, size_t bytes) {
  struct change change = {change_magic, (uint64_t)offset, (uint64_t)status->st_size, 0};
  if (offset < status->st_size) change.bytes = (uint64_t)(status->st_size - offset);
  if (change.bytes > bytes) change.bytes = bytes;
  const int log = locked_log('f', status->st_ino);
  char* record = malloc(sizeof change + change.bytes);
  memcpy(record, &change, sizeof change);
  char name[64];
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  const int reading = real_open(name, O_RDONLY);
  if (change.bytes > 0 &&
      pread(reading, record + sizeof change, change.bytes, offset) != (ssize_t)change.bytes)
    _exit(86);
  close(reading);
  put(log, record, sizeof change + change.bytes);
  free(record);
  return log;
}

int power_begin_write(int fd, off_t offset, size_t bytes) {
  struct stat status;
  if (!tracked(fd, &status) || !S_ISREG(status.st_mode)) return -1;
  if (offset < 0) offset = (fcntl(fd, F_GETFL) & O_APPEND) != 0 ? status.st_size : lseek(fd, 0, SEEK_CUR);
  return record_bytes(fd, &status, offset, bytes);
}

int power_begin_truncate(int fd, off_t length) {
  struct stat status;
  if (!tracked(fd, &status)) return -1;
  return record_bytes(fd, &status, length, length < status.st_size ? (size_t)(status.st_size - length) : 0);
}

/* The directory that contains a name; 0 if it is not tracked. */
static int directory_of(const char* path, char* directory, struct stat* status) {
  char whole[path_room];
  if (path[0] == '/') {
    snprintf(whole, sizeof whole, "%s", path);
  } else {
    if (getcwd(whole, sizeof whole) == NULL) return 0;
    const size_t length = strlen(whole);
    snprintf(whole + length, sizeof whole - length, "/%s", path);
  }
  char* slash = strrchr(whole, '/');
  *slash = '\0';
  if (realpath(whole[0] == '\0' ? "/" : whole, directory) == NULL || !power_tracks(directory)) return 0;
  return stat(directory, status) == 0;
}

static const char* name_in(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

/* Gives a file that is about to lose its name another name. */
static void keep(const char* path, ino_t inode, char* kept) {
  static int count = 0;
  snprintf(kept, path_room, "%s/.power/keep_%lu_%d_%d", root(), (unsigned long)inode, (int)getpid(),
           __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED));
  if (syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, kept, 0) != 0) kept[0] = '\0';
}

int power_begin_unlink(const char* path) {
  char directory[path_room], kept[path_room], line[4 * path_room];
  struct stat of_directory, status;
  if (root() == NULL || !directory_of(path, directory, &of_directory) || lstat(path, &status) != 0) return -1;
  const int log = locked_log('d', of_directory.st_ino);
  keep(path, status.st_ino, kept);
  put(log, line,
      (size_t)snprintf(line, sizeof line, "unlink\t%lu\t%s/%s\t%s\n", (unsigned long)status.st_ino, directory,
                       name_in(path), kept));
  return log;
}

int power_begin_rename(const char* from, const char* to) {
  char directory[path_room], kept[path_room] = "", line[4 * path_room];
  struct stat of_directory, moved, replaced;
  if (root() == NULL || !directory_of(to, directory, &of_directory) || lstat(from, &moved) != 0) return -1;
  const int log = locked_log('d', of_directory.st_ino);
  if (lstat(to, &replaced) == 0) keep(to, replaced.st_ino, kept);
  put(log, line,
      (size_t)snprintf(line, sizeof line, "rename\t%lu\t%s/%s\t%s/%s\t%s\n", (unsigned long)moved.st_ino,
                       directory, name_in(from), directory, name_in(to), kept));
  return log;
}

static void record_name(const char* path, const char* what, int is_new) {
  char directory[path_room], line[4 * path_room];
  struct stat of_directory, status;
  if (root() == NULL || !directory_of(path, directory, &of_directory) || lstat(path, &status) != 0) return;
  snprintf(line, sizeof line, "%s/.power/%c_%lu", root(), what[0] == 'm' ? 'd' : 'f',
           (unsigned long)status.st_ino);
  if (is_new) syscall(SYS_unlinkat, AT_FDCWD, line, 0);
  const int log = locked_log('d', of_directory.st_ino);
  put(log, line,
      (size_t)snprintf(line, sizeof line, "%s\t%lu\t%s/%s\n", what, (unsigned long)status.st_ino, directory,
                       name_in(path)));
  close(log);
}

/* A new file has nothing to be taken back yet, whatever its inode was before. */
void power_created(const char* path, const char* what) { record_name(path, what, 1); }

/* An additional name of a file. */
void power_linked(const char* path) { record_name(path, "create", 0); }

/* Empties a directory's log, and then removes its kept files: if killed in between, the log
   names no removed file. */
static void let_go(int log) {
  const off_t size = lseek(log, 0, SEEK_END);
  char* text = calloc((size_t)size + 1, 1);
  const int known = pread(log, text, (size_t)size, 0) == size;
  if (syscall(SYS_ftruncate, log, 0L) != 0) _exit(86);
  if (known) {
    for (char* line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
      char* kept = strrchr(line, '\t') + 1;
      if (strstr(kept, "/.power/keep_") != NULL) syscall(SYS_unlinkat, AT_FDCWD, kept, 0);
    }
  }
  free(text);
}

void power_synced(int fd) {
  struct stat status;
  if (!tracked(fd, &status)) return;
  const int log = locked_log(S_ISDIR(status.st_mode) ? 'd' : 'f', status.st_ino);
  if (S_ISDIR(status.st_mode))
    let_go(log);
  else if (syscall(SYS_ftruncate, log, 0L) != 0)
    _exit(86);
  close(log);
}
