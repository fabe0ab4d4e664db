/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packing records: see compact.h and model.h. */
#include "format/compact/pack.h"

enum {
    BLOCK_BYTES = 1 << 19,   /* of a column */
    SEGMENT_WORDS = 1 << 18, /* more make a new segment, too: its memory is bounded */
};

/* ---- records ------------------------------------------------------------------------------- */

/* What the word says, as a symbol. 0 is an exit; GT_E_NOMEM. */
static int64_t sym_of(struct gt_packer *p, const struct gt_packer_task *t, uint64_t word)
{
    uint64_t addr = word >> 16;
    unsigned class = GT_COMPACT_OTHER;
    p->is_new = false;
    if (t->depth > 0 && word == gt_uftrace_exit(t->depth - 1, t->addr[t->depth]))
        return GT_COMPACT_EXIT;
    if (word == gt_uftrace_entry(t->depth, addr) && t->depth < GT_MODEL_DEPTH)
        class = GT_COMPACT_ENTRY;
    else if (word == gt_uftrace_event(t->depth, addr) && t->depth < GT_MODEL_DEPTH)
        class = GT_COMPACT_EVENT;
    uint64_t value = class == GT_COMPACT_OTHER ? word : addr;
    uint32_t number =
        gt_words_number(&p->words, value, class, &p->column[GT_COLUMN_WORDS], &p->is_new);
    return number ? (int64_t)number << 2 | class : GT_E_NOMEM;
}

/* A symbol that nothing predicted: of a new word, without its number, which is the next. */
static void put_sym(struct gt_packer *p, uint32_t sym)
{
    gt_column_put(&p->column[GT_COLUMN_SYMS], p->is_new ? sym & 3 : sym);
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
        put_sym(p, sym);
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
        put_sym(p, sym);
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

static void advance(struct gt_packer_task *t, uint32_t sym, uint64_t addr)
{
    struct gt_model_frame *top = &t->frame[t->depth];
    switch (sym & 3) {
    case GT_COMPACT_EXIT:
        t->depth--;
        gt_model_note(&top[-1], top->number);
        break;
    case GT_COMPACT_ENTRY:
        t->addr[++t->depth] = addr;
        gt_model_enter(top, sym >> 2, t->time);
        break;
    default:
        gt_model_note(top, sym);
    }
}

static int put_record(struct gt_packer *p, struct gt_packer_task *t,
                      const struct gt_compact_record *r)
{
    int64_t sym = sym_of(p, t, r->word);
    if (sym < 0)
        return (int)sym;
    uint64_t step = r->time - t->time;
    uint32_t context = t->frame[t->depth].context;
    const struct gt_prediction *first = &p->first[context];
    t->time = r->time;
    if (!p->exact)
        put_time(p, step);
    if (first->sym == sym && (!p->exact || first->step == step))
        p->run++;
    else if (p->exact)
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
    struct gt_packer_task *t;
    int status = reserve(p, n) ? gt_packer_task(p, id, &t) : GT_E_NOMEM;
    if (status < 0)
        return status;
    if (!reserve(p, n))
        return GT_E_NOMEM;
    gt_column_put(&p->column[GT_COLUMN_PIECES], t->index);
    gt_column_put(&p->column[GT_COLUMN_PIECES], n);
    for (size_t i = 0; i < n; i++) {
        status = put_record(p, t, &r[i]);
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
    bool full = p->head.records >= GT_PACKER_BLOCK || p->n_segment_tasks == GT_COMPACT_MAX_TASKS;
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
        (uint8_t)((p->begins ? GT_COMPACT_SEGMENT : 0) | (p->exact ? GT_COMPACT_EXACT : 0));
    p->head.size = (uint32_t)(p->out.n - GT_COMPACT_HEAD);
    gt_compact_head_write(p->out.data, &p->head, p->out.data + GT_COMPACT_HEAD);
    *data = p->out.data;
    *size = p->out.n;
    p->begins = false;
    if (p->segment_records >= p->o.segment || p->words.n >= SEGMENT_WORDS ||
        p->n_segment_tasks >= GT_COMPACT_MAX_TASKS / 2)
        gt_packer_begin_segment(p);
    gt_packer_begin_block(p);
    return 0;
}

void gt_packer_set_exact(struct gt_packer *p, bool exact)
{
    p->o.exact = exact;
    if (p->head.records == 0)
        p->exact = exact;
}
