/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A uftrace data directory on disk: creating it, updating its text files during a recording,
 * repairing it after a kill, reading its records.
 *
 * The handle is only a path: every function opens and closes its files, so any thread or process
 * may call it. Each line of task.txt is appended with one write, other text files are replaced
 * atomically; a reader never sees an incomplete line or file. base/stream/stream.h writes the
 * TID.dat files.
 *
 * After create, add_session, add_task, put_map and put_info a directory is readable, also after a
 * kill.
 */
#ifndef GT_RECORDING_DIRECTORY_DIR_H
#define GT_RECORDING_DIRECTORY_DIR_H

#include "recording/directory/uftrace.h"

struct gt_uftrace_dir {
    char path[4000]; /* absolute, so that a guest's chdir does not matter */
};

/* Makes the directory. If the path exists and is an empty directory, it is used; uftrace data is
 * moved to PATH.old, and uftrace data at PATH.old is removed before. Anything else is left alone:
 * GT_E_EXISTS; a directory that is recorded or changed as well: GT_E_BUSY. GT_E_IO, GT_E_NOT_FOUND
 * (no parent directory), GT_E_RANGE (path too long). */
int gt_uftrace_dir_create(struct gt_uftrace_dir *d, const char *path, struct gt_error *err);

/* Checks the path without changing anything: GT_E_EXISTS, GT_E_BUSY and GT_E_RANGE as there.
 *
 */
int gt_uftrace_dir_check(const char *path, struct gt_error *err);
/* Opens a directory that another process made, to continue it (after fork or exec). GT_E_NOT_FOUND,
 * GT_E_IO, GT_E_FORMAT (a directory with files, but not uftrace data). */
int gt_uftrace_dir_open(struct gt_uftrace_dir *d, const char *path, struct gt_error *err);

/* ---- text files by name: all that a recording has, beside its records, is written here ------ */

/* Replaces the file. Errors of gt_file_replace_text. */
int gt_uftrace_dir_put_text(const struct gt_uftrace_dir *d, const char *name,
                            const struct gt_text *t, struct gt_error *err);
/* Appends to it, with one write; makes it if it is not there. GT_E_NOMEM if the text's `failed` is
 * set; errors of gt_file_append. */
int gt_uftrace_dir_add_text(const struct gt_uftrace_dir *d, const char *name,
                            const struct gt_text *t, struct gt_error *err);
/* Errors of gt_file_read; the caller frees *data, which is NULL after one. */
int gt_uftrace_dir_read_text(const struct gt_uftrace_dir *d, const char *name, size_t limit,
                             char **data, size_t *size, struct gt_error *err);

/* ---- what it has ---------------------------------------------------------------------------- */

/* Append lines to task.txt: see struct gt_uftrace_task. sid: 16 hex digits. Errors of
 * gt_uftrace_task_write and gt_file_append. */
int gt_uftrace_dir_add_session(const struct gt_uftrace_dir *d, uint64_t time, uint32_t pid,
                               const char *sid, const char *exename, struct gt_error *err);
int gt_uftrace_dir_add_task(const struct gt_uftrace_dir *d, uint64_t time, uint32_t tid,
                            uint32_t pid, struct gt_error *err);
int gt_uftrace_dir_add_fork(const struct gt_uftrace_dir *d, uint64_t time, uint32_t child,
                            uint32_t parent, struct gt_error *err);
int gt_uftrace_dir_add_library(const struct gt_uftrace_dir *d, uint64_t time, uint32_t tid,
                               const char *sid, uint64_t base, const char *path,
                               struct gt_error *err);

/* Names a task (15 bytes are kept); readers show its last name. info then needs
 * GT_UFTRACE_FEAT_PERF_EVENT, which put_info adds. Errors of gt_file_append. */
int gt_uftrace_dir_add_name(const struct gt_uftrace_dir *d, uint64_t time, uint32_t tid,
                            uint32_t pid, const char *name, struct gt_error *err);

/* Replaces sid-SID.map. Errors of gt_uftrace_map_write and gt_file_replace. */
int gt_uftrace_dir_put_map(const struct gt_uftrace_dir *d, const char *sid,
                           const struct gt_uftrace_mapping *map, size_t n, struct gt_error *err);

/* Replaces the module's symbol file: BASE.sym if that does not exist or is this module's, else
 * BASE-XXXX.sym, where XXXX is the first four digits of its build-id or, without one, the sum of
 * its path's bytes: readers look there for a module whose path or build-id is not that of BASE.sym.
 * So the map must have the same path and build-id. GT_E_EXISTS: a third module has that name. */
int gt_uftrace_dir_put_symbols(const struct gt_uftrace_dir *d,
                               const struct gt_uftrace_module *module,
                               const struct gt_uftrace_symbol *sym, size_t n, struct gt_error *err);
/* The same for BASE.dbg; the symbols must have been put before. */
int gt_uftrace_dir_put_debug(const struct gt_uftrace_dir *d, const struct gt_uftrace_module *module,
                             const struct gt_uftrace_dbg *item, size_t n, struct gt_error *err);
/* Names a user event (id >= GT_UFTRACE_EV_USER, "provider:name") in events.txt, once. The info then
 * needs GT_UFTRACE_FEAT_EVENT, which put_info adds. */
int gt_uftrace_dir_add_event(const struct gt_uftrace_dir *d, uint32_t id, const char *name,
                             struct gt_error *err);

/* Replaces info. taskinfo is taken from task.txt (info->tids is ignored), under a lock on the
 * directory, so that the last of several processes writes all tasks; max_stack is never less than
 * that of the existing info. Errors of gt_uftrace_info_write, gt_file_replace and
 * gt_uftrace_task_read. */
int gt_uftrace_dir_put_info(const struct gt_uftrace_dir *d, const struct gt_uftrace_info *info,
                            struct gt_error *err);

/* ---- repair -------------------------------------------------------------------------------- */

struct gt_uftrace_lost {
    uint32_t tid;
    uint64_t records;
};
struct gt_uftrace_scan;
/* Where a repair finds records and adds them, in place of TID.dat files; then the directory's path
 * must be absolute, and the directory may have nothing of uftrace's. */
struct gt_uftrace_repair_records {
    /* As gt_uftrace_dat_list. */
    int64_t (*list)(void *self, uint32_t **tids, struct gt_error *err);
    /* As gt_uftrace_scan, of all records of a task; the caller frees out->open in any case. */
    int (*scan)(void *self, uint32_t tid, struct gt_uftrace_scan *out, struct gt_error *err);
    /* Appends records of one time to a task that was scanned. */
    int (*add)(void *self, uint32_t tid, uint64_t time, const uint64_t *words, size_t n,
               struct gt_error *err);
    void *self;
};
struct gt_uftrace_repair_options {
    const struct gt_uftrace_lost
        *lost; /* streams that lost records at their end: repair adds an event */
    size_t n_lost;
    const struct gt_uftrace_repair_records *records; /* NULL: TID.dat files */
    const char *exename; /* program name for a missing info; NULL: that of the first session */
    bool names;          /* repair maps, symbols, source lines and statistics as well */
    /* Called for each repaired text file with its name and a phrase on the damage and the repair.
     * NULL: no call. */
    void (*report)(void *self, const char *file, const char *what);
    /* Writes the module's symbols again (gt_uftrace_dir_put_symbols), from its program. False: the
     * program is not available. NULL: keep the symbols that can still be read. */
    bool (*symbols)(void *self, const struct gt_uftrace_dir *d, const struct gt_uftrace_module *m);
    void *self;
};
struct gt_uftrace_repair_stats {
    uint64_t files;         /* TID.dat files that were scanned */
    uint64_t records;       /* records in those files before the repair */
    uint64_t cut;           /* bytes of partial records cut off */
    uint64_t closed;        /* EXIT records added */
    uint64_t events;        /* loss events added */
    uint64_t lines_dropped; /* unreadable lines removed from task.txt */
    uint64_t lines_added;   /* lines added to task.txt, for TID.dat files without one */
    uint64_t texts;         /* text files repaired */
    uint32_t depth;         /* depth of the deepest stack */
};

/* Repairs a directory after a kill, a crash or a full disk: cuts partial records, ends an open
 * sched-out, adds the EXITs of open frames (all at the file's last time), and repairs text files
 * that are missing, cut or damaged: info, task.txt, maps, symbols, source lines, statistics. Call
 * it after gt_streams_recover, when no process records there any more. Idempotent: a second call
 * changes nothing. An invalid TID.dat (bad record, decreasing time, EXIT without its ENTRY) is left
 * alone and reported with its offset; the rest is repaired and the first error is returned. opt and
 * stats may be NULL. GT_E_NOT_FOUND, GT_E_IO, GT_E_FORMAT, GT_E_NOMEM. */
int gt_uftrace_dir_repair(const char *path, const struct gt_uftrace_repair_options *opt,
                          struct gt_uftrace_repair_stats *stats, struct gt_error *err);

/* The same for one task whose stream lost records at its end, while other streams may be written:
 * ends its calls and marks the loss with GT_UFTRACE_EV_LOST. The caller writes info. `records`
 * NULL: TID.dat files. */
int gt_uftrace_dir_end_task(const struct gt_uftrace_dir *d,
                            const struct gt_uftrace_repair_records *records, uint32_t tid,
                            struct gt_error *err);

/* The result of scanning the records of one file. */
struct gt_uftrace_scan {
    uint64_t records;
    uint64_t first_time, last_time;
    uint64_t whole;  /* bytes of whole records */
    uint32_t depth;  /* deepest stack */
    uint32_t n_open; /* ENTRY records without EXIT */
    uint64_t
        *open; /* second words of the missing EXITs, innermost last; the caller frees the array */
    bool scheduled_out; /* the last scheduling event is a GT_UFTRACE_EV_SCHED_OUT */
    bool lost_event;    /* only EXITs come after the last GT_UFTRACE_EV_LOST */
};
/* gt_uftrace_scan record by record: begin with *s = { 0 } and *room = 0, and call this for each
 * record. On failure *expected is set to the expected form. The caller frees s->open in any case.
 */
int gt_uftrace_scan_step(struct gt_uftrace_scan *s, size_t *room,
                         const struct gt_uftrace_record *rec, const char **expected);
/* Scans records in file order; err has the offset. The stack is bounded (GT_UFTRACE_SCAN_DEPTH).
 * GT_E_FORMAT, GT_E_RANGE (too deep), GT_E_NOMEM; out->open needs free() only after success. */
#define GT_UFTRACE_SCAN_DEPTH (1u << 24)
int gt_uftrace_scan(const void *data, size_t size, struct gt_uftrace_scan *out,
                    struct gt_error *err);

/* ---- reading records ----------------------------------------------------------------------- */

struct gt_uftrace_dat; /* one open TID.dat */

/* GT_E_NOT_FOUND, GT_E_IO, GT_E_NOMEM. */
int gt_uftrace_dat_open(const char *dir, uint32_t tid, struct gt_uftrace_dat **out,
                        struct gt_error *err);
/* Reads the next record: 1, or 0 at the end; GT_E_TRUNC, GT_E_FORMAT, GT_E_IO. Payloads of known
 * events and values of calls (skipped.h) are skipped; `more` on any other record is GT_E_FORMAT.
 * After an error every further call returns it. */
int gt_uftrace_dat_next(struct gt_uftrace_dat *dat, struct gt_uftrace_record *out,
                        struct gt_error *err);
void gt_uftrace_dat_close(struct gt_uftrace_dat *dat);
/* Lists the tids of a directory's TID.dat files, sorted; the caller frees *tids. Returns their
 * number, or GT_E_*. */
int64_t gt_uftrace_dat_list(const char *dir, uint32_t **tids, struct gt_error *err);

#endif
