/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings in several files that a test makes, and the records that they have to have. */
#ifndef TESTS_UNIT_FORMAT_COMPACT_SPLIT_UTIL_H
#define TESTS_UNIT_FORMAT_COMPACT_SPLIT_UTIL_H

#include "calls/file/work.h"
#include "calls/file/writer.h"
#include "compact_folder.h"
#include "recording/directory/uftrace.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NUMBER = 77, TASK = 100, EACH = 101, BLOCKS = 9, DEPTH = 40 };

static struct gt_compact_work work;

static inline int tear_down(void **state)
{
    gt_compact_work_leave(&work);
    return remove_folder(state);
}

/* Record i: calls to DEPTH and back, so that blocks begin at all depths. */
static inline uint64_t word_of(uint64_t i)
{
    uint32_t at = (uint32_t)(i % (2 * DEPTH));
    return at < DEPTH ? gt_uftrace_entry(at, 0x1000 + at * 16)
                      : gt_uftrace_exit(2 * DEPTH - 1 - at, 0x1000 + (2 * DEPTH - 1 - at) * 16);
}

static inline uint32_t depth_at(uint64_t i)
{
    uint32_t at = (uint32_t)(i % (2 * DEPTH));
    return at < DEPTH ? at : 2 * DEPTH - at;
}

/* ---- writing ------------------------------------------------------------------------------- */

/* NULL: times repeat. */
static bool (*exact)(const void *self);

/* A process that adds blocks, each of which ends a part, from record `from` on. */
static inline void add_as(uint32_t number, uint64_t from, unsigned blocks, uint64_t bytes)
{
    const struct gt_compact_writer_options o = {
        .path = work.file, .dir = work.dir.path, .exact = exact, .limits = {.bytes = bytes}};
    struct gt_compact_writer *w;
    uint64_t there, size;
    assert_int_equal(gt_compact_writer_create(&o, &w), 0);
    assert_int_equal(gt_compact_packing.open(w, number, false, &there), 0);
    assert_int_equal(there, from);
    for (unsigned b = 0; b < blocks; b++) {
        uint64_t words[2 * EACH];
        for (unsigned k = 0; k < EACH; k++, from++) {
            words[2 * k] = 1000 + 10 * from;
            words[2 * k + 1] = word_of(from);
        }
        assert_int_equal(gt_compact_packing.put(w, TASK + number, words, 2 * EACH), 0);
        assert_int_equal(gt_compact_packing.end(w, &size), 0);
    }
    gt_compact_packing.close(w, true);
    gt_compact_writer_destroy(w);
}

static inline void begin(void)
{
    assert_int_equal(gt_compact_work_create_set(path, 0, &work, &err), 0);
}

static inline void finish(void)
{
    assert_true(gt_compact_work_is_last(&work));
    assert_int_equal(gt_compact_work_gather(&work, &err), 0);
    gt_compact_work_leave(&work);
}

static inline void record(void)
{
    begin();
    add_as(NUMBER, 0, BLOCKS, 1);
    finish();
}

static inline const char *part(uint32_t number)
{
    static char name[GT_COMPACT_PART_PATH];
    gt_compact_part_path(path, number, name);
    return name;
}

/* ---- reading ------------------------------------------------------------------------------- */

struct reading {
    struct gt_compact_unpacker *u;
    uint64_t next; /* record */
};

static inline int take(void *self, const struct gt_compact_piece *p)
{
    struct reading *r = self;
    if (p->first) {
        assert_int_equal(p->n_open, depth_at(r->next));
        assert_int_equal(p->time, r->next ? 1000 + 10 * (r->next - 1) : 0);
    }
    for (size_t i = 0; i < p->n; i++, r->next++) {
        const struct gt_compact_record record = gt_compact_unpacker_record(r->u, &p->event[i]);
        assert_int_equal(record.time, 1000 + 10 * r->next);
        assert_int_equal(record.word, word_of(r->next));
    }
    return 0;
}

/* All records of the packer, which begin with `first`; `leap` is skipped. How many. */
static inline uint64_t read_file(const struct gt_compact_file *f, uint32_t packer, uint64_t first,
                                 uint64_t hole, uint64_t leap)
{
    struct gt_compact_segments s;
    struct reading r = {.next = first};
    assert_int_equal(gt_compact_segments_find(f, &s), 0);
    assert_int_equal(s.orphans, 0);
    assert_int_equal(gt_compact_unpacker_create(&r.u), 0);
    for (size_t i = 0; i < s.n; i++) {
        if (s.segment[i].packer != packer)
            continue;
        if (r.next == hole)
            r.next += leap;
        assert_int_equal(gt_compact_segment_unpack(f, &s.segment[i], r.u, take, &r, &err), 0);
    }
    gt_compact_unpacker_destroy(r.u);
    gt_compact_segments_free(&s);
    return r.next - first;
}

static inline void check_all(uint64_t records)
{
    struct gt_compact_file f;
    assert_int_equal(gt_compact_set_open(path, &f, &err), 0);
    assert_int_equal(read_file(&f, NUMBER, 0, UINT64_MAX, 0), records);
    gt_compact_file_close(&f);
}

#endif
