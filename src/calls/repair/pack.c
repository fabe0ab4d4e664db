/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A uftrace directory into one compact file: see compact.h. Records go in as they would have come
 * from a recorder: pieces of each task, in order of their first times.
 */
#include "calls/repair/compact.h"

#include "base/file.h"
#include "calls/file/file.h"
#include "calls/file/gather.h"
#include "calls/file/work.h"
#include "calls/repair/pack_sources.h"
#include "recording/directory/dir.h"
#include "recording/file_kind.h"

#include <glib.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LEAST_PIECE = 256, /* records of a task, though another one's come first */
    AHEAD = 1000000, /* ns; but none so much later: who reads from a time on would come too early */
    MOST_PIECE = 4096,
    TRIAL = 1 << 20, /* records that say whether times repeat */
};

struct pack {
    const char *path;
    struct gt_repair_pack_sources from;
    struct gt_compact_packer *packer;
    struct gt_compact_record *record; /* MOST_PIECE */
    struct gt_value_list list;        /* of the last one */
    struct gt_error *err;
};

/* ---- records ------------------------------------------------------------------------------- */

/* Another task's records come first. */
static bool is_late(const struct pack *p, size_t n)
{
    uint64_t time = gt_repair_pack_source_time(p->from.source),
             others = gt_repair_pack_sources_others(&p->from);
    return time > others && (n >= LEAST_PIECE || time - others > AHEAD);
}

/* Reads the first source's next piece, up to a record with values. */
static int take_piece(struct pack *p, size_t *n)
{
    int status = 1;
    for (*n = 0; *n < MOST_PIECE && !gt_repair_pack_sources_valued(&p->from) && !is_late(p, *n);
         (*n)++) {
        status = gt_repair_pack_sources_take(&p->from, &p->record[*n], &p->list, p->err);
        if (status <= 0)
            break;
    }
    return status;
}

static int no_memory(const struct pack *p)
{
    return gt_error_set(p->err, GT_E_NOMEM, "%s: out of memory", p->path);
}

static int end_block(struct pack *p)
{
    const uint8_t *block;
    size_t size;
    int status = gt_compact_packer_end_block(p->packer, &block, &size);
    if (status < 0)
        return gt_error_set(p->err, status, "%s: out of memory", p->path);
    return size ? gt_compact_file_append(p->path, block, size, p->err) : 0;
}

/* A record with values. */
static int pack_valued(struct pack *p)
{
    const uint32_t tid = p->from.source->tid;
    const size_t at = p->from.source->at;
    struct gt_compact_record r;
    int status = gt_repair_pack_sources_take(&p->from, &r, &p->list, p->err);
    if (status <= 0)
        return status;
    status = p->list.n ? gt_compact_packer_put_valued(p->packer, tid, &r, &p->list) : GT_E_USAGE;
    if (status == GT_E_USAGE) { /* there are none, or none that a compact file may have */
        if (p->list.n)
            gt_repair_pack_sources_leave_out(&p->from, at);
        status = gt_compact_packer_put(p->packer, tid, &r, 1);
    }
    return status < 0 ? no_memory(p) : 0;
}

static int pack_piece(struct pack *p)
{
    const uint32_t tid = p->from.source->tid;
    size_t n;
    int status = take_piece(p, &n);
    if (gt_compact_packer_put(p->packer, tid, p->record, n) < 0)
        return no_memory(p);
    if (n == 0 && status > 0)
        status = pack_valued(p);
    return status < 0 ? status : gt_repair_pack_sources_order(&p->from, p->err);
}

static int pack_records(struct pack *p)
{
    int status = 0;
    while (p->from.n > 0 && status == 0) {
        status = pack_piece(p);
        if (status == 0 && gt_compact_packer_is_full(p->packer))
            status = end_block(p);
    }
    return status < 0 ? status : end_block(p);
}

/* ---- whether times repeat ------------------------------------------------------------------- */

struct trial {
    struct gt_compact_packer *packer;
    uint32_t records;
};

static int try_record(void *self, uint64_t time, uint64_t word)
{
    struct trial *t = self;
    const struct gt_compact_record r = {time, word};
    return t->records++ < TRIAL ? gt_compact_packer_put(t->packer, 1, &r, 1) : GT_E_RANGE;
}

/* Bytes that the beginning of the longest source takes; 0: no memory. */
static size_t try_packing(const struct gt_repair_pack_sources *from, bool exact)
{
    const struct gt_compact_packer_options o = {.exact = exact};
    struct trial t = {0};
    const uint8_t *block;
    size_t size = 0;
    if (gt_compact_packer_create(&o, &t.packer) < 0)
        return 0;
    gt_repair_pack_sources_try(from, try_record, &t);
    if (gt_compact_packer_end_block(t.packer, &block, &size) < 0)
        size = 0;
    gt_compact_packer_destroy(t.packer);
    return size;
}

/* An instruction clock's times repeat, a host's do not. */
static bool times_repeat(const struct gt_repair_pack_sources *from)
{
    return from->n == 0 || try_packing(from, true) < try_packing(from, false);
}

/* ---- all of it ----------------------------------------------------------------------------- */

static int pack_into(struct pack *p, const char *dir, const struct gt_error_notices *notices)
{
    int status = gt_repair_pack_sources_open(&p->from, dir, p->err);
    if (status < 0)
        return status;
    const struct gt_compact_packer_options o = {.exact = times_repeat(&p->from)};
    p->record = g_new(struct gt_compact_record, MOST_PIECE);
    if (gt_compact_packer_create(&o, &p->packer) < 0)
        return no_memory(p);
    status = gt_compact_file_create(p->path, p->err);
    if (status == 0)
        status = pack_records(p);
    if (status == 0)
        gt_repair_pack_sources_report(&p->from, notices);
    return status < 0 ? status : gt_compact_gather(dir, p->path, 0, p->err);
}

static bool may_replace(const char *path)
{
    struct stat st;
    return lstat(path, &st) != 0 || (S_ISREG(st.st_mode) && gt_repair_is_compact(path));
}

int gt_repair_pack(const char *dir, const char *path, const struct gt_error_notices *notices,
                   struct gt_error *err)
{
    struct gt_uftrace_dir d;
    int status = gt_uftrace_dir_open(&d, dir, err);
    if (status == GT_E_FORMAT || (status == 0 && !gt_recording_kind_is_recording(d.path)))
        return gt_recording_kind_refuse(dir, GT_FILE_IS(GT_FILE_DIRECTORY), "a uftrace directory",
                                        err);
    if (status == 0 && !may_replace(path))
        status = gt_error_set(err, GT_E_EXISTS, "%s exists and is not a compact recording", path);
    if (status == 0)
        status = gt_compact_work_check_replace(path, err);
    if (status < 0)
        return status;
    g_autofree char *folder = g_path_get_dirname(path);
    g_autofree char *base = g_path_get_basename(path);
    g_autofree char *tmp = g_strdup_printf("%s/.%s.%d.tmp", folder, base, (int)getpid());
    gt_file_remove_left_beside(path);
    struct pack p = {.path = tmp, .err = err};
    status = pack_into(&p, d.path, notices);
    gt_compact_packer_destroy(p.packer);
    gt_repair_pack_sources_close(&p.from);
    g_free(p.record);
    if (status == 0 && rename(tmp, path) != 0)
        status = gt_error_errno(err, errno, "%s", path);
    if (status < 0)
        unlink(tmp);
    return status;
}
