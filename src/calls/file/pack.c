/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packing records: see compact.h and model.h. */
#include "calls/file/pack.h"

#include <string.h>

enum {
    AHEAD = 32,              /* records that are fetched before they are looked at */
    EXACT_LEVEL = 3,         /* zstd's: most is packed before */
    TIMED_LEVEL = 1,         /* higher ones find no more in steps */
    BLOCK_BYTES = 1 << 19,   /* of a column */
    SEGMENT_WORDS = 1 << 18, /* more make a new segment, too: its memory is bounded */
};

/* ---- symbols ------------------------------------------------------------------------------- */

/* What the loop over records keeps in registers, of a task. */
struct place {
    struct gt_compact_model_frame *top;
    uint64_t *exit; /* of the one at top */
    uint32_t depth, room;
    uint64_t time;
    uint64_t lowest, highest; /* times */
};

/* What the word says, as a symbol. 0 is an exit; GT_E_NOMEM. */
static int64_t sym_of(struct gt_compact_packer *p, const struct place *at, uint64_t word)
{
    uint64_t addr = word >> 16;
    unsigned class = GT_COMPACT_OTHER;
    p->is_new = false;
    if (at->depth > 0 && word == *at->exit)
        return GT_COMPACT_EXIT;
    if (word == gt_uftrace_entry(at->depth, addr) && at->depth < at->room)
        class = GT_COMPACT_ENTRY;
    else if (word == gt_uftrace_event(at->depth, addr))
        class = GT_COMPACT_EVENT;
    uint64_t value = class == GT_COMPACT_OTHER ? word : addr;
    uint32_t number =
        gt_compact_words_number(&p->words, value, class, &p->column[GT_COLUMN_WORDS], &p->is_new);
    return number ? (int64_t)number << 2 | class : GT_E_NOMEM;
}

/* True: sym_of() gives the symbol. False: look. */
static inline bool says(const struct gt_compact_word *words, const struct place *at, uint32_t sym,
                        uint64_t word)
{
    switch (sym & 3) {
    case GT_COMPACT_EXIT:
        return at->depth > 0 && word == *at->exit;
    case GT_COMPACT_ENTRY:
        return at->depth < at->room && word == gt_uftrace_entry(at->depth, words[sym >> 2].value);
    case GT_COMPACT_EVENT:
        return word == gt_uftrace_event(at->depth, words[sym >> 2].value);
    default:
        return false;
    }
}

static inline __attribute__((always_inline)) void advance(struct place *at, uint32_t sym,
                                                          const struct gt_compact_record *r)
{
    struct gt_compact_model_frame *top = at->top;
    at->time = r->time;
    at->lowest = r->time < at->lowest ? r->time : at->lowest;
    at->highest = r->time > at->highest ? r->time : at->highest;
    switch (sym & 3) {
    case GT_COMPACT_EXIT:
        gt_compact_model_note(&top[-1], top->number);
        at->depth--;
        at->exit--;
        at->top--;
        break;
    case GT_COMPACT_ENTRY:
        gt_compact_model_enter(top, sym >> 2, r->time);
        *++at->exit = gt_uftrace_exit(at->depth, r->word >> 16);
        at->depth++;
        at->top++;
        break;
    default:
        gt_compact_model_note(top, sym);
    }
}

/* ---- columns ------------------------------------------------------------------------------- */

/* A symbol that nothing predicted: of a new word, without its number, which is the next. */
static void put_sym(struct gt_compact_packer *p, uint32_t sym)
{
    gt_compact_column_put(&p->column[GT_COLUMN_SYMS], p->is_new ? sym & 3 : sym);
}

static void put_byte(struct gt_compact_column_out *c, uint8_t byte)
{
    c->data[c->n++] = byte;
}

static void put_step(struct gt_compact_packer *p, uint64_t step, bool far,
                     const uint32_t *predicted)
{
    if (far)
        gt_compact_column_put(&p->column[GT_COLUMN_FAR], gt_compact_zigzag((int64_t)step));
    else if (predicted)
        gt_compact_column_put(&p->column[GT_COLUMN_NEAR],
                              gt_compact_zigzag((int64_t)step - *predicted));
    else
        gt_compact_column_put(&p->column[GT_COLUMN_FAR], step);
}

/* A record that the first prediction does not say, with its time. */
static void miss_exact(struct gt_compact_packer *p, uint32_t context, uint32_t sym, uint64_t step)
{
    struct gt_compact_prediction *first = &p->first[context], *second = &p->second[context];
    bool far = step > UINT32_MAX;
    enum gt_compact_miss miss = GT_MISS_BOTH;
    if (first->sym == sym)
        miss = GT_MISS_TIME;
    else if (second->sym == sym)
        miss = GT_MISS_SECOND_TIME;
    if (second->sym == sym && second->step == step && !far)
        miss = GT_MISS_SECOND;
    gt_compact_column_put(&p->column[GT_COLUMN_RUNS], p->run);
    p->run = 0;
    gt_compact_column_put(&p->column[GT_COLUMN_MISSES], miss | (far ? GT_MISS_FAR : 0));
    if (miss == GT_MISS_BOTH)
        put_sym(p, sym);
    if (miss != GT_MISS_SECOND)
        put_step(p, step, far,
                 miss == GT_MISS_TIME          ? &first->step
                 : miss == GT_MISS_SECOND_TIME ? &second->step
                                               : NULL);
    *second = *first;
    *first = (struct gt_compact_prediction){sym, (uint32_t)step};
}

/* What happened only. */
static void miss_sym(struct gt_compact_packer *p, uint32_t context, uint32_t sym)
{
    struct gt_compact_prediction *first = &p->first[context], *second = &p->second[context];
    bool is_second = second->sym == sym;
    gt_compact_column_put(&p->column[GT_COLUMN_RUNS], p->run);
    p->run = 0;
    gt_compact_column_put(&p->column[GT_COLUMN_MISSES], is_second ? GT_MISS_SECOND : GT_MISS_BOTH);
    if (!is_second)
        put_sym(p, sym);
    *second = *first;
    first->sym = sym;
}

/* The byte of a step that has more in other columns. */
static __attribute__((noinline)) unsigned put_long(struct gt_compact_packer *p, uint64_t step)
{
    uint64_t above = step - GT_CLOCK_LONG;
    if (above >> 8 < GT_CLOCK_ESCAPE - GT_CLOCK_LONG) {
        put_byte(&p->column[GT_COLUMN_LOW], (uint8_t)above);
        return GT_CLOCK_LONG + (unsigned)(above >> 8);
    }
    gt_compact_column_put(&p->column[GT_COLUMN_FAR], gt_compact_zigzag((int64_t)step));
    return GT_CLOCK_ESCAPE;
}

/* A step of a host's clock. */
static inline __attribute__((always_inline)) void
put_time(struct gt_compact_packer *p, struct gt_compact_prediction *first, uint64_t step)
{
    uint32_t average = first->step;
    unsigned byte = step < GT_CLOCK_LONG ? (unsigned)step : put_long(p, step);
    put_byte(&p->column[GT_COLUMN_STEPS + (average >> 2 >> p->shift)], (uint8_t)byte);
    first->step = gt_compact_clock_learn(&p->levels, average, byte);
}

/* ---- records ------------------------------------------------------------------------------- */

/* How many records from r on the table predicts. */
static size_t run_exact(const struct gt_compact_packer *p, struct place *at,
                        const struct gt_compact_record *r, size_t n)
{
    const struct gt_compact_prediction *table = p->first;
    const struct gt_compact_word *words = p->words.word;
    struct place here = *at;
    size_t i = 0;
    for (; i < n; i++) {
        struct gt_compact_prediction next = table[here.top->context];
        __builtin_prefetch(&r[i + AHEAD]);
        if (r[i].time - here.time != next.step || !says(words, &here, next.sym, r[i].word))
            break;
        advance(&here, next.sym, &r[i]);
    }
    *at = here;
    return i;
}

static size_t run_timed(struct gt_compact_packer *p, struct place *at,
                        const struct gt_compact_record *r, size_t n)
{
    struct gt_compact_prediction *table = p->first;
    const struct gt_compact_word *words = p->words.word;
    struct place here = *at;
    size_t i = 0;
    for (; i < n; i++) {
        struct gt_compact_prediction *next = &table[here.top->context];
        __builtin_prefetch(&r[i + AHEAD]);
        uint32_t sym = next->sym;
        if (!says(words, &here, sym, r[i].word))
            break;
        put_time(p, next, r[i].time - here.time);
        advance(&here, sym, &r[i]);
    }
    *at = here;
    return i;
}

/* A record of which run_exact() or run_timed() did not see that it is predicted. */
static int put_one(struct gt_compact_packer *p, struct place *at, const struct gt_compact_record *r)
{
    int64_t sym = sym_of(p, at, r->word);
    if (sym < 0)
        return (int)sym;
    uint64_t step = r->time - at->time;
    uint32_t context = at->top->context;
    struct gt_compact_prediction *first = &p->first[context];
    if (!p->exact)
        put_time(p, first, step);
    if (first->sym == sym && (!p->exact || first->step == step))
        p->run++;
    else if (p->exact)
        miss_exact(p, context, (uint32_t)sym, step);
    else
        miss_sym(p, context, (uint32_t)sym);
    advance(at, (uint32_t)sym, r);
    return 0;
}

/* Room for one more function, where one more may be open. GT_E_NOMEM. */
static int grow_stack(struct gt_compact_packer *p, struct gt_compact_packer_task *t,
                      struct place *at)
{
    int status = gt_compact_packer_grow_stack(p, t, at->depth + (size_t)1);
    if (status < 0)
        return status == GT_E_RANGE ? 0 : status;
    at->room = t->room;
    at->top = &t->frame[at->depth];
    at->exit = &t->exit[at->depth];
    return 0;
}

static int put_records(struct gt_compact_packer *p, struct gt_compact_packer_task *t,
                       const struct gt_compact_record *r, size_t n)
{
    struct place at = {
        .top = &t->frame[t->depth],
        .exit = &t->exit[t->depth],
        .depth = t->depth,
        .room = t->room,
        .time = t->time,
        .lowest = p->head.first_time,
        .highest = p->head.last_time,
    };
    int status = 0;
    for (size_t i = 0; i < n && status == 0;) {
        size_t run = p->exact ? run_exact(p, &at, r + i, n - i) : run_timed(p, &at, r + i, n - i);
        p->run += run;
        i += run;
        if (i < n && at.depth == at.room)
            status = grow_stack(p, t, &at);
        if (i < n && status == 0)
            status = put_one(p, &at, &r[i++]);
    }
    t->depth = at.depth;
    t->time = at.time;
    p->head.first_time = at.lowest;
    p->head.last_time = at.highest;
    return status;
}

/* Room for all steps of the block, and some more. */
static bool reserve_steps(struct gt_compact_packer *p, size_t steps)
{
    if (p->exact || steps <= p->steps_room)
        return true;
    p->steps_room = steps < GT_PACKER_BLOCK ? GT_PACKER_BLOCK : 2 * steps;
    bool done = true;
    for (int i = GT_COLUMN_STEPS; i < GT_COLUMN_CODES; i++)
        done = done && gt_compact_column_reserve(&p->column[i], p->steps_room - p->column[i].n);
    return done;
}

/* Room for n records. */
static bool reserve(struct gt_compact_packer *p, size_t n)
{
    bool done = gt_compact_column_reserve(&p->column[GT_COLUMN_PIECES], 2 * GT_NUMBER_MAX);
    for (int i = GT_COLUMN_RUNS; i < GT_COLUMN_STEPS; i++)
        done = done && gt_compact_column_reserve(&p->column[i], (n + 1) * GT_NUMBER_MAX);
    return done && reserve_steps(p, (size_t)p->head.records + p->layouts + n);
}

/* A piece that says that it has `says` records. */
static int put_piece(struct gt_compact_packer *p, uint32_t id, const struct gt_compact_record *r,
                     size_t n, size_t says, struct gt_compact_packer_task **out)
{
    struct gt_compact_packer_task *t;
    int status = reserve(p, n) ? gt_compact_packer_task(p, id, &t) : GT_E_NOMEM;
    if (status < 0)
        return status;
    if (!reserve(p, n))
        return GT_E_NOMEM;
    *out = t;
    gt_compact_column_put(&p->column[GT_COLUMN_PIECES], t->index);
    gt_compact_column_put(&p->column[GT_COLUMN_PIECES], says);
    status = put_records(p, t, r, n);
    if (status < 0)
        return status;
    p->head.records += (uint32_t)n;
    p->records += n;
    p->segment_records += n;
    return 0;
}

/* A record that has values, as a piece of its own; then the layout of these. GT_E_NOMEM,
 * GT_E_RANGE as gt_compact_packer_put. */
static int begin_valued(struct gt_compact_packer *p, uint32_t id, const struct gt_compact_record *r,
                        struct gt_compact_packer_task **out)
{
    return put_piece(p, id, r, 1, 0, out);
}

static int put_layout(struct gt_compact_packer *p, struct gt_compact_packer_task *t,
                      const struct gt_compact_record *layout)
{
    if (!reserve(p, 1))
        return GT_E_NOMEM;
    p->layouts++;
    return put_records(p, t, layout, 1);
}

int gt_compact_packer_put(struct gt_compact_packer *p, uint32_t task,
                          const struct gt_compact_record *r, size_t n)
{
    enum { PIECE = 4096 };
    struct gt_compact_packer_task *t;
    int status = n > GT_COMPACT_MAX_RECORDS - p->head.records ? GT_E_RANGE : 0;
    for (size_t at = 0; at < n && status == 0; at += PIECE) {
        size_t some = n - at < PIECE ? n - at : PIECE;
        status = put_piece(p, task, r + at, some, some, &t);
    }
    return status;
}

bool gt_compact_packer_is_full(const struct gt_compact_packer *p)
{
    bool full = p->head.records >= GT_PACKER_BLOCK || p->n_segment_tasks == GT_COMPACT_MAX_TASKS;
    for (int i = 0; i < GT_COLUMNS && !full; i++)
        if (i < GT_COLUMN_STEPS || i >= GT_COLUMN_CODES)
            full = p->column[i].n >= BLOCK_BYTES;
    return full;
}

uint64_t gt_compact_packer_size(const struct gt_compact_packer *p)
{
    const unsigned steps = GT_COLUMN_STEPS + (p->exact ? 0 : gt_compact_clock_columns(p->shift));
    uint64_t size = GT_COMPACT_HEAD;
    for (unsigned i = 0; i < GT_COLUMNS; i++)
        if (i < steps || i >= GT_COLUMN_CODES)
            size += p->column[i].n;
    return size;
}

/* ---- blocks -------------------------------------------------------------------------------- */

int gt_compact_packer_end_block(struct gt_compact_packer *p, const uint8_t **data, size_t *size)
{
    *size = 0;
    if (p->head.records == 0)
        return 0;
    gt_compact_column_put(&p->column[GT_COLUMN_RUNS], p->run); /* a piece has left room */
    p->out.n = 0;
    if (!gt_compact_column_reserve(&p->out, GT_COMPACT_HEAD + GT_NUMBER_MAX))
        return GT_E_NOMEM;
    p->out.n = GT_COMPACT_HEAD;
    if (!p->exact)
        gt_compact_column_put(&p->out, p->shift);
    int level = p->exact ? EXACT_LEVEL : TIMED_LEVEL;
    unsigned columns = GT_COLUMN_STEPS + (p->exact ? 0 : gt_compact_clock_columns(p->shift));
    for (unsigned i = 0; i < GT_COLUMNS; i++)
        if ((i < columns || (i >= GT_COLUMN_CODES && p->layouts > 0)) &&
            !gt_compact_column_pack(&p->column[i], p->zstd, level, &p->out))
            return GT_E_NOMEM;
    p->head.flags =
        (uint8_t)((p->begins ? GT_COMPACT_SEGMENT : 0) | (p->exact ? GT_COMPACT_EXACT : 0) |
                  (p->layouts > 0 ? GT_COMPACT_VALUES : 0));
    p->head.size = (uint32_t)(p->out.n - GT_COMPACT_HEAD);
    gt_compact_head_write(p->out.data, &p->head, p->out.data + GT_COMPACT_HEAD);
    *data = p->out.data;
    *size = p->out.n;
    p->begins = false;
    if (p->segment_records >= p->o.segment || p->words.n >= SEGMENT_WORDS ||
        p->n_segment_tasks >= GT_COMPACT_MAX_TASKS / 2)
        gt_compact_packer_begin_segment(p);
    gt_compact_packer_begin_block(p);
    return 0;
}

void gt_compact_packer_set_exact(struct gt_compact_packer *p, bool exact)
{
    p->o.exact = exact;
    if (p->head.records == 0)
        gt_compact_packer_begin_block(p);
}

/* ---- values --------------------------------------------------------------------------------- */

/* Room for all values of a record. */
static bool reserve_values(struct gt_compact_packer *p, const struct gt_value_list *list)
{
    size_t bytes = 0;
    for (size_t i = 0; i < list->n; i++)
        bytes += gt_compact_value_is_bytes(&list->value[i]) ? list->value[i].size : 0;
    return gt_compact_column_reserve(&p->column[GT_COLUMN_CODES], list->n) &&
           gt_compact_column_reserve(&p->column[GT_COLUMN_VALUES], list->n * GT_NUMBER_MAX) &&
           gt_compact_column_reserve(&p->column[GT_COLUMN_BYTES], bytes);
}

static void put_code(struct gt_compact_packer *p, enum gt_compact_value_code code)
{
    struct gt_compact_column_out *c = &p->column[GT_COLUMN_CODES];
    c->data[c->n++] = (uint8_t)code;
}

static void put_word(struct gt_compact_packer *p, struct gt_compact_value_guess *g, uint64_t word)
{
    if (word == g->last) {
        put_code(p, GT_VALUE_AS_LAST);
    } else if (word == g->before) {
        put_code(p, GT_VALUE_AS_BEFORE);
    } else if (word - g->last == g->last - g->before) {
        put_code(p, GT_VALUE_AS_STEP);
    } else {
        put_code(p, GT_VALUE_AS_SAID);
        gt_compact_column_put(&p->column[GT_COLUMN_VALUES],
                              gt_compact_zigzag((int64_t)(word - g->last)));
    }
    gt_compact_value_learn(g, word);
}

static void put_text(struct gt_compact_packer *p, struct gt_compact_value_guess *g,
                     const void *bytes, size_t size)
{
    struct gt_compact_texts_seen *texts = &p->values.texts;
    struct gt_compact_column_out *to = &p->column[GT_COLUMN_BYTES];
    uint32_t number = gt_compact_texts_find(texts, bytes, size);
    if (number && number == g->text) {
        put_code(p, GT_TEXT_AS_LAST);
        return;
    }
    put_code(p, number ? GT_TEXT_AS_NUMBER : GT_TEXT_AS_SAID);
    gt_compact_column_put(&p->column[GT_COLUMN_VALUES], number ? number : size);
    if (!number && size) {
        memcpy(to->data + to->n, bytes, size);
        to->n += size;
    }
    g->text = number ? number : gt_compact_texts_add(texts, bytes, size);
}

static int put_values(struct gt_compact_packer *p, uint32_t key, const struct gt_value_list *list)
{
    if (!reserve_values(p, list))
        return GT_E_NOMEM;
    for (size_t i = 0; i < list->n; i++) {
        const struct gt_value *v = &list->value[i];
        struct gt_compact_value_guess *g = gt_compact_value_guess_of(&p->values, key, i);
        if (gt_compact_value_is_word(v))
            put_word(p, g, v->word);
        else if (gt_compact_value_is_bytes(v))
            put_text(p, g, v->bytes, v->size);
    }
    return 0;
}

static bool is_good(const struct gt_value_list *list)
{
    bool good = list->n <= GT_VALUES_MOST;
    for (size_t i = 0; i < list->n && good; i++)
        good = list->value[i].kind <= GT_VALUE_BAD_ADDRESS &&
               list->value[i].size <= GT_COMPACT_MAX_VALUE;
    return good;
}

int gt_compact_packer_put_valued(struct gt_compact_packer *p, uint32_t task,
                                 const struct gt_compact_record *r,
                                 const struct gt_value_list *list)
{
    struct gt_compact_packer_task *t;
    if (!is_good(list))
        return GT_E_USAGE;
    if (p->head.records == GT_COMPACT_MAX_RECORDS)
        return GT_E_RANGE;
    if (!gt_compact_value_model_begin(&p->values, true))
        return GT_E_NOMEM;
    int status = begin_valued(p, task, r, &t);
    if (status < 0)
        return status;
    const struct gt_compact_model_frame *top = &t->frame[t->depth];
    uint32_t key = gt_compact_values_key(top->last == 0, top->last ? top->last : top->number);
    const struct gt_compact_record layout = {r->time, gt_compact_values_layout(list)};
    status = put_layout(p, t, &layout);
    return status < 0 ? status : put_values(p, key, list);
}

/* ---- as streams have them ------------------------------------------------------------------ */

enum { MORE = 1 << 2 }; /* of a record's word: its values follow */

/* A record and its values; *at is then after them. */
static int put_valued(struct gt_compact_packer *p, uint32_t task, const uint64_t *words, size_t n,
                      size_t *at)
{
    const struct gt_compact_record r = {words[*at], words[*at + 1] & ~(uint64_t)MORE};
    struct gt_value_list list;
    size_t used = gt_values_get_words(words + *at + 2, n - *at - 2, &list);
    if (used == 0)
        return GT_E_USAGE;
    *at += 2 + used;
    return gt_compact_packer_put_valued(p, task, &r, &list);
}

int gt_compact_packer_put_words(struct gt_compact_packer *p, uint32_t task, const uint64_t *words,
                                size_t n)
{
    int status = n / 2 > GT_COMPACT_MAX_RECORDS - p->head.records ? GT_E_RANGE : 0;
    for (size_t at = 0; at + 2 <= n && status == 0;) {
        size_t begin = at;
        while (at + 2 <= n && !(words[at + 1] & MORE))
            at += 2;
        if (at > begin)
            status = gt_compact_packer_put(
                p, task, (const struct gt_compact_record *)(words + begin), (at - begin) / 2);
        if (status == 0 && at + 2 <= n)
            status = put_valued(p, task, words, n, &at);
    }
    return status;
}
