/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unpacking records: see compact.h and model.h. */
#include "calls/file/unpack.h"

#include <inttypes.h>

/* ---- records ------------------------------------------------------------------------------- */

/* What the loop over predicted records keeps in registers. */
struct place {
    struct gt_compact_model_frame *top;
    uint32_t depth, room;
    uint64_t time;
};

/* False: the task's stack does not allow it, or has no room; nothing has changed. */
static inline __attribute__((always_inline)) bool
advance(struct place *at, uint32_t sym, uint64_t step, struct gt_compact_event *out)
{
    struct gt_compact_model_frame *top = at->top;
    uint64_t time = at->time + step;
    switch (sym & 3) {
    case GT_COMPACT_EXIT:
        if (__builtin_expect(at->depth == 0, 0))
            return false;
        *out = (struct gt_compact_event){time, top->number << 2, --at->depth};
        gt_compact_model_note(&top[-1], top->number);
        at->top = top - 1;
        break;
    case GT_COMPACT_ENTRY:
        if (__builtin_expect(at->depth == at->room, 0))
            return false;
        *out = (struct gt_compact_event){time, sym, at->depth++};
        gt_compact_model_enter(top, sym >> 2, time);
        at->top = top + 1;
        break;
    default:
        *out = (struct gt_compact_event){time, sym, at->depth};
        gt_compact_model_note(top, sym);
    }
    at->time = time;
    return true;
}

static int take_sym(struct gt_compact_unpacker *u, uint32_t *sym)
{
    uint64_t v = gt_compact_unpacker_take(u, GT_COLUMN_SYMS);
    if ((v & 3) == GT_COMPACT_EXIT) {
        *sym = 0;
        return v ? GT_E_FORMAT : 0;
    }
    uint32_t number;
    int status = gt_compact_unpacker_take_word(u, v >> 2, &number);
    *sym = number << 2 | (v & 3);
    return status;
}

static uint64_t take_step(struct gt_compact_unpacker *u, unsigned miss, uint32_t predicted)
{
    if (miss & GT_MISS_FAR)
        return (uint64_t)gt_compact_unzigzag(gt_compact_unpacker_take(u, GT_COLUMN_FAR));
    if ((miss & GT_MISS_MASK) == GT_MISS_BOTH)
        return gt_compact_unpacker_take(u, GT_COLUMN_FAR);
    return (uint64_t)(predicted + gt_compact_unzigzag(gt_compact_unpacker_take(u, GT_COLUMN_NEAR)));
}

/* A record that was not predicted. */
static int take_exact(struct gt_compact_unpacker *u, uint32_t context, uint32_t *sym,
                      uint64_t *step)
{
    struct gt_compact_prediction *first = &u->first[context], *second = &u->second[context];
    unsigned miss = gt_compact_column_take_byte(&u->columns.in[GT_COLUMN_MISSES]);
    int status = 0;
    *step = second->step;
    *sym = second->sym;
    switch (miss) {
    case GT_MISS_SECOND:
        break;
    case GT_MISS_TIME:
    case GT_MISS_TIME | GT_MISS_FAR:
        *sym = first->sym;
        *step = take_step(u, miss, first->step);
        break;
    case GT_MISS_SECOND_TIME:
    case GT_MISS_SECOND_TIME | GT_MISS_FAR:
        *step = take_step(u, miss, second->step);
        break;
    case GT_MISS_BOTH:
    case GT_MISS_BOTH | GT_MISS_FAR:
        status = take_sym(u, sym);
        *step = take_step(u, miss, 0);
        break;
    default:
        return GT_E_FORMAT;
    }
    *second = *first;
    *first = (struct gt_compact_prediction){*sym, (uint32_t)*step};
    return status;
}

static int take_timed(struct gt_compact_unpacker *u, uint32_t context, uint32_t *sym)
{
    struct gt_compact_prediction *first = &u->first[context], *second = &u->second[context];
    unsigned miss = gt_compact_column_take_byte(&u->columns.in[GT_COLUMN_MISSES]);
    int status = 0;
    *sym = second->sym;
    if (miss == GT_MISS_BOTH)
        status = take_sym(u, sym);
    else if (miss != GT_MISS_SECOND)
        status = GT_E_FORMAT;
    *second = *first;
    first->sym = *sym;
    return status;
}

static __attribute__((noinline)) uint64_t take_long(struct gt_compact_unpacker *u, unsigned byte)
{
    if (byte == GT_CLOCK_ESCAPE)
        return (uint64_t)gt_compact_unzigzag(gt_compact_unpacker_take(u, GT_COLUMN_FAR));
    uint64_t low = gt_compact_column_take_byte(&u->columns.in[GT_COLUMN_LOW]);
    return GT_CLOCK_LONG + ((uint64_t)(byte - GT_CLOCK_LONG) << 8) + low;
}

/* A step of a host's clock. */
static inline __attribute__((always_inline)) uint64_t take_time(struct gt_compact_unpacker *u,
                                                                struct gt_compact_prediction *first)
{
    uint32_t average = first->step;
    unsigned column = GT_COLUMN_STEPS + (average >> 2 >> u->shift);
    unsigned byte = gt_compact_column_take_byte(&u->columns.in[column]);
    first->step = gt_compact_clock_learn(&u->levels, average, byte);
    return byte < GT_CLOCK_LONG ? byte : take_long(u, byte);
}

/* Records that the table predicts; returns how many were made. */
static size_t run_exact(const struct gt_compact_unpacker *u, struct place *at,
                        struct gt_compact_event *out, size_t n)
{
    const struct gt_compact_prediction *table = u->first;
    struct place here = *at;
    size_t i = 0;
    while (i < n) {
        struct gt_compact_prediction next = table[here.top->context];
        if (!advance(&here, next.sym, next.step, &out[i]))
            break;
        i++;
    }
    *at = here;
    return i;
}

static size_t run_timed(struct gt_compact_unpacker *u, struct place *at,
                        struct gt_compact_event *out, size_t n)
{
    struct gt_compact_prediction *table = u->first;
    struct place here = *at;
    size_t i = 0;
    while (i < n) {
        struct gt_compact_prediction *first = &table[here.top->context];
        uint32_t sym = first->sym;
        if (here.depth == here.room && (sym & 3) == GT_COMPACT_ENTRY)
            break; /* before its step is taken */
        if (!advance(&here, sym, take_time(u, first), &out[i]))
            break;
        i++;
    }
    *at = here;
    return i;
}

static int take_one(struct gt_compact_unpacker *u, struct place *at, struct gt_compact_event *out)
{
    uint32_t sym, context = at->top->context;
    uint64_t step = u->exact ? 0 : take_time(u, &u->first[context]);
    int status = u->exact ? take_exact(u, context, &sym, &step) : take_timed(u, context, &sym);
    u->run = gt_compact_unpacker_take(u, GT_COLUMN_RUNS);
    return status < 0 ? status : advance(at, sym, step, out) ? 0 : GT_E_FORMAT;
}

/* Where there is no room for another function, and may be more: *more. GT_E_NOMEM. */
static int grow_stack(struct gt_compact_unpacker *u, struct gt_compact_unpacker_task *t,
                      struct place *at, bool *more)
{
    *more = false;
    if (at->depth < at->room)
        return 0;
    int status = gt_compact_unpacker_grow_stack(u, t, at->depth + (size_t)1);
    if (status < 0)
        return status == GT_E_FORMAT ? 0 : status; /* an entry is damage, others are not */
    *more = true;
    at->room = t->room;
    at->top = &t->frame[at->depth];
    return 0;
}

/* n records of the task. */
static int take_events(struct gt_compact_unpacker *u, struct gt_compact_unpacker_task *t,
                       struct gt_compact_event *out, size_t n)
{
    struct place at = {&t->frame[t->depth], t->depth, t->room, t->time};
    bool more;
    int status = grow_stack(u, t, &at, &more);
    for (size_t i = 0; i < n && status == 0;) {
        size_t want = u->run < n - i ? (size_t)u->run : n - i;
        size_t got = u->exact ? run_exact(u, &at, out + i, want) : run_timed(u, &at, out + i, want);
        u->run -= got;
        i += got;
        status = grow_stack(u, t, &at, &more);
        if (status == 0 && got < want && !more)
            status = GT_E_FORMAT;
        if (status == 0 && u->run == 0 && i < n)
            status = take_one(u, &at, &out[i++]);
    }
    t->depth = at.depth;
    t->time = at.time;
    return status;
}

/* ---- blocks -------------------------------------------------------------------------------- */

struct consumer {
    int (*piece)(void *self, const struct gt_compact_piece *p);
    void *self;
};

/* A record that has values. */
static int take_valued(struct gt_compact_unpacker *u, const struct consumer *c,
                       struct gt_compact_piece piece)
{
    struct gt_value_list values;
    int status = take_events(u, &u->task[piece.index], u->event, 2);
    if (status == 0)
        status = gt_compact_unpacker_take_values(u, u->event, &values);
    piece.n = 1;
    piece.values = &values;
    return status < 0 ? status : c->piece(c->self, &piece);
}

/* *left: records that the block's head says and that have not come. */
static int take_piece(struct gt_compact_unpacker *u, const struct consumer *c, uint64_t *left)
{
    uint64_t index = gt_compact_unpacker_take(u, GT_COLUMN_PIECES),
             n = gt_compact_unpacker_take(u, GT_COLUMN_PIECES);
    struct gt_compact_piece piece = {
        .index = (uint32_t)index, .first = index == u->n_tasks, .event = u->event};
    int status = piece.first ? gt_compact_unpacker_open_task(u) : 0;
    const bool valued = n == 0 && u->columns.values;
    if (status < 0 || index >= u->n_tasks || (n == 0 && !valued) || n > *left)
        return status < 0 ? status : GT_E_FORMAT;
    if (piece.first) {
        uint32_t depth;
        piece.open = gt_compact_unpacker_frames(u, piece.index, &depth, &piece.time);
        piece.n_open = depth;
        if (!piece.open)
            return GT_E_NOMEM;
    }
    piece.task = u->task[index].id;
    *left -= valued ? 1 : n;
    if (valued)
        return take_valued(u, c, piece);
    for (uint64_t more = n; more > 0 && status >= 0; more -= piece.n) {
        piece.n = more < GT_UNPACKER_EVENTS ? (size_t)more : GT_UNPACKER_EVENTS;
        status = take_events(u, &u->task[index], u->event, piece.n);
        if (status == 0)
            status = c->piece(c->self, &piece);
        piece.first = false;
        piece.open = NULL;
        piece.n_open = 0;
    }
    return status;
}

static int open_columns(struct gt_compact_unpacker *u, const struct gt_compact_head *head,
                        const void *payload)
{
    struct gt_compact_column_in in = {payload, (const uint8_t *)payload + head->size, false};
    unsigned n = GT_COLUMN_STEPS;
    if (!u->exact) {
        uint64_t shift = gt_compact_column_take(&in);
        if (in.bad || shift < GT_CLOCK_SHIFT || shift > GT_CLOCK_MOST_SHIFT)
            return GT_E_FORMAT;
        u->shift = (unsigned)shift;
        n += gt_compact_clock_columns(u->shift);
    }
    return gt_compact_columns_open(&u->columns, n, head->flags & GT_COMPACT_VALUES, in.at,
                                   (size_t)(in.end - in.at), GT_COMPACT_MAX_PAYLOAD);
}

int gt_compact_unpacker_block(struct gt_compact_unpacker *u, const struct gt_compact_head *head,
                              const void *payload,
                              int (*piece)(void *self, const struct gt_compact_piece *p),
                              void *self, struct gt_error *err)
{
    const struct consumer consumer = {piece, self};
    uint64_t left = head->records;
    bool exact = head->flags & GT_COMPACT_EXACT;
    if (head->flags & GT_COMPACT_SEGMENT) {
        gt_compact_unpacker_begin_segment(u);
        u->exact = exact;
    }
    if (!u->begun)
        return gt_error_set(err, GT_E_USAGE, "the segment's first block has not been unpacked");
    int status = exact == u->exact ? open_columns(u, head, payload) : GT_E_FORMAT;
    u->run = status < 0 ? 0 : gt_compact_unpacker_take(u, GT_COLUMN_RUNS);
    while (left > 0 && status >= 0)
        status = take_piece(u, &consumer, &left);
    if (status >= 0 && (u->run > 0 || !gt_compact_columns_are_done(&u->columns)))
        status = GT_E_FORMAT;
    if (status >= 0)
        return 0;
    u->begun = false;
    if (status == GT_E_FORMAT || status == GT_E_NOMEM)
        gt_error_set(err, status, "%s, some %" PRIu64 " records before the block's end",
                     status == GT_E_NOMEM ? "out of memory" : "the packed records are damaged",
                     left);
    return status;
}

struct gt_compact_record gt_compact_unpacker_record(const struct gt_compact_unpacker *u,
                                                    const struct gt_compact_event *e)
{
    uint64_t word = gt_compact_unpacker_word(u, e->sym >> 2);
    switch (e->sym & 3) {
    case GT_COMPACT_EXIT:
        word = gt_uftrace_exit(e->depth, word);
        break;
    case GT_COMPACT_ENTRY:
        word = gt_uftrace_entry(e->depth, word);
        break;
    case GT_COMPACT_EVENT:
        word = gt_uftrace_event(e->depth, word);
        break;
    default:
        break;
    }
    return (struct gt_compact_record){e->time, word};
}
