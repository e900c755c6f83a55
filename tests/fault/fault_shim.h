/* SPDX-License-Identifier: Apache-2.0 */
/* Between the two parts of the preloaded library: faults by rule (fault_shim.c), and the record from which
 * the state after a loss of power is made (fault_power.c). */
#ifndef FAULT_SHIM_H
#define FAULT_SHIM_H

#include <stddef.h>
#include <sys/types.h>

/* The path of an open regular file or directory; 0 when it has none. */
int shim_path_of(int fd, char* path, size_t room);

/* FAULT_POWER=DIRECTORY: files in it are recorded. What was done to a file and not yet made durable stands in
 * DIRECTORY/.power; tests/fault/_power.py takes it back. */
int power_tracks(const char* path);
/* Around a change of a file's bytes: it becomes one with its record. Returns what power_end wants; -1: not
 * recorded. */
int power_begin_write(int fd, off_t offset, size_t bytes);
int power_begin_truncate(int fd, off_t length);
void power_end(int lock);
/* Before a name is replaced or removed, after one was made. */
void power_linked(const char* path);
int power_begin_rename(const char* from, const char* to);
int power_begin_unlink(const char* path);
void power_created(const char* path, const char* what);
/* All that was done to the file (or directory) so far is durable. */
void power_synced(int fd);

#endif
