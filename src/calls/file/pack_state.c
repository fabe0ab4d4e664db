/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A packer's life, its segments and tasks: see pack.h. */
#include "calls/file/pack.h"

#include <stdlib.h>
#include <string.h>

enum {
    TASKS_ROOM = 64,
    /* Of all stacks, beyond what each has: so no segment's tasks have GT_PACKER_OPEN. */
    STACKS_ROOM = GT_PACKER_OPEN - GT_MODEL_ROOM * GT_COMPACT_MAX_TASKS,
};

/* ---- life ---------------------------------------------------------------------------------- */

static size_t room_of_stacks(const struct gt_compact_packer *p)
{
    size_t room = 0;
    for (size_t i = 0; i < p->tasks_room; i++)
        if (p->tasks[i])
            room += p->tasks[i]->room - GT_MODEL_ROOM;
    return room;
}

void gt_compact_packer_begin_segment(struct gt_compact_packer *p)
{
    memset(p->first, 0, GT_MODEL_SIZE * sizeof *p->first);
    memset(p->second, 0, GT_MODEL_SIZE * sizeof *p->second);
    gt_compact_words_clear(&p->words);
    gt_compact_value_model_clear(&p->values);
    p->segment++;
    p->n_segment_tasks = 0;
    p->stacks = room_of_stacks(p);
    p->segment_records = 0;
    p->begins = true;
}

/* Where the next block has about as many records: each column should have some. */
static unsigned shift_of(uint32_t records)
{
    unsigned shift = GT_CLOCK_SHIFT;
    for (uint32_t n = GT_PACKER_BLOCK / 4; records < n && shift < GT_CLOCK_MOST_SHIFT; n /= 4)
        shift++;
    return shift;
}

void gt_compact_packer_begin_block(struct gt_compact_packer *p)
{
    for (int i = 0; i < GT_COLUMNS; i++)
        p->column[i].n = 0;
    p->shift = p->head.records ? shift_of(p->head.records) : GT_CLOCK_SHIFT;
    p->head = (struct gt_compact_head){.type = GT_COMPACT_RECORDS,
                                       .packer = p->o.packer,
                                       .first_time = UINT64_MAX,
                                       .before = p->records};
    p->run = 0;
    p->layouts = 0;
    if (p->exact != p->o.exact && !p->begins)
        gt_compact_packer_begin_segment(p);
    p->exact = p->o.exact;
}

void gt_compact_packer_end_segment(struct gt_compact_packer *p)
{
    if (p->begins || p->head.records)
        return;
    gt_compact_packer_begin_segment(p);
    gt_compact_packer_begin_block(p);
}

int gt_compact_packer_create(const struct gt_compact_packer_options *o,
                             struct gt_compact_packer **out)
{
    struct gt_compact_packer *p = calloc(1, sizeof *p);
    *out = p;
    if (!p)
        return GT_E_NOMEM;
    p->o = *o;
    p->records = o->before;
    gt_compact_clock_init(&p->levels);
    if (!p->o.segment)
        p->o.segment = GT_PACKER_SEGMENT;
    p->tasks_room = TASKS_ROOM;
    p->first = calloc(GT_MODEL_SIZE, sizeof *p->first);
    p->second = calloc(GT_MODEL_SIZE, sizeof *p->second);
    p->tasks = calloc(p->tasks_room, sizeof *p->tasks);
    bool words = gt_compact_words_init(&p->words);
    p->zstd = ZSTD_createCCtx();
    if (!p->first || !p->second || !p->tasks || !words || !p->zstd) {
        gt_compact_packer_destroy(p);
        *out = NULL;
        return GT_E_NOMEM;
    }
    gt_compact_packer_begin_segment(p);
    gt_compact_packer_begin_block(p);
    return 0;
}

static void free_task(struct gt_compact_packer_task *t)
{
    if (!t)
        return;
    free(t->frame);
    free(t->exit);
    free(t);
}

void gt_compact_packer_destroy(struct gt_compact_packer *p)
{
    if (!p)
        return;
    for (size_t i = 0; p->tasks && i < p->tasks_room; i++)
        free_task(p->tasks[i]);
    for (int i = 0; i < GT_COLUMNS; i++)
        free(p->column[i].data);
    free(p->out.data);
    free(p->first);
    free(p->second);
    free(p->tasks);
    gt_compact_words_finish(&p->words);
    gt_compact_value_model_finish(&p->values);
    ZSTD_freeCCtx(p->zstd);
    free(p);
}

/* ---- tasks --------------------------------------------------------------------------------- */

static struct gt_compact_packer_task **task_slot(struct gt_compact_packer *p, uint32_t id)
{
    size_t i = gt_compact_words_hash(id) & (p->tasks_room - 1);
    while (p->tasks[i] && p->tasks[i]->id != id)
        i = (i + 1) & (p->tasks_room - 1);
    return &p->tasks[i];
}

static bool grow_tasks(struct gt_compact_packer *p)
{
    struct gt_compact_packer_task **old = p->tasks;
    size_t n = p->tasks_room;
    struct gt_compact_packer_task **tasks = calloc(2 * n, sizeof *tasks);
    if (!tasks)
        return false;
    p->tasks = tasks;
    p->tasks_room = 2 * n;
    for (size_t i = 0; i < n; i++)
        if (old[i])
            *task_slot(p, old[i]->id) = old[i];
    free(old);
    return true;
}

int gt_compact_packer_grow_stack(struct gt_compact_packer *p, struct gt_compact_packer_task *t,
                                 size_t depth)
{
    size_t room = t->room;
    if (depth <= room)
        return 0;
    while (room < depth)
        room *= 2;
    if (depth > GT_PACKER_DEPTH || room - t->room > STACKS_ROOM - p->stacks)
        return GT_E_RANGE;
    struct gt_compact_model_frame *frame = realloc(t->frame, (room + 1) * sizeof *frame);
    if (!frame)
        return GT_E_NOMEM;
    t->frame = frame;
    uint64_t *exit = realloc(t->exit, (room + 1) * sizeof *exit);
    if (!exit)
        return GT_E_NOMEM;
    t->exit = exit;
    p->stacks += room - t->room;
    t->room = (uint32_t)room;
    return 0;
}

static struct gt_compact_packer_task *new_task(struct gt_compact_packer *p, uint32_t id)
{
    struct gt_compact_packer_task *t = calloc(1, sizeof *t);
    if (t) {
        t->id = id;
        t->room = GT_MODEL_ROOM;
        t->frame = calloc(GT_MODEL_ROOM + 1, sizeof *t->frame);
        t->exit = calloc(GT_MODEL_ROOM + 1, sizeof *t->exit);
    }
    if (!t || !t->frame || !t->exit || (2 * p->n_tasks >= p->tasks_room && !grow_tasks(p))) {
        free_task(t);
        return NULL;
    }
    p->n_tasks++;
    return *task_slot(p, id) = t;
}

/* The task's first record in the segment: what the unpacker has to know of it. */
static bool open_task(struct gt_compact_packer *p, struct gt_compact_packer_task *t)
{
    struct gt_compact_column_out *tasks = &p->column[GT_COLUMN_TASKS],
                                 *syms = &p->column[GT_COLUMN_SYMS];
    struct gt_compact_column_out *words = &p->column[GT_COLUMN_WORDS];
    size_t depth = t->depth;
    if (!gt_compact_column_reserve(tasks, (3 + depth) * GT_NUMBER_MAX) ||
        !gt_compact_column_reserve(syms, depth * GT_NUMBER_MAX) ||
        !gt_compact_column_reserve(words, depth * GT_NUMBER_MAX))
        return false;
    t->segment = p->segment;
    t->index = p->n_segment_tasks++;
    gt_compact_column_put(tasks, t->id);
    gt_compact_column_put(tasks, t->time);
    gt_compact_column_put(tasks, depth);
    t->frame[0] = (struct gt_compact_model_frame){.begin = t->time};
    for (size_t i = 1; i <= depth; i++) {
        uint64_t begin = t->frame[i].begin;
        bool is_new;
        uint32_t number =
            gt_compact_words_number(&p->words, t->exit[i] >> 16, GT_COMPACT_ENTRY, words, &is_new);
        if (!number)
            return false;
        gt_compact_column_put(syms, is_new ? 0 : number);
        gt_compact_column_put(tasks, gt_compact_zigzag((int64_t)(begin - t->frame[i - 1].begin)));
        gt_compact_model_enter(&t->frame[i - 1], number, begin);
    }
    return true;
}

int gt_compact_packer_task(struct gt_compact_packer *p, uint32_t id,
                           struct gt_compact_packer_task **out)
{
    struct gt_compact_packer_task *t = *task_slot(p, id);
    if (!t)
        t = new_task(p, id);
    *out = t;
    if (!t)
        return GT_E_NOMEM;
    if (t->segment == p->segment)
        return 0;
    if (p->n_segment_tasks == GT_COMPACT_MAX_TASKS)
        return GT_E_RANGE;
    return open_task(p, t) ? 0 : GT_E_NOMEM;
}

int gt_compact_packer_resume(struct gt_compact_packer *p, uint32_t task, uint64_t time,
                             const struct gt_compact_packer_frame *frame, size_t n)
{
    struct gt_compact_packer_task *t = *task_slot(p, task);
    if (n > GT_PACKER_DEPTH)
        return GT_E_RANGE;
    if (t)
        return GT_E_USAGE;
    t = new_task(p, task);
    int status = t ? gt_compact_packer_grow_stack(p, t, n) : GT_E_NOMEM;
    if (status == GT_E_RANGE)
        gt_compact_packer_forget(p, task);
    if (status < 0)
        return status;
    t->time = time;
    t->depth = (uint32_t)n;
    for (size_t i = 0; i < n; i++) {
        t->exit[i + 1] = gt_uftrace_exit((uint32_t)i, frame[i].addr);
        t->frame[i + 1].begin = frame[i].begin;
    }
    return 0;
}

void gt_compact_packer_forget(struct gt_compact_packer *p, uint32_t task)
{
    struct gt_compact_packer_task **slot = task_slot(p, task);
    if (!*slot)
        return;
    free_task(*slot);
    *slot = NULL;
    p->n_tasks--;
    /* Those after it, up to the next free slot, may have to come nearer. */
    size_t mask = p->tasks_room - 1;
    for (size_t i = ((size_t)(slot - p->tasks) + 1) & mask; p->tasks[i]; i = (i + 1) & mask) {
        struct gt_compact_packer_task *t = p->tasks[i];
        p->tasks[i] = NULL;
        *task_slot(p, t->id) = t;
    }
}
