/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The working directory of a compact file: see work.h. */
#include "calls/file/work.h"

#include "base/clock.h"
#include "base/file.h"
#include "calls/file/file.h"
#include "calls/file/set.h"
#include "calls/file/work_parts.h"
#include "recording/texts/dir_lock.h"

#include <errno.h>
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

bool gt_compact_work_has_pool(const struct gt_compact_work *w)
{
    return gt_recording_dir_lock_has_pool(w->dir.path);
}
