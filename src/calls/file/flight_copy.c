/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What rings have, into a compact file; and how much they keep: see flight.h. */
#include "calls/file/flight_ring.h"
#include "calls/file/parts.h"
#include "calls/file/split.h"

#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_ROOM = 4200, TRIES = 16 };

/* ---- how much ------------------------------------------------------------------------------ */

int gt_compact_flight_parse(const char *text, struct gt_compact_flight_limit *out,
                            struct gt_error *err)
{
    uint64_t value = 0;
    bool is_time = false;
    int status = gt_compact_amount_parse(text, &value, &is_time);
    if (status == GT_E_USAGE)
        return gt_error_set(err, GT_E_USAGE, "%.40s: expected a size or a time, as 64M or 10s",
                            text);
    *out = is_time ? (struct gt_compact_flight_limit){GT_COMPACT_FLIGHT_MOST, value}
                   : (struct gt_compact_flight_limit){value, 0};
    if (status == 0 && out->bytes >= GT_COMPACT_FLIGHT_LEAST &&
        out->bytes <= GT_COMPACT_FLIGHT_MOST)
        return 0;
    return gt_error_set(err, GT_E_USAGE, "%.40s: expected %s", text,
                        is_time ? "a shorter time" : "a size from 1M to 1G");
}

static const char *limit_path(const char *dir, char path[PATH_ROOM])
{
    snprintf(path, PATH_ROOM, "%s/" GT_COMPACT_FLIGHT_FILE, dir);
    return path;
}

bool gt_compact_flight_is(const char *dir)
{
    char path[PATH_ROOM];
    return access(limit_path(dir, path), F_OK) == 0;
}

int gt_compact_flight_read(const char *dir, struct gt_compact_flight_limit *out,
                           struct gt_error *err)
{
    char path[PATH_ROOM], *text;
    size_t size;
    int status = gt_file_read(limit_path(dir, path), 4096, &text, &size, err);
    if (status < 0)
        return status;
    if (sscanf(text, "bytes=%" SCNu64 "\ntime=%" SCNu64, &out->bytes, &out->time) != 2)
        status = gt_error_set(err, GT_E_FORMAT, "%s: expected bytes=N and time=N", path);
    free(text);
    return status;
}

int gt_compact_flight_write(const char *dir, const struct gt_compact_flight_limit *limit,
                            struct gt_error *err)
{
    char path[PATH_ROOM], text[80];
    int n = snprintf(text, sizeof text, "bytes=%" PRIu64 "\ntime=%" PRIu64 "\n", limit->bytes,
                     limit->time);
    return gt_file_replace(limit_path(dir, path), text, (size_t)n, err);
}

/* ---- copying ------------------------------------------------------------------------------- */

struct copy {
    const char *path; /* of the file */
    int fd;
    uint64_t time;
    struct gt_error *err;
};

/* Adds block i. 1: it is not there any more. */
static int copy_block(const struct copy *c, const struct gt_compact_file *ring, size_t i,
                      struct gt_compact_buffer *buffer)
{
    const uint8_t *payload;
    int status = gt_compact_file_read(ring, i, buffer, &payload, c->err);
    if (status == GT_E_FORMAT || status == GT_E_TRUNC)
        return 1;
    return status < 0 ? status
                      : gt_compact_append_to(c->fd, c->path, buffer->data,
                                             GT_COMPACT_HEAD + ring->block[i].head.size, c->err);
}

/* Adds the blocks in order. Where one was overwritten meanwhile so were all before it: the added
 * blocks are taken back, and the next segment is the first. Returns the number of records. */
static int64_t copy_blocks(const struct copy *c, const struct gt_compact_file *ring)
{
    struct gt_compact_buffer buffer = {0};
    off_t begin = lseek(c->fd, 0, SEEK_END);
    int64_t records = 0;
    int status = begin < 0 ? gt_error_errno(c->err, errno, "%s", c->path) : 0;
    for (size_t i = 0; i < ring->n && status == 0;) {
        status = copy_block(c, ring, i, &buffer);
        records += ring->block[i].head.records;
        i = status == 1 ? gt_compact_flight_segment_end(ring->block, ring->n, i) : i + 1;
        if (status != 1)
            continue;
        records = 0;
        status = ftruncate(c->fd, begin) == 0 ? 0 : gt_error_errno(c->err, errno, "%s", c->path);
    }
    gt_compact_buffer_free(&buffer);
    return status < 0 ? status : records;
}

/* A ring all of which was overwritten meanwhile is read again: its heads say that more records came
 * since the last time, or none could be read at all. */
static int64_t copy_ring(const struct copy *c, const char *dir, uint32_t number)
{
    char path[PATH_ROOM];
    uint64_t all, seen, last = 0;
    if (!gt_compact_flight_path(dir, number, path, sizeof path))
        return gt_error_set(c->err, GT_E_RANGE, "%.200s...: path too long", dir);
    for (int tries = 0; tries < TRIES; tries++, last = seen) {
        struct gt_compact_file ring;
        int status = gt_compact_flight_open(path, number, c->time, &ring, &all, &seen, c->err);
        if (status == GT_E_FORMAT) /* it has just been created, or it was killed then */
            return 0;
        if (status < 0)
            return status;
        int64_t records = copy_blocks(c, &ring);
        bool is_empty = ring.size <= GT_COMPACT_FILE_HEAD;
        gt_compact_file_close(&ring);
        if (records != 0 || is_empty || (seen && seen == last))
            return records;
    }
    if (!last) /* it was killed with its first block */
        return 0;
    return gt_error_set(c->err, GT_E_IO, "%s: records come faster than they can be copied", path);
}

static int select_ring(const struct dirent *e)
{
    uint32_t number;
    return gt_compact_flight_is_ring(e->d_name, &number);
}

int64_t gt_compact_flight_copy(const char *dir, const char *path, struct gt_error *err)
{
    struct gt_compact_flight_limit limit;
    struct copy c = {.path = path, .err = err};
    struct dirent **list;
    int64_t records = 0, status = gt_compact_flight_read(dir, &limit, err);
    if (status < 0)
        return status;
    c.time = limit.time;
    int n = scandir(dir, &list, select_ring, alphasort);
    if (n < 0)
        return gt_error_errno(err, errno, "%s", dir);
    c.fd = gt_compact_lock(path, err);
    status = c.fd < 0 ? c.fd : 0;
    for (int i = 0; i < n; i++) {
        uint32_t number;
        if (status >= 0 && gt_compact_flight_is_ring(list[i]->d_name, &number))
            status = copy_ring(&c, dir, number);
        records += status > 0 ? status : 0;
        free(list[i]);
    }
    free(list);
    if (c.fd >= 0)
        close(c.fd);
    return status < 0 ? status : records;
}
