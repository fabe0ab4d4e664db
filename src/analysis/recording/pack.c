/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A uftrace directory into one compact file: see compact.h. Records go in as they would have come
 * from a recorder: pieces of each task, in order of their first times.
 */
#include "analysis/recording/compact.h"
#include "base/file.h"
#include "format/compact/file.h"
#include "format/compact/gather.h"
#include "format/le.h"
#include "format/uftrace/dir.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LEAST_PIECE = 256, /* records of a task, though another one's come first */
    AHEAD = 1000000, /* ns; but none so much later: who reads from a time on would come too early */
    MOST_PIECE = 4096,
    TRIAL = 1 << 20, /* records that say whether times repeat */
};

/* A TID.dat that is mapped. */
struct source {
    uint32_t tid;
    const uint8_t *data;
    size_t size; /* bytes of whole records */
    size_t at;
};

struct pack {
    const char *dir, *path;
    struct source *source; /* those with records left: a heap, the earliest first */
    size_t n;
    struct gt_packer *packer;
    struct gt_compact_record *record; /* MOST_PIECE */
    struct gt_error *err;
};

/* ---- sources ------------------------------------------------------------------------------- */

static uint64_t time_of(const struct source *s)
{
    return gt_le64(s->data + s->at);
}

static void sift_down(struct pack *p, size_t i)
{
    for (size_t child; (child = 2 * i + 1) < p->n; i = child) {
        if (child + 1 < p->n && time_of(&p->source[child + 1]) < time_of(&p->source[child]))
            child++;
        if (time_of(&p->source[i]) <= time_of(&p->source[child]))
            return;
        struct source s = p->source[i];
        p->source[i] = p->source[child];
        p->source[child] = s;
    }
}

/* The time before which the first source is the earliest. */
static uint64_t others_begin(const struct pack *p)
{
    uint64_t time = UINT64_MAX;
    for (size_t i = 1; i < 3 && i < p->n; i++)
        time = MIN(time, time_of(&p->source[i]));
    return time;
}

static void release(struct pack *p)
{
    munmap((void *)p->source->data, p->source->size);
    *p->source = p->source[--p->n];
    sift_down(p, 0);
}

static bool has_record(const struct source *s)
{
    return s->size - s->at >= GT_UFTRACE_RECORD_SIZE;
}

static bool has_values(const struct source *s)
{
    return has_record(s) && gt_le64(s->data + s->at + 8) & GT_UFTRACE_MORE;
}

/* Values are of a form that the directory's info describes; only a recorder packs them. */
static int refuse_values(const struct pack *p, const struct source *s)
{
    return gt_error_set(p->err, GT_E_FORMAT,
                        "%s/%u.dat: offset %zu: a record has values, which only a recorder puts "
                        "into a compact file; record with --format compact",
                        p->dir, s->tid, s->at);
}

/* The size is not one of records: there are values, or the last record is cut. */
static int refuse_size(const struct pack *p, struct source *s)
{
    while (has_record(s) && !has_values(s))
        s->at += GT_UFTRACE_RECORD_SIZE;
    if (has_record(s))
        return refuse_values(p, s);
    return gt_error_set(p->err, GT_E_FORMAT,
                        "%s/%u.dat: offset %zu: a record is incomplete; run guesttrace repair",
                        p->dir, s->tid, s->at);
}

static int map_source(struct pack *p, uint32_t tid)
{
    struct stat st;
    g_autofree char *path = g_strdup_printf("%s/%u.dat", p->dir, tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC), status = 0;
    void *data = MAP_FAILED;
    if (fd < 0 || fstat(fd, &st) != 0)
        status = gt_error_errno(p->err, errno, "%s", path);
    else if (st.st_size > 0 &&
             (data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)) == MAP_FAILED)
        status = gt_error_errno(p->err, errno, "%s", path);
    if (fd >= 0)
        close(fd);
    if (status < 0 || st.st_size == 0)
        return status;
    struct source s = {tid, data, (size_t)st.st_size, 0};
    if (s.size % GT_UFTRACE_RECORD_SIZE) {
        status = refuse_size(p, &s);
        munmap(data, s.size);
        return status;
    }
    p->source[p->n++] = s;
    return 0;
}

static int map_sources(struct pack *p)
{
    g_autofree uint32_t *tids = NULL;
    int64_t n = gt_uftrace_dat_list(p->dir, &tids, p->err);
    p->source = n < 0 ? NULL : g_new(struct source, (gsize)n + 1);
    int status = n < 0 ? (int)n : 0;
    for (int64_t i = 0; i < n && status == 0; i++)
        status = map_source(p, tids[i]);
    for (size_t i = p->n / 2; i-- > 0;)
        sift_down(p, i);
    return status;
}

/* ---- records ------------------------------------------------------------------------------- */

/* Reads the first source's next piece, up to a record with values. */
static size_t take_piece(struct pack *p)
{
    struct source *s = p->source;
    uint64_t others = others_begin(p);
    size_t n = 0;
    for (; n < MOST_PIECE && has_record(s) && !has_values(s);
         n++, s->at += GT_UFTRACE_RECORD_SIZE) {
        const uint8_t *at = s->data + s->at;
        if (gt_le64(at) > others && (n >= LEAST_PIECE || gt_le64(at) - others > AHEAD))
            break;
        p->record[n] = (struct gt_compact_record){gt_le64(at), gt_le64(at + 8)};
    }
    return n;
}

static int end_block(struct pack *p)
{
    const uint8_t *block;
    size_t size;
    int status = gt_packer_end_block(p->packer, &block, &size);
    if (status < 0)
        return gt_error_set(p->err, status, "%s: out of memory", p->path);
    return size ? gt_compact_file_append(p->path, block, size, p->err) : 0;
}

static int pack_records(struct pack *p)
{
    int status = 0;
    while (p->n > 0 && status == 0) {
        uint32_t tid = p->source->tid;
        size_t n = take_piece(p);
        if (gt_packer_put(p->packer, tid, p->record, n) < 0)
            return gt_error_set(p->err, GT_E_NOMEM, "%s: out of memory", p->path);
        if (has_values(p->source))
            return refuse_values(p, p->source);
        if (p->source->at == p->source->size)
            release(p);
        else
            sift_down(p, 0);
        if (gt_packer_is_full(p->packer))
            status = end_block(p);
    }
    return status < 0 ? status : end_block(p);
}

/* Bytes that the beginning of the longest source takes; 0: no memory. */
static size_t try_packing(const struct source *s, bool exact)
{
    const struct gt_packer_options o = {.exact = exact};
    struct gt_packer *packer;
    const uint8_t *block;
    size_t size = 0;
    if (gt_packer_create(&o, &packer) < 0)
        return 0;
    for (size_t at = 0; at < s->size && at / GT_UFTRACE_RECORD_SIZE < TRIAL;
         at += GT_UFTRACE_RECORD_SIZE) {
        struct gt_compact_record r = {gt_le64(s->data + at), gt_le64(s->data + at + 8)};
        gt_packer_put(packer, s->tid, &r, 1);
    }
    if (gt_packer_end_block(packer, &block, &size) < 0)
        size = 0;
    gt_packer_destroy(packer);
    return size;
}

/* An instruction clock's times repeat, a host's do not. */
static bool times_repeat(const struct pack *p)
{
    const struct source *longest = NULL;
    for (size_t i = 0; i < p->n; i++)
        if (!longest || p->source[i].size > longest->size)
            longest = &p->source[i];
    return !longest || try_packing(longest, true) < try_packing(longest, false);
}

/* ---- all of it ----------------------------------------------------------------------------- */

static int pack_into(struct pack *p)
{
    int status = map_sources(p);
    if (status < 0)
        return status;
    const struct gt_packer_options o = {.exact = times_repeat(p)};
    p->record = g_new(struct gt_compact_record, MOST_PIECE);
    if (gt_packer_create(&o, &p->packer) < 0)
        return gt_error_set(p->err, GT_E_NOMEM, "out of memory");
    status = gt_compact_file_create(p->path, p->err);
    if (status == 0)
        status = pack_records(p);
    return status < 0 ? status : gt_compact_gather(p->dir, p->path, p->err);
}

static bool may_replace(const char *path)
{
    struct stat st;
    return lstat(path, &st) != 0 || (S_ISREG(st.st_mode) && gt_recording_is_compact(path));
}

int gt_recording_pack(const char *dir, const char *path, const struct gt_notices *notices,
                      struct gt_error *err)
{
    (void)notices;
    struct gt_uftrace_dir d;
    int status = gt_uftrace_dir_open(&d, dir, err);
    if (status == 0 && !may_replace(path))
        status = gt_error_set(err, GT_E_EXISTS, "%s exists and is no compact recording", path);
    if (status < 0)
        return status;
    g_autofree char *folder = g_path_get_dirname(path);
    g_autofree char *base = g_path_get_basename(path);
    g_autofree char *tmp = g_strdup_printf("%s/.%s.%d.tmp", folder, base, (int)getpid());
    gt_file_remove_left_beside(path);
    struct pack p = {.dir = d.path, .path = tmp, .err = err};
    status = pack_into(&p);
    while (p.n > 0)
        release(&p);
    gt_packer_destroy(p.packer);
    g_free(p.source);
    g_free(p.record);
    if (status == 0 && rename(tmp, path) != 0)
        status = gt_error_errno(err, errno, "%s", path);
    if (status < 0)
        unlink(tmp);
    return status;
}
