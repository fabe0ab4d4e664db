/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files that make up dir.h share. */
#ifndef GT_FORMAT_UFTRACE_DIR_INTERNAL_H
#define GT_FORMAT_UFTRACE_DIR_INTERNAL_H

#include "format/uftrace/dir.h"

enum { GT_UFTRACE_FILE_MAX = 4096 + 300 };
/* Of a text file that is read back: more is not ours. */
#define GT_UFTRACE_TEXT_MAX ((size_t)1 << 30)

/* The names of tasks: see dir_names.c. */
#define GT_UFTRACE_NAMES "perf-cpu0.dat"

/* DIR/NAME into out, which has GT_UFTRACE_FILE_MAX bytes; returns out. */
const char *gt_uftrace_dir_file(const struct gt_uftrace_dir *d, const char *name, char *out);

/* The lock of all read-and-replace steps, an flock on the directory; to be given to _unlock.
 * GT_E_IO, GT_E_NOT_FOUND. */
int gt_uftrace_dir_lock(const struct gt_uftrace_dir *d, struct gt_error *err);
void gt_uftrace_dir_unlock(int lock);

/* The tids of task.txt, each once, in the order of the file; the caller frees *tids. A last line
 * without a newline is passed over. GT_E_FORMAT, GT_E_NOMEM, and those of gt_file_read. */
int gt_uftrace_dir_read_tids(const struct gt_uftrace_dir *d, uint32_t **tids, size_t *n,
                             struct gt_error *err);

/* Feature bits that info must have because of files that are there. */
uint64_t gt_uftrace_dir_features(const struct gt_uftrace_dir *d);

/* put_info with the lock held. */
int gt_uftrace_dir_write_info(const struct gt_uftrace_dir *d, const struct gt_uftrace_info *info,
                              struct gt_error *err);
/* GT_E_NOT_FOUND, or an error of gt_file_read or gt_uftrace_info_read. */
int gt_uftrace_dir_read_info(const struct gt_uftrace_dir *d, struct gt_uftrace_info *out,
                             struct gt_error *err);

/* A record and its payload, which is skipped: the longest, and reading one. As
 * gt_uftrace_record_read; `more` on anything but an event that is known is GT_E_FORMAT. Nothing is
 * consumed on failure. */
enum { GT_UFTRACE_RECORD_LONGEST = GT_UFTRACE_RECORD_SIZE + 16 };
int gt_uftrace_record_take(struct gt_reader *r, struct gt_uftrace_record *out);

/* Bytes of the whole records read so far, and the file's name for messages. */
uint64_t gt_uftrace_dat_offset(const struct gt_uftrace_dat *dat);
const char *gt_uftrace_dat_path(const struct gt_uftrace_dat *dat);

/* The scan that gt_uftrace_scan makes, record by record: after { 0 } for *s, one step each. On
 * failure *expected says what was expected. s->open is the caller's to free also then. */
int gt_uftrace_scan_step(struct gt_uftrace_scan *s, size_t *room,
                         const struct gt_uftrace_record *rec, const char **expected);

/* Rewrites task.txt where it has lines that cannot be read or lacks a tid of tids (with its first
 * time), and adds the maps that its sessions lack. With the lock held. program: of the first
 * session, filled; the caller's fallback where there is none. */
struct gt_uftrace_task_repair {
    const struct gt_uftrace_repair_options *opt; /* may be NULL */
    struct gt_uftrace_repair_stats *stats;
    const uint32_t *tids;
    const uint64_t *first;
    size_t n;
    uint64_t dropped, added; /* lines */
    char program[GT_UFTRACE_PATH_MAX];
};
int gt_uftrace_dir_repair_tasks(const struct gt_uftrace_dir *d, struct gt_uftrace_task_repair *r,
                                struct gt_error *err);
/* Mends maps, symbols, source lines and statistics that are cut or damaged; without the
 * lock, which putting symbols takes. The first error, after all was tried. */
int gt_uftrace_dir_repair_names(const struct gt_uftrace_dir *d,
                                const struct gt_uftrace_repair_options *opt,
                                struct gt_uftrace_repair_stats *stats, struct gt_error *err);
/* A text file was mended: counts it, and says it where opt has who listens. */
void gt_uftrace_repair_tell(const struct gt_uftrace_repair_options *opt,
                            struct gt_uftrace_repair_stats *stats, const char *file,
                            const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
