/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text files that are built in memory and reach the disk complete, and the few directory operations
 * around them.
 *
 * Nothing here uses stdio: a child that a traced process forks at the wrong moment must not flush
 * somebody's half-written buffer into whatever file has that descriptor number there. Every
 * function opens and closes its own descriptors (close-on-exec), so a thread with a descriptor
 * table of its own may call it.
 */
#ifndef GT_BASE_FILE_H
#define GT_BASE_FILE_H

#include "base/error.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes a new file beside path (".NAME.PID.N.tmp") and renames it over path: a reader sees the old
 * content or the new one. On failure the old file stays and the new one is removed. GT_E_IO,
 * GT_E_NOT_FOUND (no such directory), GT_E_RANGE (path too long). */
int gt_file_replace(const char *path, const void *data, size_t size, struct gt_error *err);
/* The same with a text; GT_E_NOMEM if the text's `failed` is set. The caller keeps the text. */
int gt_file_replace_text(const char *path, const struct gt_text *t, struct gt_error *err);

/* Removes from a directory what a process that was killed has left of gt_file_replace; files of
 * processes that run stay. GT_E_IO, GT_E_NOT_FOUND, GT_E_NOMEM. */
int gt_file_remove_left(const char *dir, struct gt_error *err);

/* The same of what was to get that path, or was taken away from it, a file or a directory of files:
 * ".NAME.PID.tmp" and ".NAME.PID.gone" beside it. What cannot be removed stays. */
void gt_file_remove_left_beside(const char *path);

/* Appends with one write(2) to a file opened with O_APPEND, which is created if it does not exist:
 * lines of several processes do not mix. If a full disk takes only a part, the part is cut off
 * again. GT_E_IO, GT_E_NOT_FOUND. */
int gt_file_append(const char *path, const void *data, size_t size, struct gt_error *err);

/* Reads a whole file of at most limit bytes; (*data)[*size] is 0; the caller frees *data.
 * GT_E_NOT_FOUND, GT_E_IO (also: not a regular file), GT_E_RANGE (longer than limit), GT_E_NOMEM.
 *
 */
int gt_file_read(const char *path, size_t limit, char **data, size_t *size, struct gt_error *err);

/* mkdir(2) with mode 0777 and the umask: 0, GT_E_EXISTS, GT_E_NOT_FOUND (no parent directory),
 * GT_E_IO. */
int gt_file_make_dir(const char *path, struct gt_error *err);

/* Removes a directory and the files in it. A directory that holds another directory is refused and
 * left unchanged: GT_E_EXISTS. Symbolic links are removed, not followed. GT_E_NOT_FOUND, GT_E_IO.
 *
 */
int gt_file_remove_dir(const char *path, struct gt_error *err);

/* An open file is written by this process alone, until it is closed: an flock(). GT_E_BUSY: another
 * one writes it; where there are no locks, 0. */
int gt_file_take(int fd, const char *path, struct gt_error *err);

/* rename(2) of a file that replaces nothing: 0, EEXIST or another errno value. */
int gt_file_move_new(const char *from, const char *to);

/* rename(2); `to` must not exist, or be an empty directory. GT_E_IO, GT_E_NOT_FOUND, GT_E_EXISTS.
 *
 */
int gt_file_move_dir(const char *from, const char *to, struct gt_error *err);

/* What the kernel says of a process of this machine, or of a thread (/proc/PID/stat). */

struct gt_file_process_stat {
    char state;      /* 'R', 'S', ..., 'Z': it has ended, its parent has not waited for it */
    unsigned parent; /* 0: not in its PID namespace */
    unsigned long long began; /* clock ticks after the machine */
};

/* False: there is no such process, or it cannot be known; *out is 0 then. Allocates nothing. */
bool gt_file_process_stat(unsigned pid, struct gt_file_process_stat *out);

#endif
