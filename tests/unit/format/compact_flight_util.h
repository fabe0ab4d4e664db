/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A ring that a test fills, and what is in it. */
#ifndef TESTS_UNIT_FORMAT_COMPACT_FLIGHT_UTIL_H
#define TESTS_UNIT_FORMAT_COMPACT_FLIGHT_UTIL_H

#include "calls/file/flight_ring.h"
#include "recording/directory/uftrace.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { NUMBER = 77, PIECE = 500, DEPTH = 8 };
static const struct gt_stream_packing *const ring = &gt_compact_flight_packing;

static char dir[64], path[96], ring_path[128];
static struct gt_error err;

static inline int set_up(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/guesttrace-flight-XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    snprintf(path, sizeof path, "%s/a.gtrace", dir);
    snprintf(ring_path, sizeof ring_path, "%s/.guesttrace-%d.last", dir, NUMBER);
    return 0;
}

static inline int tear_down(void **state)
{
    char name[128];
    (void)state;
    gt_compact_flight_sys.pwrite = pwrite;
    gt_compact_flight_sys.fallocate = fallocate;
    snprintf(name, sizeof name, "%s/" GT_COMPACT_FLIGHT_FILE, dir);
    unlink(name);
    unlink(ring_path);
    unlink(path);
    return rmdir(dir);
}

/* ---- records ------------------------------------------------------------------------------- */

/* Record i, of task 100 or 101: most are calls to DEPTH and back, each 16th is an odd word. */
static inline uint32_t task_of(uint64_t i)
{
    return 100 + (uint32_t)(i / PIECE % 2);
}

static inline uint64_t time_of(uint64_t i)
{
    return 1000 + 10 * i;
}

static inline uint64_t word_of(uint64_t i)
{
    uint64_t hash = (i + 1) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
    uint32_t at = (uint32_t)(i % PIECE % (2 * DEPTH));
    if (i % 16 == 7)
        return (hash * 0xbf58476d1ce4e5b9u | 1) & ~UINT64_C(4); /* 4: values would follow */
    return at < DEPTH ? gt_uftrace_entry(at, 0x1000 + at * 16)
                      : gt_uftrace_exit(2 * DEPTH - 1 - at, 0x1000 + (2 * DEPTH - 1 - at) * 16);
}

/* A flight recorder, and what was put into it. */
struct flight {
    struct gt_compact_flight *f;
    uint64_t put, ended; /* records; of them in blocks that ended well */
};

static inline int begin(struct flight *l, uint64_t bytes, uint64_t time)
{
    const struct gt_compact_flight_options o = {.dir = dir, .limit = {bytes, time}};
    uint64_t records;
    assert_int_equal(gt_compact_flight_write(dir, &o.limit, &err), 0);
    assert_int_equal(gt_compact_flight_create(&o, &l->f), 0);
    int e = ring->open(l->f, NUMBER, false, &records);
    if (!e)
        assert_int_equal(records, l->ended);
    l->put = l->ended;
    return e;
}

static inline void end(struct flight *l)
{
    ring->close(l->f, true);
    gt_compact_flight_destroy(l->f);
    l->f = NULL;
}

static inline int end_block(struct flight *l)
{
    uint64_t bytes;
    int e = l->put > l->ended ? ring->end(l->f, &bytes) : 0;
    if (!e)
        l->ended = l->put;
    return e;
}

/* The next records of one task, as the streams' writer puts them. */
static inline int put_piece(struct flight *l)
{
    uint64_t words[2 * PIECE];
    for (uint64_t i = 0; i < PIECE; i++) {
        words[2 * i] = time_of(l->put + i);
        words[2 * i + 1] = word_of(l->put + i);
    }
    int e = ring->put(l->f, task_of(l->put), words, 2 * PIECE);
    if (e == EAGAIN) {
        e = end_block(l);
        if (!e)
            e = ring->put(l->f, task_of(l->put), words, 2 * PIECE);
    }
    if (e)
        return e;
    l->put += PIECE;
    return ring->is_full(l->f) ? end_block(l) : 0;
}

static inline void put_pieces(struct flight *l, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(put_piece(l), 0);
    assert_int_equal(end_block(l), 0);
}

/* ---- what is kept -------------------------------------------------------------------------- */

struct kept {
    struct gt_compact_unpacker *u;
    uint64_t first, next; /* records */
    bool some;
};

static inline int check_piece(void *self, const struct gt_compact_piece *p)
{
    struct kept *k = self;
    for (size_t i = 0; i < p->n; i++, k->next++) {
        struct gt_compact_record r = gt_compact_unpacker_record(k->u, &p->event[i]);
        if (!k->some)
            k->first = k->next = (r.time - 1000) / 10;
        k->some = true;
        assert_int_equal(r.time, time_of(k->next));
        assert_int_equal(r.word, word_of(k->next));
        assert_int_equal(p->task, task_of(k->next));
    }
    return 0;
}

static inline struct kept read_file(void)
{
    struct gt_compact_file file;
    struct gt_compact_segments s;
    struct kept k = {0};
    assert_int_equal(gt_compact_unpacker_create(&k.u), 0);
    assert_int_equal(gt_compact_file_open(path, &file, &err), 0);
    assert_int_equal(file.n_gaps, 0);
    assert_int_equal(gt_compact_segments_find(&file, &s), 0);
    assert_int_equal(s.orphans, 0);
    for (size_t i = 0; i < s.n; i++)
        assert_int_equal(
            gt_compact_segment_unpack(&file, &s.segment[i], k.u, check_piece, &k, &err), 0);
    gt_compact_segments_free(&s);
    gt_compact_file_close(&file);
    gt_compact_unpacker_destroy(k.u);
    return k;
}

static inline off_t size_of(const char *name)
{
    struct stat st;
    return stat(name, &st) == 0 ? st.st_size : 0;
}

/* All from some record on up to `end`; how many. */
static inline uint64_t kept_up_to(uint64_t end)
{
    unlink(path);
    assert_int_equal(gt_compact_file_create(path, &err), 0);
    int64_t n = gt_compact_flight_copy(dir, path, &err);
    assert_true(n >= 0);
    struct kept k = read_file();
    assert_int_equal(k.next - k.first, n);
    if (n)
        assert_int_equal(k.next, end);
    return (uint64_t)n;
}

#endif
