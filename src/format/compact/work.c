/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The working directory of a compact file: see work.h. */
#include "format/compact/work.h"

#include "base/clock.h"
#include "base/file.h"
#include "format/compact/file.h"
#include "format/compact/set.h"
#include "format/compact/work_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK ".guesttrace.lock"
enum { NAME_ROOM = 4096 + 64 };

/* ---- names --------------------------------------------------------------------------------- */

int gt_compact_work_name(const char *path, struct gt_compact_work *out, struct gt_error *err)
{
    char folder[PATH_MAX], real[PATH_MAX];
    out->lock = -1;
    out->made = out->restored = out->flight = false;
    out->snapshot[0] = '\0';
    out->recovered = out->records = 0;
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

static const char *inside(const struct gt_compact_work *w, const char *name, char out[NAME_ROOM])
{
    snprintf(out, NAME_ROOM, "%s/%s", w->dir.path, name);
    return out;
}

bool gt_compact_work_exists(const struct gt_compact_work *w)
{
    char lock[NAME_ROOM];
    return access(inside(w, LOCK, lock), F_OK) == 0;
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

static int check(const struct gt_compact_work *w, const struct gt_compact_work *old,
                 struct gt_error *err)
{
    if (!is_free(w->file) && !is_recording(w->file))
        return gt_error_set(
            err, GT_E_EXISTS,
            "%s: exists and is no compact recording: it is left alone, name another", w->file);
    if (!is_usable(w))
        return gt_error_set(err, GT_E_EXISTS, "%s: is in the way: it is left alone, name another",
                            w->dir.path);
    if (is_free(w->file))
        return 0;
    if (!is_free(old->file) && !is_recording(old->file))
        return gt_error_set(
            err, GT_E_EXISTS,
            "%s: cannot be moved aside, %s is in the way and is no compact recording", w->file,
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
    int status = name_both(path, &w, &old, err);
    return status < 0 ? status : check(&w, &old, err);
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
static int move_aside(const struct gt_compact_work *w, const struct gt_compact_work *old,
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

/* ---- users --------------------------------------------------------------------------------- */

static int lock(int fd, int how)
{
    int failed;
    do
        failed = flock(fd, how);
    while (failed && errno == EINTR);
    return failed ? errno : 0;
}

int gt_compact_work_enter(struct gt_compact_work *w, struct gt_error *err)
{
    char path[NAME_ROOM];
    struct stat st;
    w->lock = open(inside(w, LOCK, path), O_RDONLY | O_CLOEXEC);
    int e = w->lock < 0 ? errno : lock(w->lock, LOCK_SH);
    if (!e && fstat(w->lock, &st) == 0 && st.st_nlink == 0)
        e = ENOENT; /* it has been gathered meanwhile */
    if (!e)
        return 0;
    gt_compact_work_leave(w);
    return gt_error_errno(err, e, "%s", path);
}

void gt_compact_work_leave(struct gt_compact_work *w)
{
    if (w->lock >= 0)
        close(w->lock);
    w->lock = -1;
}

/* ---- life ---------------------------------------------------------------------------------- */

int gt_compact_work_make_lock(const char *dir, struct gt_error *err)
{
    char path[NAME_ROOM + sizeof LOCK];
    snprintf(path, sizeof path, "%s/" LOCK, dir);
    int fd = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return gt_error_errno(err, errno, "%s: cannot be created", path);
    close(fd);
    return 0;
}

static int make_dir(const struct gt_compact_work *w, struct gt_error *err)
{
    int status = gt_file_make_dir(w->dir.path, err);
    if (status == 0) {
        status = gt_compact_work_make_lock(w->dir.path, err);
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
        if (status == 0)
            status = gt_compact_work_enter(out, err);
        if (status < 0)
            gt_file_remove_dir(out->dir.path, NULL);
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
        part.set = gt_clock_monotonic() ^ (uint64_t)getpid() << 32;
    int status = gt_compact_work_check_set(path, err);
    return status < 0 ? status : create(path, NULL, &part, out, err);
}

/* ---- the last one ---------------------------------------------------------------------------- */

static bool is_zombie(unsigned pid)
{
    char path[32], text[512];
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *state = strrchr(text, ')'); /* the name before it may have any */
    return state && (strncmp(state, ") Z", 3) == 0 || strncmp(state, ") X", 3) == 0);
}

static bool is_pool(const char *name)
{
    return strncmp(name, ".guesttrace-", 12) == 0 && strstr(name, ".ring");
}

/* A pool's process that nobody has locked was killed, or executes another program, which may be
 * recorded as well. */
static bool lives(const char *name)
{
    unsigned pid;
    return is_pool(name) && sscanf(name, ".guesttrace-%u", &pid) == 1 && pid > 1 &&
           pid != (unsigned)getpid() && (kill((pid_t)pid, 0) == 0 || errno == EPERM) &&
           !is_zombie(pid);
}

static bool any_file(const struct gt_compact_work *w, bool (*is)(const char *name))
{
    bool any = false;
    DIR *d = opendir(w->dir.path);
    for (const struct dirent *e; d && !any && (e = readdir(d));)
        any = is(e->d_name);
    if (d)
        closedir(d);
    return any;
}

bool gt_compact_work_is_last(struct gt_compact_work *w)
{
    return w->lock >= 0 && lock(w->lock, LOCK_EX | LOCK_NB) == 0 && !any_file(w, lives);
}

bool gt_compact_work_has_pool(const struct gt_compact_work *w)
{
    return any_file(w, is_pool);
}
