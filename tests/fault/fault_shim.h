/* SPDX-License-Identifier: Apache-2.0 */
/* Interface between the two parts of the preloaded library: faults by rule (fault_shim.c), and
   the record from which the state after a loss of power is derived (fault_power.c). */
#ifndef FAULT_SHIM_H
#define FAULT_SHIM_H

#include <stddef.h>
#include <sys/types.h>

/* The path of an open regular file or directory; 0 if it has none. */
int shim_path_of(int fd, char* path, size_t room);

/* FAULT_POWER=DIRECTORY: files in it are recorded. Changes that are not durable yet are stored
   in DIRECTORY/.power; tests/fault/_power.py takes them back. */
int power_tracks(const char* path);
/* Called around a change of a file's bytes, which is recorded atomically. Returns the argument
   of power_end; -1: not recorded. */
int power_begin_write(int fd, off_t offset, size_t bytes);
int power_begin_truncate(int fd, off_t length);
void power_end(int lock);
/* Called before a name is replaced or removed, and after one was created. */
void power_linked(const char* path);
int power_begin_rename(const char* from, const char* to);
int power_begin_unlink(const char* path);
void power_created(const char* path, const char* what);
/* All changes to the file (or directory) so far are durable. */
void power_synced(int fd);

#endif
