/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Snapshots of flight recorders: see work.h. */
#include "calls/file/work_parts.h"

#include "base/file.h"
#include "base/stream/stream.h"
#include "calls/file/file.h"
#include "calls/file/gather.h"
#include "recording/texts/dir_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
