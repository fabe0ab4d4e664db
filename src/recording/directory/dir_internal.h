/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations shared by the files that implement dir.h. */
#ifndef GT_RECORDING_DIRECTORY_DIR_INTERNAL_H
#define GT_RECORDING_DIRECTORY_DIR_INTERNAL_H

#include "recording/directory/dir.h"
#include "recording/directory/skipped.h"

enum { GT_UFTRACE_FILE_MAX = 4096 + 300 };
/* Bytes of a text file that is read back, at most: ours are smaller. */
#define GT_UFTRACE_TEXT_MAX ((size_t)1 << 30)

/* The file with the names of tasks: see dir.c. */
#define GT_UFTRACE_NAMES "perf-cpu0.dat"

/* DIR/NAME into out, which has GT_UFTRACE_FILE_MAX bytes; returns out. */
const char *gt_uftrace_dir_file(const struct gt_uftrace_dir *d, const char *name, char *out);

/* Takes the lock of all read-and-replace steps, an flock on the directory; the result is the
 * argument of _unlock. GT_E_IO, GT_E_NOT_FOUND. */
int gt_uftrace_dir_lock(const struct gt_uftrace_dir *d, struct gt_error *err);
void gt_uftrace_dir_unlock(int lock);

/* The tids of task.txt, each once, in the order of the file; the caller frees *tids. A last line
 * without a newline is skipped. GT_E_FORMAT, GT_E_NOMEM, and the errors of gt_file_read. */
int gt_uftrace_dir_read_tids(const struct gt_uftrace_dir *d, uint32_t **tids, size_t *n,
                             struct gt_error *err);

/* Returns the feature bits that info must have for the files in the directory. */
uint64_t gt_uftrace_dir_features(const struct gt_uftrace_dir *d);

/* put_info with the lock held. */
int gt_uftrace_dir_write_info(const struct gt_uftrace_dir *d, const struct gt_uftrace_info *info,
                              struct gt_error *err);
/* GT_E_NOT_FOUND, or an error of gt_file_read or gt_uftrace_info_read. */
int gt_uftrace_dir_read_info(const struct gt_uftrace_dir *d, struct gt_uftrace_info *out,
                             struct gt_error *err);

/* Reads a record as gt_uftrace_record_read does and skips its payload, or the values of a call;
 * `values` is that of the file so far. It needs GT_UFTRACE_RECORD_LONGEST bytes, where there are as
 * many: with the two records behind it. `more` on an event that is not a known one is
 * GT_E_FORMAT. On failure nothing is consumed. */
enum { GT_UFTRACE_RECORD_LONGEST = 3 * GT_UFTRACE_RECORD_SIZE + GT_SKIPPED_MOST };
int gt_uftrace_record_take(struct gt_bytes_reader *r, struct gt_uftrace_skipped *values,
                           struct gt_uftrace_record *out);

/* The offset after the records read so far, and the file's path for messages. */
uint64_t gt_uftrace_dat_offset(const struct gt_uftrace_dat *dat);
const char *gt_uftrace_dat_path(const struct gt_uftrace_dat *dat);

/* Rewrites task.txt if it has unreadable lines or lacks one of `tids` (`first` has their first
 * times), and adds missing maps of its sessions. The lock must be held. `program` is set to the
 * program of the first session; without a session it keeps the caller's value. */
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
/* Repairs cut or damaged maps, symbols, source lines and statistics. The lock must not be held:
 * writing symbols takes it. Returns the first error, after all files were tried. */
int gt_uftrace_dir_repair_names(const struct gt_uftrace_dir *d,
                                const struct gt_uftrace_repair_options *opt,
                                struct gt_uftrace_repair_stats *stats, struct gt_error *err);
/* Counts a repaired text file and calls opt->report. */
void gt_uftrace_repair_report(const struct gt_uftrace_repair_options *opt,
                              struct gt_uftrace_repair_stats *stats, const char *file,
                              const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
