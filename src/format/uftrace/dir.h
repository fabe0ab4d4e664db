/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A uftrace data directory on disk: making one, keeping its text files current while it is
 * recorded, repairing what a kill left, reading its records back.
 *
 * The handle is only a path: every call opens and closes its files, so any thread or process may
 * make it. Lines are appended to task.txt with one write each, other text files are replaced whole;
 * a reader never sees half of one. The TID.dat files belong to base/stream/stream.h.
 *
 * A directory that ends with create, add_session, add_task, put_map and put_info is readable from
 * then on, also after a kill.
 */
#ifndef GT_FORMAT_UFTRACE_DIR_H
#define GT_FORMAT_UFTRACE_DIR_H

#include "format/uftrace/uftrace.h"

struct gt_uftrace_dir {
    char path[4000]; /* absolute, so that a guest's chdir does not matter */
};

/* Makes the directory. In the way may be: an empty directory (used as it is) or uftrace data, which
 * is moved to PATH.old; uftrace data that is at PATH.old already is removed. Anything else is left
 * alone: GT_E_EXISTS. GT_E_IO, GT_E_NOT_FOUND (the parent), GT_E_RANGE (path too long). */
int gt_uftrace_dir_create(struct gt_uftrace_dir *d, const char *path, struct gt_error *err);

/* Changes nothing. GT_E_EXISTS where gt_uftrace_dir_create would leave alone what is at the path;
 * GT_E_RANGE. */
int gt_uftrace_dir_check(const char *path, struct gt_error *err);
/* Continues one that another process made (after fork or exec). GT_E_NOT_FOUND, GT_E_IO,
 * GT_E_FORMAT (a directory with files, but not uftrace data). */
int gt_uftrace_dir_open(struct gt_uftrace_dir *d, const char *path, struct gt_error *err);

/* Lines of task.txt: see struct gt_uftrace_task. sid: 16 hex digits. Errors of
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

/* Names a task (15 bytes are kept); the last name is the one shown. info then needs
 * GT_UFTRACE_FEAT_PERF_EVENT, which put_info adds by itself. Errors of gt_file_append. */
int gt_uftrace_dir_add_name(const struct gt_uftrace_dir *d, uint64_t time, uint32_t tid,
                            uint32_t pid, const char *name, struct gt_error *err);

/* Replaces sid-SID.map. Errors of gt_uftrace_map_write and gt_file_replace. */
int gt_uftrace_dir_put_map(const struct gt_uftrace_dir *d, const char *sid,
                           const struct gt_uftrace_mapping *map, size_t n, struct gt_error *err);

/* Replaces the module's symbol file: BASE.sym, where that is free or this very module's, else
 * BASE-XXXX.sym, XXXX being the first four digits of its build-id, or without one the sum of its
 * path's bytes: readers look there for a module whose path or build-id is not that of BASE.sym. So
 * the map must say the same path and build-id. GT_E_EXISTS: a third module has that name too. */
int gt_uftrace_dir_put_symbols(const struct gt_uftrace_dir *d,
                               const struct gt_uftrace_module *module,
                               const struct gt_uftrace_symbol *sym, size_t n, struct gt_error *err);
/* The same for BASE.dbg; the symbols must have been put before. */
int gt_uftrace_dir_put_debug(const struct gt_uftrace_dir *d, const struct gt_uftrace_module *module,
                             const struct gt_uftrace_dbg *item, size_t n, struct gt_error *err);
/* Names a user event (id >= GT_UFTRACE_EV_USER, "provider:name") in events.txt, once. The info then
 * needs GT_UFTRACE_FEAT_EVENT, which put_info adds by itself. */
int gt_uftrace_dir_add_event(const struct gt_uftrace_dir *d, uint32_t id, const char *name,
                             struct gt_error *err);

/* Replaces info. taskinfo is taken from task.txt (info->tids is ignored), under a lock on the
 * directory, so that of several processes the last one writes all tasks; max_stack never falls
 * below what the info in place says. Errors of gt_uftrace_info_write, gt_file_replace and
 * gt_uftrace_task_read. */
int gt_uftrace_dir_put_info(const struct gt_uftrace_dir *d, const struct gt_uftrace_info *info,
                            struct gt_error *err);

/* ---- repair -------------------------------------------------------------------------------- */

struct gt_uftrace_lost {
    uint32_t tid;
    uint64_t records;
};
struct gt_uftrace_repair_options {
    const struct gt_uftrace_lost
        *lost; /* streams that lost records at their end: an event is put */
    size_t n_lost;
    const char *exename; /* for an info that is missing; NULL: the first session's */
    bool names;          /* maps, symbols, source lines and statistics are looked at as well */
    /* Text files that are mended: the file's name, and what was wrong and is now. NULL: nobody. */
    void (*tell)(void *self, const char *file, const char *what);
    /* Puts the module's symbols anew (gt_uftrace_dir_put_symbols), from its program. False: there
     * is no such program. NULL: what can still be read of them is kept. */
    bool (*symbols)(void *self, const struct gt_uftrace_dir *d, const struct gt_uftrace_module *m);
    void *self;
};
struct gt_uftrace_repair_stats {
    uint64_t files;         /* TID.dat files looked at */
    uint64_t records;       /* in them, before the repair */
    uint64_t cut;           /* bytes of partial records cut off */
    uint64_t closed;        /* EXITs added */
    uint64_t events;        /* loss events added */
    uint64_t lines_dropped; /* of task.txt, that could not be read */
    uint64_t lines_added;   /* to task.txt, for TID.dat files that it lacked */
    uint64_t texts;         /* text files mended */
    uint32_t depth;         /* deepest stack seen */
};

/* Makes a directory whole after a kill, a crash or a full disk: cuts partial records, ends an open
 * sched-out, adds the EXITs of frames still open (all at the file's last time), and mends text
 * files that are missing, cut or damaged: info, task.txt, maps, symbols, source lines, statistics.
 * To be called when nobody records there any more, after gt_streams_recover. Idempotent: a second
 * call changes nothing. A TID.dat that is not what it should be (bad record, time that falls, EXIT
 * without its ENTRY) is left alone and reported with its offset; the rest is still repaired and the
 * first error is returned. opt and stats may be NULL. GT_E_NOT_FOUND, GT_E_IO, GT_E_FORMAT,
 * GT_E_NOMEM. */
int gt_uftrace_dir_repair(const char *path, const struct gt_uftrace_repair_options *opt,
                          struct gt_uftrace_repair_stats *stats, struct gt_error *err);

/* The same for one TID.dat whose stream lost records at its end, while others may still be written:
 * its calls are ended and the loss is marked by GT_UFTRACE_EV_LOST; info is the caller's to put. */
int gt_uftrace_dir_end_task(const struct gt_uftrace_dir *d, uint32_t tid, struct gt_error *err);

/* What repair knows of one file's bytes: pure, for tests. */
struct gt_uftrace_scan {
    uint64_t records;
    uint64_t first_time, last_time;
    uint64_t whole;     /* bytes of whole records */
    uint32_t depth;     /* deepest stack */
    uint32_t n_open;    /* ENTRYs without EXIT */
    uint64_t *open;     /* the words of the EXITs that are due, innermost last; caller frees */
    bool scheduled_out; /* the last scheduling event is GT_UFTRACE_EV_SCHED_OUT */
    bool lost_event;    /* only EXITs come after the last GT_UFTRACE_EV_LOST */
};
/* Scans records in file order; err says the offset. The stack is bounded (GT_UFTRACE_SCAN_DEPTH).
 * GT_E_FORMAT, GT_E_RANGE (too deep), GT_E_NOMEM; out->open needs free() only after success. */
#define GT_UFTRACE_SCAN_DEPTH (1u << 24)
int gt_uftrace_scan(const void *data, size_t size, struct gt_uftrace_scan *out,
                    struct gt_error *err);

/* ---- reading records ----------------------------------------------------------------------- */

struct gt_uftrace_dat; /* one open TID.dat */

/* GT_E_NOT_FOUND, GT_E_IO, GT_E_NOMEM. */
int gt_uftrace_dat_open(const char *dir, uint32_t tid, struct gt_uftrace_dat **out,
                        struct gt_error *err);
/* 1 and a record, 0 at the end, GT_E_TRUNC, GT_E_FORMAT, GT_E_IO. Payloads of events that are known
 * are skipped; any other `more` is GT_E_FORMAT. After an error every further call returns it. */
int gt_uftrace_dat_next(struct gt_uftrace_dat *dat, struct gt_uftrace_record *out,
                        struct gt_error *err);
void gt_uftrace_dat_close(struct gt_uftrace_dat *dat);
/* The tids of a directory's TID.dat files, sorted; the caller frees *tids. The number, or GT_E_*.
 */
int64_t gt_uftrace_dat_list(const char *dir, uint32_t **tids, struct gt_error *err);

#endif
