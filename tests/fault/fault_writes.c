/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into a server: the write after FAULT_AFTER bytes to a *.part file, and all later ones, fail
 * with errno FAULT_ERRNO. With FAULT_WRITE_MS every write to such a file takes so long. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

typedef ssize_t (*pwrite_function)(int, const void*, size_t, off_t);

static int is_part_file(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 5) return 0;
  path[length] = '\0';
  return strcmp(path + length - 5, ".part") == 0;
}

static ssize_t write_or_fail(const char* name, int fd, const void* data, size_t bytes, off_t offset) {
  static _Atomic size_t written;
  const char* limit = getenv("FAULT_AFTER");
  const char* error = getenv("FAULT_ERRNO");
  const char* pause_ms = getenv("FAULT_WRITE_MS");
  if (pause_ms != NULL && is_part_file(fd)) usleep((useconds_t)atoi(pause_ms) * 1000);
  if (limit != NULL && error != NULL && is_part_file(fd) &&
      atomic_fetch_add(&written, bytes) + bytes > strtoul(limit, NULL, 10)) {
    errno = atoi(error);
    return -1;
  }
  return ((pwrite_function)dlsym(RTLD_NEXT, name))(fd, data, bytes, offset);
}

ssize_t pwrite(int fd, const void* data, size_t bytes, off_t offset) {
  return write_or_fail("pwrite", fd, data, bytes, offset);
}
ssize_t pwrite64(int fd, const void* data, size_t bytes, off_t offset) {
  return write_or_fail("pwrite64", fd, data, bytes, offset);
}
