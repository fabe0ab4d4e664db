/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of directories and compact files: see records.h. */
#include "calls/repair/records.h"

#include "calls/file/file.h"
#include "calls/file/set.h"
#include "calls/repair/valued.h"
#include "recording/directory/dir.h"

#include <stdlib.h>

enum { PIECE = 1024 };

/* ---- TID.dat ------------------------------------------------------------------------------- */

static int read_dat(const char *dir, uint32_t tid, const struct gt_recording_records_reader *reader,
                    struct gt_error *err)
{
    struct gt_uftrace_record r[PIECE];
    struct gt_uftrace_dat *dat;
    size_t n;
    int status = gt_uftrace_dat_open(dir, tid, &dat, err);
    if (status < 0)
        return status;
    do {
        for (n = 0; n < PIECE && gt_uftrace_dat_next(dat, &r[n], NULL) == 1; n++)
            continue;
        if (n)
            status = reader->piece(reader->self, tid, r, n);
    } while (n == PIECE && status >= 0);
    gt_uftrace_dat_close(dat);
    return status;
}

static int read_dir(const char *dir, const struct gt_recording_records_reader *reader,
                    struct gt_error *err)
{
    uint32_t *tids = NULL;
    struct gt_repair_valued *valued = gt_repair_valued_open(dir);
    int64_t n = gt_uftrace_dat_list(dir, &tids, err);
    int status = n < 0 ? (int)n : 0;
    for (int64_t i = 0; i < n && status >= 0; i++)
        if (!reader->wanted || reader->wanted(reader->self, tids[i]))
            status = valued ? gt_repair_valued_read(valued, tids[i], reader, err)
                            : read_dat(dir, tids[i], reader, err);
    gt_repair_valued_close(valued);
    free(tids);
    return status < 0 ? status : 0;
}

/* ---- a compact file ------------------------------------------------------------------------ */

struct unpack {
    const struct gt_recording_records_reader *reader;
    struct gt_compact_unpacker *unpacker;
    uint32_t index; /* task of the segment that was asked for last */
    bool wanted;
};

static int put_piece(void *self, const struct gt_compact_piece *p)
{
    struct unpack *u = self;
    struct gt_uftrace_record r[PIECE];
    const struct gt_recording_records_reader *to = u->reader;
    int status = 0;
    if (u->index != p->index)
        u->wanted = !to->wanted || to->wanted(to->self, p->task);
    u->index = p->index;
    for (size_t at = 0, n; at < p->n && u->wanted && status >= 0; at += n) {
        for (n = 0; n < PIECE && at + n < p->n; n++) {
            struct gt_compact_record from =
                gt_compact_unpacker_record(u->unpacker, &p->event[at + n]);
            r[n] = gt_uftrace_record_of(from.time, from.word);
        }
        status = to->piece(to->self, p->task, r, n);
    }
    return status;
}

static bool is_damage(int status)
{
    return status == GT_E_FORMAT || status == GT_E_TRUNC || status == GT_E_USAGE;
}

static int read_file(const char *path, const struct gt_recording_records_reader *reader,
                     struct gt_error *err)
{
    struct gt_compact_file f;
    struct gt_compact_segments s = {0};
    struct unpack u = {.reader = reader};
    int status = gt_compact_set_open(path, &f, err);
    if (status < 0)
        return status;
    status = gt_compact_segments_find(&f, &s);
    if (status == 0)
        status = gt_compact_unpacker_create(&u.unpacker);
    if (status == GT_E_NOMEM)
        gt_error_set(err, status, "%s: out of memory", path);
    for (size_t i = 0; i < s.n && status >= 0; i++) {
        u.index = UINT32_MAX;
        status = gt_compact_segment_unpack(&f, &s.segment[i], u.unpacker, put_piece, &u, err);
        status = is_damage(status) ? 0 : status;
    }
    gt_compact_unpacker_destroy(u.unpacker);
    gt_compact_segments_free(&s);
    gt_compact_file_close(&f);
    return status < 0 ? status : 0;
}

/* ---- both ---------------------------------------------------------------------------------- */

int gt_repair_records_read(const struct gt_recording_records *at,
                           const struct gt_recording_records_reader *reader, struct gt_error *err)
{
    return at->file ? read_file(at->file, reader, err) : read_dir(at->dir, reader, err);
}

static int begin_of_file(const char *path, uint64_t *time, struct gt_error *err)
{
    struct gt_compact_file f;
    int status = gt_compact_set_open(path, &f, err);
    if (status < 0)
        return status;
    for (size_t i = 0; i < f.n && status == 0; i++)
        if (f.block[i].head.type == GT_COMPACT_RECORDS) {
            *time = f.block[i].head.first_time;
            status = 1;
        }
    gt_compact_file_close(&f);
    return status;
}

static int begin_of_dir(const char *dir, uint64_t *time, struct gt_error *err)
{
    uint32_t *tids = NULL;
    int64_t n = gt_uftrace_dat_list(dir, &tids, err);
    int status = n < 0 ? (int)n : 0;
    for (int64_t i = 0; i < n && status == 0; i++) {
        struct gt_uftrace_dat *dat;
        struct gt_uftrace_record r;
        if (gt_uftrace_dat_open(dir, tids[i], &dat, NULL) < 0)
            continue;
        if (gt_uftrace_dat_next(dat, &r, NULL) == 1) {
            *time = r.time;
            status = 1;
        }
        gt_uftrace_dat_close(dat);
    }
    free(tids);
    return status;
}

int gt_repair_records_begin(const struct gt_recording_records *at, uint64_t *time,
                            struct gt_error *err)
{
    return at->file ? begin_of_file(at->file, time, err) : begin_of_dir(at->dir, time, err);
}
