/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The working directory of a compact file: see work.h. */
#include "calls/file/work.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/stream/stream.h"
#include "calls/file/file.h"
#include "calls/file/gather.h"
#include "calls/file/set.h"
#include "calls/file/work_parts.h"
#include "calls/file/writer.h"
#include "recording/texts/dir_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_ROOM = 4096 + 64 };

/* ---- names --------------------------------------------------------------------------------- */

int gt_compact_work_name(const char *path, struct gt_compact_work *out, struct gt_error *err)
{
    char folder[PATH_MAX], real[PATH_MAX];
    out->lock = -1;
    out->made = out->restored = out->flight = false;
    out->snapshot[0] = '\0';
    out->recovered = out->records = 0;
    out->limit = 0;
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t n = slash == path ? 1 : slash ? (size_t)(slash - path) : 0;
    if (!*base || n >= sizeof folder)
        return gt_error_set(err, *base ? GT_E_RANGE : GT_E_USAGE, "%.200s: %s", path,
                            *base ? "path too long" : "not the name of a file");
    snprintf(folder, sizeof folder, "%.*s", n ? (int)n : 1, n ? path : ".");
    if (!realpath(folder, real))
        return gt_error_errno(err, errno, "%s: cannot be made in %s", path, folder);
    const char *between = strcmp(real, "/") == 0 ? "" : "/";
    if (snprintf(out->file, sizeof out->file, "%s%s%s", real, between, base) >=
            (int)sizeof out->file ||
        snprintf(out->dir.path, sizeof out->dir.path, "%s%s%s" GT_COMPACT_WORK_ENDING, real,
                 between, base) >= (int)sizeof out->dir.path)
        return gt_error_set(err, GT_E_RANGE, "%.200s...: path too long", path);
    return 0;
}

bool gt_compact_work_exists(const struct gt_compact_work *w)
{
    return gt_recording_dir_lock_is_there(w->dir.path);
}

/* ---- making room --------------------------------------------------------------------------- */

static bool is_free(const char *path)
{
    struct stat st;
    return lstat(path, &st) != 0;
}

static bool is_recording(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && gt_compact_file_check(path, NULL) == 0;
}

static bool is_usable(const struct gt_compact_work *w)
{
    return is_free(w->dir.path) || gt_compact_work_exists(w);
}

/* No process records there. Where a directory is there the lock is held, until *lock is closed. */
static int check_use(const struct gt_compact_work *w, int *lock, struct gt_error *err)
{
    int status = gt_recording_dir_lock_alone(w->dir.path, w->file, lock, err);
    return status == GT_E_NOT_FOUND ? 0 : status;
}

static void end_use(int lock)
{
    if (lock >= 0)
        close(lock);
}

static int check(const struct gt_compact_work *w, const struct gt_compact_work *old,
                 struct gt_error *err)
{
    if (!is_free(w->file) && !is_recording(w->file))
        return gt_error_set(
            err, GT_E_EXISTS,
            "%s: exists and is not a compact recording: it is left alone, name another", w->file);
    if (!is_usable(w))
        return gt_error_set(err, GT_E_EXISTS, "%s: is in the way: it is left alone, name another",
                            w->dir.path);
    if (is_free(w->file))
        return 0;
    if (!is_free(old->file) && !is_recording(old->file))
        return gt_error_set(
            err, GT_E_EXISTS,
            "%s: cannot be moved aside, %s is in the way and is not a compact recording", w->file,
            old->file);
    if (!is_usable(old))
        return gt_error_set(err, GT_E_EXISTS, "%s: cannot be moved aside, %s is in the way",
                            w->file, old->dir.path);
    return 0;
}

/* Both names of PATH and of PATH.old. */
static int name_both(const char *path, struct gt_compact_work *w, struct gt_compact_work *old,
                     struct gt_error *err)
{
    char name[PATH_MAX];
    int status = gt_compact_work_name(path, w, err);
    if (status < 0)
        return status;
    snprintf(name, sizeof name, "%s.old", w->file);
    return gt_compact_work_name(name, old, err);
}

int gt_compact_work_check(const char *path, struct gt_error *err)
{
    struct gt_compact_work w, old;
    int lock = -1, status = name_both(path, &w, &old, err);
    if (status == 0)
        status = check(&w, &old, err);
    if (status == 0)
        status = check_use(&w, &lock, err);
    end_use(lock);
    return status;
}

int gt_compact_work_check_replace(const char *path, struct gt_error *err)
{
    struct gt_compact_work w;
    if (gt_compact_work_name(path, &w, NULL) < 0 || !gt_compact_work_exists(&w))
        return 0;
    return gt_error_set(err, GT_E_BUSY,
                        "%s: is being recorded or changed, or was interrupted: it is left alone, "
                        "name another",
                        path);
}

/* All at once, for others: a kill leaves nothing half. */
int gt_compact_work_remove_dir(const struct gt_compact_work *w, struct gt_error *err)
{
    char aside[NAME_ROOM];
    const char *slash = strrchr(w->dir.path, '/');
    snprintf(aside, sizeof aside, "%.*s/.%s.%d.gone", (int)(slash - w->dir.path), w->dir.path,
             slash + 1, (int)getpid());
    int status = gt_file_move_dir(w->dir.path, aside, err);
    return status < 0 ? status : gt_file_remove_dir(aside, err);
}

/* The recording that is there, to PATH.old. */
static int move_both(const struct gt_compact_work *w, const struct gt_compact_work *old,
                     struct gt_error *err)
{
    bool there = !is_free(w->file), flight = gt_compact_flight_is(w->dir.path);
    int status = 0;
    if (!there && !flight) /* records of a file that somebody has removed */
        return gt_compact_work_exists(w) ? gt_compact_work_remove_dir(w, err) : 0;
    if (gt_compact_work_exists(old))
        status = gt_compact_work_remove_dir(old, err);
    if (status == 0)
        status = gt_compact_work_move_parts(w, old, err);
    if (status == 0 && there && rename(w->file, old->file) != 0)
        status = gt_error_errno(err, errno, "%s: cannot be moved to %s", w->file, old->file);
    if (status == 0 && gt_compact_work_exists(w))
        status = gt_file_move_dir(w->dir.path, old->dir.path, err);
    return status;
}

/* Neither is recorded or changed meanwhile. */
static int move_aside(const struct gt_compact_work *w, const struct gt_compact_work *old,
                      struct gt_error *err)
{
    int lock = -1, old_lock = -1, status = check_use(w, &lock, err);
    if (status == 0)
        status = check_use(old, &old_lock, err);
    if (status == 0)
        status = move_both(w, old, err);
    end_use(lock);
    end_use(old_lock);
    return status;
}

/* ---- users --------------------------------------------------------------------------------- */

int gt_compact_work_enter(struct gt_compact_work *w, struct gt_error *err)
{
    return gt_recording_dir_lock_share(w->dir.path, &w->lock, err);
}

void gt_compact_work_leave(struct gt_compact_work *w)
{
    if (w->lock >= 0)
        close(w->lock);
    w->lock = -1;
}

/* ---- life ---------------------------------------------------------------------------------- */

static int make_dir(struct gt_compact_work *w, struct gt_error *err)
{
    int status = gt_file_make_dir(w->dir.path, err);
    if (status == GT_E_EXISTS) /* somebody else has just made it */
        return gt_error_set(err, GT_E_BUSY, "%s: is in the way; name another", w->dir.path);
    if (status == 0) {
        status = gt_recording_dir_lock_make(w->dir.path, w->file, &w->lock, err);
        if (status < 0)
            rmdir(w->dir.path);
    }
    return status;
}

static int create(const char *path, const struct gt_compact_flight_limit *limit,
                  const struct gt_compact_part *part, struct gt_compact_work *out,
                  struct gt_error *err)
{
    struct gt_compact_work old;
    int status = name_both(path, out, &old, err);
    if (status == 0)
        status = check(out, &old, err);
    if (status == 0)
        status = move_aside(out, &old, err);
    if (status == 0)
        status = make_dir(out, err);
    if (status == 0) {
        out->flight = limit;
        if (limit)
            status = gt_compact_flight_write(out->dir.path, limit, err);
        else
            status = part ? gt_compact_part_create(out->file, part, err)
                          : gt_compact_file_create(out->file, err);
        if (status < 0) {
            gt_file_remove_dir(out->dir.path, NULL);
            gt_compact_work_leave(out);
        }
    }
    return status;
}

int gt_compact_work_create(const char *path, struct gt_compact_work *out, struct gt_error *err)
{
    return create(path, NULL, NULL, out, err);
}

int gt_compact_work_create_flight(const char *path, const struct gt_compact_flight_limit *limit,
                                  struct gt_compact_work *out, struct gt_error *err)
{
    return create(path, limit, NULL, out, err);
}

int gt_compact_work_check_set(const char *path, struct gt_error *err)
{
    struct gt_compact_work w;
    int status = gt_compact_work_check(path, err);
    if (status == 0)
        status = gt_compact_work_name(path, &w, err);
    return status < 0 ? status : gt_compact_work_check_parts(&w, err);
}

int gt_compact_work_create_set(const char *path, uint64_t limit, struct gt_compact_work *out,
                               struct gt_error *err)
{
    struct gt_compact_part part = {.number = 1, .limit = limit};
    if (getrandom(&part.set, sizeof part.set, GRND_NONBLOCK) != sizeof part.set)
        part.set = gt_base_clock_monotonic() ^ (uint64_t)getpid() << 32;
    int status = gt_compact_work_check_set(path, err);
    return status < 0 ? status : create(path, NULL, &part, out, err);
}

/* ---- the last one ---------------------------------------------------------------------------- */

bool gt_compact_work_is_last(struct gt_compact_work *w)
{
    return gt_recording_dir_lock_is_last(w->dir.path, w->lock);
}

/* True if there is a pool of records. */
static bool has_pool(const struct gt_compact_work *w)
{
    return gt_recording_dir_lock_has_pool(w->dir.path);
}

/* ---- changes -------------------------------------------------------------------------------- */

enum { OPEN_TRIES = 100 };

/* ---- opening ------------------------------------------------------------------------------- */

/* Complete before it gets its name. */
static int scatter(struct gt_compact_work *w, const struct gt_error_notices *notices,
                   struct gt_error *err)
{
    char aside[NAME_ROOM];
    const char *slash = strrchr(w->dir.path, '/');
    snprintf(aside, sizeof aside, "%.*s/.%s.%d.tmp", (int)(slash - w->dir.path), w->dir.path,
             slash + 1, (int)getpid());
    gt_file_remove_left_beside(w->dir.path);
    gt_file_remove_dir(aside, NULL); /* of a process of this number that was killed */
    int status = gt_file_make_dir(aside, err);
    if (status < 0)
        return status;
    status = gt_compact_scatter(w->file, aside, true, notices, err);
    if (status == 0)
        status = gt_recording_dir_lock_make(aside, w->file, &w->lock, err);
    if (status == 0)
        status = gt_file_move_dir(aside, w->dir.path, err);
    if (status < 0) {
        gt_file_remove_dir(aside, NULL);
        gt_compact_work_leave(w);
    }
    return status;
}

/* FILE is there, or is made. */
static int restore(struct gt_compact_work *w, struct gt_error *err)
{
    if (access(w->file, F_OK) == 0)
        return 0;
    int status = gt_compact_work_restore(w, err);
    w->restored = status == 0;
    if (status < 0)
        gt_compact_work_leave(w);
    return status;
}

static int busy(struct gt_compact_work *w, struct gt_error *err)
{
    gt_compact_work_leave(w);
    return gt_error_set(err, GT_E_BUSY, "%s: another process changes it; wait until that has ended",
                        w->file);
}

/* The directory, which is there or is made of the file. GT_E_NOT_FOUND, GT_E_EXISTS: somebody else
 * has just gathered or made it. */
static int use(struct gt_compact_work *w, bool alone, const struct gt_error_notices *notices,
               struct gt_error *err)
{
    w->made = !gt_compact_work_exists(w);
    if (w->made) {
        int status = scatter(w, notices, err);
        return status == 0 && alone && !gt_compact_work_is_last(w) ? busy(w, err) : status;
    }
    return alone ? gt_recording_dir_lock_alone(w->dir.path, w->file, &w->lock, err)
                 : gt_compact_work_enter(w, err);
}

int gt_compact_work_open(const char *path, bool alone, const struct gt_error_notices *notices,
                         struct gt_compact_work *out, struct gt_error *err)
{
    int status = gt_compact_work_name(path, out, err);
    if (status == 0 && gt_compact_flight_is(out->dir.path))
        return gt_compact_work_open_flight(out, err);
    if (status == 0)
        status = gt_compact_file_check(out->file, err);
    if (status == GT_E_NOT_FOUND && gt_compact_set_highest(out->file).number)
        status = 0;
    if (status < 0)
        return status;
    status = GT_E_NOT_FOUND; /* not for ever */
    for (int tries = 0; tries < OPEN_TRIES && (status == GT_E_NOT_FOUND || status == GT_E_EXISTS);
         tries++)
        status = use(out, alone, notices, err);
    return status < 0 ? status : restore(out, err);
}

/* ---- the last one ---------------------------------------------------------------------------- */

int64_t gt_compact_work_recover(const struct gt_compact_work *w, struct gt_streams_missing *missing,
                                struct gt_error *err)
{
    if (w->flight)
        return w->recovered;
    const struct gt_compact_writer_options o = {.path = w->file, .dir = w->dir.path};
    struct gt_compact_writer *writer;
    int64_t n = gt_compact_writer_create(&o, &writer);
    if (n < 0)
        return gt_error_set(err, (int)n, "%s: out of memory", w->file);
    n = gt_streams_recover_packed(w->dir.path, &gt_compact_packing, writer, missing, err);
    gt_compact_writer_destroy(writer);
    return n;
}

int gt_compact_work_gather(const struct gt_compact_work *w, struct gt_error *err)
{
    int64_t n = has_pool(w) ? gt_compact_work_recover(w, NULL, err) : 0;
    if (n < 0 || has_pool(w))
        return n < 0 ? (int)n : 0;
    int status = gt_compact_work_finish_parts(w, err);
    if (status == 0)
        status = gt_compact_gather(w->dir.path, w->file, w->limit, err);
    return status < 0 ? status : gt_compact_work_remove_dir(w, err);
}

int gt_compact_work_close(struct gt_compact_work *w, bool changed, struct gt_error *err)
{
    int status = 0;
    bool last = gt_compact_work_is_last(w);
    if (last && w->flight)
        status = gt_compact_work_close_flight(w, err);
    else if (last && (changed || !w->made))
        status = gt_compact_work_gather(w, err);
    else if (last)
        status = gt_compact_work_remove_dir(w, err);
    gt_compact_work_leave(w);
    return status;
}

/* ---- snapshots ------------------------------------------------------------------------------ */

enum { PATH_ROOM = 4200, MOST_SNAPSHOTS = 1000000 };

/* ---- names --------------------------------------------------------------------------------- */

/* One that a terminal or a command would take for something else is none. */
static int check_name(const char *name, struct gt_error *err)
{
    for (const char *at = name; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 127)
            return gt_error_set(err, GT_E_USAGE,
                                "byte 0x%02x: expected the name of a file, without control "
                                "characters",
                                (unsigned char)*at);
    if (*name == '-')
        return gt_error_set(err, GT_E_USAGE,
                            "%.255s: expected the name of a file, with no - at its beginning",
                            name);
    if (!*name || strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return gt_error_set(err, GT_E_USAGE,
                            "%.255s: expected the name of a file, without a folder", name);
    return 0;
}

static int move_to_name(const struct gt_compact_work *w, const char *from, const char *name,
                        char to[PATH_ROOM], struct gt_error *err)
{
    const char *slash = strrchr(w->file, '/');
    if (check_name(name, err) < 0)
        return GT_E_USAGE;
    int n = snprintf(to, PATH_ROOM, "%.*s/%s", (int)(slash - w->file), w->file, name);
    int e = n < PATH_ROOM ? gt_file_move_new(from, to) : ENAMETOOLONG;
    if (e == EEXIST)
        return gt_error_set(err, GT_E_EXISTS, "%s exists: it is left alone, name another", to);
    return e ? gt_error_errno(err, e, "%s", to) : 0;
}

static int move_to_next(const struct gt_compact_work *w, const char *from, char to[PATH_ROOM],
                        struct gt_error *err)
{
    int e = EEXIST;
    for (int i = 0; i < MOST_SNAPSHOTS && e == EEXIST; i++) {
        int n = i ? snprintf(to, PATH_ROOM, "%s.%d", w->file, i)
                  : snprintf(to, PATH_ROOM, "%s", w->file);
        e = n < PATH_ROOM ? gt_file_move_new(from, to) : ENAMETOOLONG;
    }
    return e ? gt_error_errno(err, e, "%s", to) : 0;
}

/* Two threads of a process make none at the same time. */
static void name_part(const struct gt_compact_work *w, char path[PATH_ROOM])
{
    snprintf(path, PATH_ROOM, "%s/.guesttrace-%d.snapshot", w->dir.path, (int)getpid());
}

/* ---- making -------------------------------------------------------------------------------- */

/* A file of what the rings have. Returns the number of records. */
static int64_t make(const struct gt_compact_work *w, const char *part, struct gt_error *err)
{
    unlink(part); /* of a process of this number that was killed */
    int64_t n = gt_compact_file_create(part, err);
    if (n == 0)
        n = gt_compact_flight_copy(w->dir.path, part, err);
    if (n < 0)
        unlink(part);
    return n;
}

/* Makes it complete and gives it its name. */
static int finish(const struct gt_compact_work *w, const char *part, const char *name,
                  char to[PATH_ROOM], struct gt_error *err)
{
    int status = gt_compact_gather(w->dir.path, part, 0, err);
    if (status == 0)
        status = name ? move_to_name(w, part, name, to, err) : move_to_next(w, part, to, err);
    if (status < 0)
        unlink(part);
    return status;
}

int64_t gt_compact_work_snapshot(const struct gt_compact_work *w, const char *name, char *path,
                                 size_t room, struct gt_error *err)
{
    char part[PATH_ROOM], to[PATH_ROOM];
    name_part(w, part);
    int64_t n = make(w, part, err);
    int status = n > 0 ? finish(w, part, name, to, err) : 0;
    if (n == 0)
        unlink(part);
    if (n > 0 && status == 0 && path)
        snprintf(path, room, "%s", to);
    return status < 0 ? status : n;
}

/* ---- the last one -------------------------------------------------------------------------- */

static int64_t recover(const struct gt_compact_work *w, struct gt_error *err)
{
    struct gt_compact_flight_options o = {.dir = w->dir.path};
    struct gt_compact_flight *flight;
    int64_t n = gt_compact_flight_read(w->dir.path, &o.limit, err);
    if (n < 0)
        return n;
    if (gt_compact_flight_create(&o, &flight) < 0)
        return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", w->dir.path);
    n = gt_streams_recover_packed(w->dir.path, &gt_compact_flight_packing, flight, NULL, err);
    gt_compact_flight_destroy(flight);
    return n;
}

int64_t gt_compact_work_end_flight(struct gt_compact_work *w, bool take, struct gt_error *err)
{
    int64_t n = take ? recover(w, err) : 0;
    if (n >= 0 && take)
        n = gt_compact_work_snapshot(w, NULL, w->snapshot, sizeof w->snapshot, err);
    int status = n >= 0 ? gt_compact_work_remove_dir(w, err) : 0;
    return status < 0 ? status : n;
}

int gt_compact_work_open_flight(struct gt_compact_work *w, struct gt_error *err)
{
    int status = gt_recording_dir_lock_alone(w->dir.path, w->file, &w->lock, err);
    if (status < 0)
        return status;
    w->flight = true;
    w->recovered = recover(w, err);
    name_part(w, w->snapshot);
    w->records = w->recovered < 0 ? w->recovered : make(w, w->snapshot, err);
    if (w->records >= 0)
        return 0;
    gt_compact_work_leave(w);
    return (int)w->records;
}

int gt_compact_work_close_flight(struct gt_compact_work *w, struct gt_error *err)
{
    char part[PATH_ROOM];
    snprintf(part, sizeof part, "%s", w->snapshot);
    int status = w->records ? finish(w, part, NULL, w->snapshot, err) : 0;
    if (status < 0 || !w->records)
        w->snapshot[0] = '\0';
    return status < 0 ? status : gt_compact_work_remove_dir(w, err);
}
