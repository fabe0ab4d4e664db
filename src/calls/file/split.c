/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Splitting a recording: see split.h. */
#include "calls/file/split.h"

#include "base/clock.h"
#include "base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- how much ------------------------------------------------------------------------------ */

int gt_compact_amount_parse(const char *text, uint64_t *value, bool *is_time)
{
    size_t n = strlen(text);
    int kind = gt_text_quantity_parse(text, n, GT_QUANTITY_SIZE, value);
    *is_time = kind == GT_E_FORMAT;
    if (*is_time)
        kind = gt_text_quantity_parse(text, n, GT_QUANTITY_TIME, value);
    if (kind < 0)
        return kind == GT_E_RANGE ? GT_E_RANGE : GT_E_USAGE;
    if (*value == 0)
        return GT_E_USAGE;
    return *value > UINT64_MAX / 4 ? GT_E_RANGE : 0;
}

static int parse_split(const char *text, struct gt_compact_limits *out, struct gt_error *err)
{
    uint64_t value;
    bool is_time;
    if (gt_compact_amount_parse(text, &value, &is_time) < 0 ||
        (!is_time && value < GT_COMPACT_SPLIT_LEAST))
        return gt_error_set(
            err, GT_E_USAGE,
            "split %.40s: expected a size of 64K or more, or a time, as 64M, 10s or "
            "5min",
            text);
    *(is_time ? &out->time : &out->bytes) = value;
    return 0;
}

int gt_compact_limits_parse(const char *split, const char *limit, struct gt_compact_limits *out,
                            struct gt_error *err)
{
    bool is_time;
    *out = (struct gt_compact_limits){0};
    int status = split ? parse_split(split, out, err) : 0;
    if (status < 0 || !limit)
        return status;
    const uint64_t least = GT_COMPACT_SPLIT_LEAST * (split ? GT_COMPACT_LIMIT_PARTS : 1);
    if (gt_compact_amount_parse(limit, &out->total, &is_time) < 0 || is_time || out->total < least)
        return gt_error_set(err, GT_E_USAGE, "size-limit %.40s: expected a size of %uK or more",
                            limit, (unsigned)(least >> 10));
    if (out->time)
        out->bytes = out->total / (2 * GT_COMPACT_LIMIT_PARTS);
    if (out->bytes > out->total / GT_COMPACT_LIMIT_PARTS)
        return gt_error_set(err, GT_E_USAGE,
                            "size-limit %.40s: expected at least %d times the size of a part, as "
                            "'split' has it (%.40s)",
                            limit, GT_COMPACT_LIMIT_PARTS, split);
    return 0;
}

/* ---- the newest part ----------------------------------------------------------------------- */

int gt_compact_split_open(struct gt_compact_split *s)
{
    int fd = open(s->file, O_RDWR | O_APPEND | O_CLOEXEC);
    if (fd < 0)
        return -1;
    s->part = gt_compact_part_of(fd);
    s->since = gt_base_clock_monotonic();
    return fd;
}

static int hold(int fd, short how)
{
    struct flock l = {.l_type = how, .l_whence = SEEK_SET, .l_len = 1};
    return fcntl(fd, F_OFD_SETLK, &l);
}

static bool is_newest(const struct gt_compact_split *s, int fd)
{
    struct stat own, newest;
    return fstat(fd, &own) == 0 && stat(s->file, &newest) == 0 && own.st_ino == newest.st_ino &&
           own.st_dev == newest.st_dev;
}

bool gt_compact_split_enter(const struct gt_compact_split *s, int fd)
{
    return hold(fd, F_RDLCK) == 0 && is_newest(s, fd);
}

void gt_compact_split_leave(int fd)
{
    hold(fd, F_UNLCK);
}

/* ---- the next part ------------------------------------------------------------------------- */

/* Removes the oldest parts, so that the newest one has room: what it may have, and as much again
 * for text files that it and the one before get. */
static void remove_oldest(const struct gt_compact_split *s)
{
    if (s->limits.total)
        gt_compact_set_shorten(s->file, s->part.set, 0,
                               GT_COMPACT_LIMIT_PARTS / 2 * s->limits.bytes, s->limits.total);
}

static bool is_due(const struct gt_compact_split *s, int fd, uint64_t size)
{
    struct stat st;
    const struct gt_compact_limits *l = &s->limits;
    if (!s->part.number || !gt_compact_limits_split(l) || fstat(fd, &st) != 0)
        return false;
    return (l->bytes && (uint64_t)st.st_size + size > l->bytes) ||
           (l->time && gt_base_clock_monotonic() - s->since >= l->time);
}

/* Its own name beside the old one, which the next part then takes: FILE is there at any moment. A
 * kill in between leaves both. Where the file system has no links FILE is missing for a moment. */
static int exchange(const struct gt_compact_split *s, const char *next)
{
    char path[GT_COMPACT_PART_PATH];
    struct stat a, b;
    if (gt_compact_part_path(s->file, s->part.number, path) < 0)
        return ENAMETOOLONG;
    int e = link(s->file, path) == 0 ? 0 : errno;
    if (e == EEXIST && stat(s->file, &a) == 0 && stat(path, &b) == 0 && a.st_ino == b.st_ino &&
        a.st_dev == b.st_dev)
        e = 0;
    if (e == EPERM || e == EOPNOTSUPP || e == ENOSYS)
        e = renameat2(AT_FDCWD, s->file, AT_FDCWD, path, RENAME_NOREPLACE) == 0 ? 0 : errno;
    if (e)
        return e;
    return rename(next, s->file) == 0 ? 0 : errno;
}

static int begin_next(const struct gt_compact_split *s)
{
    char next[GT_COMPACT_PART_PATH];
    struct gt_compact_part part = s->part;
    struct gt_error err = {0};
    int n = snprintf(next, sizeof next, "%s/.guesttrace-%d.part", s->dir, (int)getpid());
    if (n >= (int)sizeof next || part.number == UINT32_MAX)
        return ENAMETOOLONG;
    unlink(next); /* of a process of this number that was killed */
    part.number++;
    errno = 0;
    int e = gt_compact_part_create(next, &part, &err) < 0 ? (errno ? errno : EIO) : 0;
    if (!e)
        e = exchange(s, next);
    if (e)
        unlink(next);
    return e;
}

bool gt_compact_split_turn(struct gt_compact_split *s, int fd, uint64_t size)
{
    if (!is_due(s, fd, size) || !is_newest(s, fd))
        return false;
    int e = begin_next(s);
    if (e) {
        s->failed++;
        s->error = e;
        return false;
    }
    remove_oldest(s);
    return true;
}
