/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of a few tasks that a test makes, and the blocks that they are packed in. */
#ifndef TESTS_UNIT_FORMAT_COMPACT_UTIL_H
#define TESTS_UNIT_FORMAT_COMPACT_UTIL_H

#include "calls/file/compact.h"
#include "recording/directory/uftrace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TASKS = 5, MOST = 200000, DEEP = 5000 };

/* What each task has put, and how much of it has come back. */
struct log {
    struct gt_compact_record *r[TASKS];
    size_t n[TASKS], back[TASKS];
    uint64_t stack[TASKS][DEEP];
    uint32_t depth[TASKS];
    uint64_t time;
    struct gt_compact_packer *p;
    struct gt_compact_unpacker *u;
    uint8_t *file;
    size_t size;
    unsigned n_segments, n_blocks;
};

static uint64_t seed;

static inline uint32_t random_number(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

static inline struct log *log_create(bool exact, uint64_t segment)
{
    struct log *l = calloc(1, sizeof *l);
    const struct gt_compact_packer_options o = {.packer = 77, .exact = exact, .segment = segment};
    assert_non_null(l);
    for (int i = 0; i < TASKS; i++)
        l->r[i] = calloc(MOST, sizeof *l->r[i]);
    assert_int_equal(gt_compact_packer_create(&o, &l->p), 0);
    seed = 1;
    l->time = 1;
    return l;
}

static inline void log_destroy(struct log *l)
{
    gt_compact_packer_destroy(l->p);
    gt_compact_unpacker_destroy(l->u);
    for (int i = 0; i < TASKS; i++)
        free(l->r[i]);
    free(l->file);
    free(l);
}

static inline void add(struct log *l, unsigned task, uint64_t time, uint64_t word)
{
    assert_true(l->n[task] < MOST);
    l->r[task][l->n[task]++] = (struct gt_compact_record){time, word};
}

static inline void enter(struct log *l, unsigned task, uint64_t addr, uint64_t step)
{
    l->time += step;
    add(l, task, l->time, gt_uftrace_entry(l->depth[task], addr));
    l->stack[task][l->depth[task]++] = addr;
}

static inline void leave(struct log *l, unsigned task, uint64_t step)
{
    uint32_t depth = --l->depth[task];
    l->time += step;
    add(l, task, l->time, gt_uftrace_exit(depth, l->stack[task][depth]));
}

static inline void end_block(struct log *l)
{
    const uint8_t *data;
    size_t size;
    struct gt_compact_head h;
    assert_int_equal(gt_compact_packer_end_block(l->p, &data, &size), 0);
    if (!size)
        return;
    l->file = realloc(l->file, l->size + size);
    memcpy(l->file + l->size, data, size);
    l->size += size;
    assert_int_equal(gt_compact_head_read(data, size, &h), 0);
    assert_int_equal(h.packer, 77);
    assert_int_equal(size, GT_COMPACT_HEAD + h.size);
    assert_true(gt_compact_head_fits(data, data + GT_COMPACT_HEAD, h.size));
    l->n_segments += h.flags & GT_COMPACT_SEGMENT ? 1 : 0;
    l->n_blocks++;
}

static inline void put(struct log *l, unsigned task, size_t from)
{
    assert_int_equal(gt_compact_packer_put(l->p, 1000 + task, l->r[task] + from, l->n[task] - from),
                     0);
}

#endif
