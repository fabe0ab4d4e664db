/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packing records: see compact.h and model.h. */
#include "format/compact/column.h"
#include "format/compact/model.h"
#include "format/compact/words.h"

#include <stdlib.h>
#include <string.h>

enum {
    TASKS_ROOM = 64,
    BLOCK_RECORDS = 1 << 20,
    BLOCK_BYTES = 1 << 19, /* of a column */
};

struct task {
    uint32_t id;
    uint32_t segment; /* the one that its index is of */
    uint32_t index;
    uint32_t depth;
    uint64_t time;
    struct gt_model_frame *frame; /* GT_MODEL_DEPTH + 1; the first is nobody's */
    uint64_t *addr;               /* of the frames' functions: numbers are a segment's */
};

struct gt_packer {
    struct gt_packer_options o;
    struct gt_prediction *first, *second; /* GT_MODEL_SIZE each */
    /* tasks, by id: open addressing, a power of two */
    struct task **tasks;
    size_t n_tasks, tasks_room;
    /* the segment */
    uint32_t segment; /* counted from 1 */
    uint32_t n_segment_tasks;
    uint64_t segment_records;
    struct gt_words words;
    /* the block */
    bool begins; /* the segment */
    struct gt_compact_head head;
    uint64_t run;
    struct gt_column_out column[GT_COLUMNS];
    struct gt_column_out out;
    ZSTD_CCtx *zstd;
    uint64_t records; /* put so far */
};

/* ---- life ---------------------------------------------------------------------------------- */

static void begin_segment(struct gt_packer *p)
{
    memset(p->first, 0, GT_MODEL_SIZE * sizeof *p->first);
    memset(p->second, 0, GT_MODEL_SIZE * sizeof *p->second);
    gt_words_clear(&p->words);
    p->segment++;
    p->n_segment_tasks = 0;
    p->segment_records = 0;
    p->begins = true;
}

static void begin_block(struct gt_packer *p)
{
    for (int i = 0; i < GT_COLUMNS; i++)
        p->column[i].n = 0;
    p->head = (struct gt_compact_head){.type = GT_COMPACT_RECORDS,
                                       .packer = p->o.packer,
                                       .first_time = UINT64_MAX,
                                       .before = p->records};
    p->run = 0;
}

int gt_packer_create(const struct gt_packer_options *o, struct gt_packer **out)
{
    struct gt_packer *p = calloc(1, sizeof *p);
    *out = p;
    if (!p)
        return GT_E_NOMEM;
    p->o = *o;
    if (!p->o.segment)
        p->o.segment = GT_PACKER_SEGMENT;
    p->tasks_room = TASKS_ROOM;
    p->first = calloc(GT_MODEL_SIZE, sizeof *p->first);
    p->second = calloc(GT_MODEL_SIZE, sizeof *p->second);
    p->tasks = calloc(p->tasks_room, sizeof *p->tasks);
    bool words = gt_words_init(&p->words);
    p->zstd = ZSTD_createCCtx();
    if (!p->first || !p->second || !p->tasks || !words || !p->zstd) {
        gt_packer_destroy(p);
        *out = NULL;
        return GT_E_NOMEM;
    }
    begin_segment(p);
    begin_block(p);
    return 0;
}

void gt_packer_destroy(struct gt_packer *p)
{
    if (!p)
        return;
    for (size_t i = 0; p->tasks && i < p->tasks_room; i++)
        if (p->tasks[i]) {
            free(p->tasks[i]->frame);
            free(p->tasks[i]->addr);
            free(p->tasks[i]);
        }
    for (int i = 0; i < GT_COLUMNS; i++)
        free(p->column[i].data);
    free(p->out.data);
    free(p->first);
    free(p->second);
    free(p->tasks);
    gt_words_finish(&p->words);
    ZSTD_freeCCtx(p->zstd);
    free(p);
}

/* The number of a word; the caller has room for a new one. 0: no memory. */
static uint32_t number_of(struct gt_packer *p, uint64_t value, unsigned class)
{
    return gt_words_number(&p->words, value, class, &p->column[GT_COLUMN_WORDS]);
}

/* ---- tasks --------------------------------------------------------------------------------- */

static struct task **task_slot(struct gt_packer *p, uint32_t id)
{
    size_t i = gt_words_hash(id) & (p->tasks_room - 1);
    while (p->tasks[i] && p->tasks[i]->id != id)
        i = (i + 1) & (p->tasks_room - 1);
    return &p->tasks[i];
}

static bool grow_tasks(struct gt_packer *p)
{
    struct task **old = p->tasks;
    size_t n = p->tasks_room;
    struct task **tasks = calloc(2 * n, sizeof *tasks);
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

static struct task *new_task(struct gt_packer *p, uint32_t id)
{
    struct task *t = calloc(1, sizeof *t);
    if (t) {
        t->id = id;
        t->frame = calloc(GT_MODEL_DEPTH + 1, sizeof *t->frame);
        t->addr = calloc(GT_MODEL_DEPTH + 1, sizeof *t->addr);
    }
    if (!t || !t->frame || !t->addr || (2 * p->n_tasks >= p->tasks_room && !grow_tasks(p))) {
        free(t ? t->frame : NULL);
        free(t ? t->addr : NULL);
        free(t);
        return NULL;
    }
    p->n_tasks++;
    return *task_slot(p, id) = t;
}

/* The task's first record in the segment: what the unpacker has to know of it. */
static bool open_task(struct gt_packer *p, struct task *t)
{
    struct gt_column_out *tasks = &p->column[GT_COLUMN_TASKS], *syms = &p->column[GT_COLUMN_SYMS];
    size_t depth = t->depth;
    if (!gt_column_reserve(tasks, 3 * GT_NUMBER_MAX) ||
        !gt_column_reserve(syms, depth * GT_NUMBER_MAX) ||
        !gt_column_reserve(&p->column[GT_COLUMN_WORDS], depth * GT_NUMBER_MAX))
        return false;
    t->segment = p->segment;
    t->index = p->n_segment_tasks++;
    gt_column_put(tasks, t->id);
    gt_column_put(tasks, t->time);
    gt_column_put(tasks, depth);
    t->frame[0] = (struct gt_model_frame){0};
    for (size_t i = 1; i <= depth; i++) {
        uint32_t number = number_of(p, t->addr[i], GT_COMPACT_ENTRY);
        if (!number)
            return false;
        gt_column_put(syms, number);
        gt_model_enter(&t->frame[i - 1], number);
    }
    return true;
}

static struct task *task_of(struct gt_packer *p, uint32_t id)
{
    struct task *t = *task_slot(p, id);
    if (!t)
        t = new_task(p, id);
    return t && (t->segment == p->segment || open_task(p, t)) ? t : NULL;
}

/* ---- records ------------------------------------------------------------------------------- */

/* What the word says, as a symbol. 0 is an exit; GT_E_NOMEM. */
static int64_t sym_of(struct gt_packer *p, const struct task *t, uint64_t word)
{
    uint64_t addr = word >> 16;
    unsigned class = GT_COMPACT_OTHER;
    if (t->depth > 0 && word == gt_uftrace_exit(t->depth - 1, t->addr[t->depth]))
        return GT_COMPACT_EXIT;
    if (word == gt_uftrace_entry(t->depth, addr) && t->depth < GT_MODEL_DEPTH)
        class = GT_COMPACT_ENTRY;
    else if (word == gt_uftrace_event(t->depth, addr) && t->depth < GT_MODEL_DEPTH)
        class = GT_COMPACT_EVENT;
    uint32_t number = number_of(p, class == GT_COMPACT_OTHER ? word : addr, class);
    return number ? (int64_t)number << 2 | class : GT_E_NOMEM;
}

static void put_step(struct gt_packer *p, uint64_t step, bool far, const uint32_t *predicted)
{
    if (far)
        gt_column_put(&p->column[GT_COLUMN_FAR], gt_zigzag((int64_t)step));
    else if (predicted)
        gt_column_put(&p->column[GT_COLUMN_NEAR], gt_zigzag((int64_t)step - *predicted));
    else
        gt_column_put(&p->column[GT_COLUMN_FAR], step);
}

/* A record that the first prediction does not say, with its time. */
static void miss_exact(struct gt_packer *p, uint32_t context, uint32_t sym, uint64_t step)
{
    struct gt_prediction *first = &p->first[context], *second = &p->second[context];
    bool far = step > UINT32_MAX;
    enum gt_miss miss = GT_MISS_BOTH;
    if (first->sym == sym)
        miss = GT_MISS_TIME;
    else if (second->sym == sym)
        miss = GT_MISS_SECOND_TIME;
    if (second->sym == sym && second->step == step && !far)
        miss = GT_MISS_SECOND;
    gt_column_put(&p->column[GT_COLUMN_RUNS], p->run);
    p->run = 0;
    gt_column_put(&p->column[GT_COLUMN_MISSES], miss | (far ? GT_MISS_FAR : 0));
    if (miss == GT_MISS_BOTH)
        gt_column_put(&p->column[GT_COLUMN_SYMS], sym);
    if (miss != GT_MISS_SECOND)
        put_step(p, step, far,
                 miss == GT_MISS_TIME          ? &first->step
                 : miss == GT_MISS_SECOND_TIME ? &second->step
                                               : NULL);
    *second = *first;
    *first = (struct gt_prediction){sym, (uint32_t)step};
}

/* What happened only. */
static void miss_sym(struct gt_packer *p, uint32_t context, uint32_t sym)
{
    struct gt_prediction *first = &p->first[context], *second = &p->second[context];
    bool is_second = second->sym == sym;
    gt_column_put(&p->column[GT_COLUMN_RUNS], p->run);
    p->run = 0;
    gt_column_put(&p->column[GT_COLUMN_MISSES], is_second ? GT_MISS_SECOND : GT_MISS_BOTH);
    if (!is_second)
        gt_column_put(&p->column[GT_COLUMN_SYMS], sym);
    *second = *first;
    first->sym = sym;
}

/* Steps of a host's clock: nothing predicts them. */
static void put_time(struct gt_packer *p, uint64_t step)
{
    struct gt_column_out *near = &p->column[GT_COLUMN_NEAR];
    near->data[near->n++] = (uint8_t)(step < UINT8_MAX ? step : UINT8_MAX);
    if (step >= UINT8_MAX)
        gt_column_put(&p->column[GT_COLUMN_FAR], gt_zigzag((int64_t)step));
}

static void advance(struct task *t, uint32_t sym, uint64_t addr)
{
    struct gt_model_frame *top = &t->frame[t->depth];
    switch (sym & 3) {
    case GT_COMPACT_EXIT:
        t->depth--;
        gt_model_note(&top[-1], top->number);
        break;
    case GT_COMPACT_ENTRY:
        t->addr[++t->depth] = addr;
        gt_model_enter(top, sym >> 2);
        break;
    default:
        gt_model_note(top, sym);
    }
}

static int put_record(struct gt_packer *p, struct task *t, const struct gt_compact_record *r)
{
    int64_t sym = sym_of(p, t, r->word);
    if (sym < 0)
        return (int)sym;
    uint64_t step = r->time - t->time;
    uint32_t context = t->frame[t->depth].context;
    const struct gt_prediction *first = &p->first[context];
    t->time = r->time;
    if (!p->o.exact)
        put_time(p, step);
    if (first->sym == sym && (!p->o.exact || first->step == step))
        p->run++;
    else if (p->o.exact)
        miss_exact(p, context, (uint32_t)sym, step);
    else
        miss_sym(p, context, (uint32_t)sym);
    advance(t, (uint32_t)sym, r->word >> 16);
    return 0;
}

static bool reserve(struct gt_packer *p, size_t n)
{
    bool done = gt_column_reserve(&p->column[GT_COLUMN_PIECES], 2 * GT_NUMBER_MAX);
    for (int i = GT_COLUMN_RUNS; i < GT_COLUMNS; i++)
        done = done && gt_column_reserve(&p->column[i], (n + 1) * GT_NUMBER_MAX);
    return done;
}

static void note_time(struct gt_packer *p, const struct gt_compact_record *r, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        p->head.first_time = r[i].time < p->head.first_time ? r[i].time : p->head.first_time;
        p->head.last_time = r[i].time > p->head.last_time ? r[i].time : p->head.last_time;
    }
}

static int put_piece(struct gt_packer *p, uint32_t id, const struct gt_compact_record *r, size_t n)
{
    struct task *t = reserve(p, n) ? task_of(p, id) : NULL;
    if (!t || !reserve(p, n))
        return GT_E_NOMEM;
    gt_column_put(&p->column[GT_COLUMN_PIECES], t->index);
    gt_column_put(&p->column[GT_COLUMN_PIECES], n);
    for (size_t i = 0; i < n; i++) {
        int status = put_record(p, t, &r[i]);
        if (status < 0)
            return status;
    }
    note_time(p, r, n);
    p->head.records += (uint32_t)n;
    p->records += n;
    p->segment_records += n;
    return 0;
}

int gt_packer_put(struct gt_packer *p, uint32_t task, const struct gt_compact_record *r, size_t n)
{
    enum { PIECE = 4096 };
    int status = n > GT_COMPACT_MAX_RECORDS - p->head.records ? GT_E_RANGE : 0;
    for (size_t at = 0; at < n && status == 0; at += PIECE)
        status = put_piece(p, task, r + at, n - at < PIECE ? n - at : PIECE);
    return status;
}

bool gt_packer_is_full(const struct gt_packer *p)
{
    bool full = p->head.records >= BLOCK_RECORDS;
    for (int i = 0; i < GT_COLUMNS && !full; i++)
        full = p->column[i].n >= BLOCK_BYTES;
    return full;
}

/* ---- blocks -------------------------------------------------------------------------------- */

int gt_packer_end_block(struct gt_packer *p, const uint8_t **data, size_t *size)
{
    *size = 0;
    if (p->head.records == 0)
        return 0;
    gt_column_put(&p->column[GT_COLUMN_RUNS], p->run); /* a piece has left room */
    p->out.n = 0;
    if (!gt_column_reserve(&p->out, GT_COMPACT_HEAD))
        return GT_E_NOMEM;
    p->out.n = GT_COMPACT_HEAD;
    for (int i = 0; i < GT_COLUMNS; i++)
        if (!gt_column_pack(&p->column[i], p->zstd, &p->out))
            return GT_E_NOMEM;
    p->head.flags =
        (uint8_t)((p->begins ? GT_COMPACT_SEGMENT : 0) | (p->o.exact ? GT_COMPACT_EXACT : 0));
    p->head.size = (uint32_t)(p->out.n - GT_COMPACT_HEAD);
    gt_compact_head_write(p->out.data, &p->head, p->out.data + GT_COMPACT_HEAD);
    *data = p->out.data;
    *size = p->out.n;
    p->begins = false;
    if (p->segment_records >= p->o.segment)
        begin_segment(p);
    begin_block(p);
    return 0;
}
