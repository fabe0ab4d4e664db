/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unpacking records: see compact.h and model.h. */
#include "calls/file/unpack.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- segments, words and tasks -------------------------------------------------------------- */

enum {
    WORDS_ROOM = 4096,
    MOST_WORDS = 1 << 29,
    TASKS_ROOM = 64,
    KEPT_STACKS = 1 << 20, /* room of all stacks that is kept for the next segment */
    /* Of those that a segment may need: room is at most twice the open calls, and never less than
     * GT_MODEL_ROOM. */
    MOST_STACKS = 2 * GT_PACKER_OPEN + GT_MODEL_ROOM * GT_COMPACT_MAX_TASKS,
};

/* ---- life ---------------------------------------------------------------------------------- */

static void free_stacks(struct gt_compact_unpacker *u)
{
    for (uint32_t i = 0; i < u->tasks_room; i++) {
        free(u->task[i].frame);
        u->task[i].frame = NULL;
        u->task[i].room = 0;
    }
    u->stacks = 0;
}

int gt_compact_unpacker_create(struct gt_compact_unpacker **out)
{
    struct gt_compact_unpacker *u = calloc(1, sizeof *u);
    *out = u;
    if (!u)
        return GT_E_NOMEM;
    u->first = calloc(GT_MODEL_SIZE, sizeof *u->first);
    u->second = calloc(GT_MODEL_SIZE, sizeof *u->second);
    u->event = calloc(GT_UNPACKER_EVENTS, sizeof *u->event);
    u->open = calloc(GT_MODEL_ROOM, sizeof *u->open);
    u->open_room = GT_MODEL_ROOM;
    u->word = calloc(WORDS_ROOM, sizeof *u->word);
    u->words_room = WORDS_ROOM;
    gt_compact_clock_init(&u->levels);
    u->columns.zstd = ZSTD_createDCtx();
    if (!u->first || !u->second || !u->event || !u->open || !u->word || !u->columns.zstd) {
        gt_compact_unpacker_destroy(u);
        *out = NULL;
        return GT_E_NOMEM;
    }
    return 0;
}

void gt_compact_unpacker_destroy(struct gt_compact_unpacker *u)
{
    if (!u)
        return;
    free_stacks(u);
    gt_compact_columns_finish(&u->columns);
    gt_compact_value_model_finish(&u->values);
    free(u->first);
    free(u->second);
    free(u->task);
    free(u->word);
    free(u->event);
    free(u->open);
    free(u);
}

static void begin_segment(struct gt_compact_unpacker *u)
{
    memset(u->first, 0, GT_MODEL_SIZE * sizeof *u->first);
    memset(u->second, 0, GT_MODEL_SIZE * sizeof *u->second);
    gt_compact_value_model_clear(&u->values);
    u->n_tasks = 0;
    if (u->stacks > KEPT_STACKS)
        free_stacks(u);
    u->n_words = 1;
    u->last_word = 0;
    u->begun = true;
}

/* ---- words and tasks ----------------------------------------------------------------------- */

/* A number was read: 0 is the next, and brings its word. GT_E_FORMAT, GT_E_NOMEM. */
static int take_word(struct gt_compact_unpacker *u, uint64_t number, uint32_t *out)
{
    *out = (uint32_t)number;
    if (number > 0)
        return number < u->n_words ? 0 : GT_E_FORMAT;
    if (u->n_words == u->words_room) {
        size_t room = 2 * (size_t)u->words_room;
        uint64_t *word = room <= MOST_WORDS ? realloc(u->word, room * sizeof *word) : NULL;
        if (!word)
            return GT_E_NOMEM;
        u->word = word;
        u->words_room = (uint32_t)room;
    }
    u->last_word += (uint64_t)gt_compact_unzigzag(gt_compact_unpacker_take(u, GT_COLUMN_WORDS));
    *out = u->n_words;
    u->word[u->n_words++] = u->last_word;
    return 0;
}

/* Room for one more task. */
static bool grow_tasks(struct gt_compact_unpacker *u)
{
    if (u->n_tasks < u->tasks_room)
        return true;
    uint32_t room = u->tasks_room ? 2 * u->tasks_room : TASKS_ROOM;
    struct gt_compact_unpacker_task *task = realloc(u->task, room * sizeof *task);
    if (!task)
        return false;
    memset(task + u->tasks_room, 0, (room - u->tasks_room) * sizeof *task);
    u->task = task;
    u->tasks_room = room;
    return true;
}

int gt_compact_unpacker_grow_stack(struct gt_compact_unpacker *u,
                                   struct gt_compact_unpacker_task *t, size_t depth)
{
    size_t room = t->room ? t->room : GT_MODEL_ROOM;
    if (depth > GT_PACKER_DEPTH)
        return GT_E_FORMAT;
    while (room < depth)
        room *= 2;
    if (room == t->room)
        return 0;
    if (room - t->room > MOST_STACKS - u->stacks)
        return GT_E_FORMAT;
    struct gt_compact_model_frame *frame = realloc(t->frame, (room + 1) * sizeof *frame);
    if (!frame)
        return GT_E_NOMEM;
    t->frame = frame;
    u->stacks += room - t->room;
    t->room = (uint32_t)room;
    return 0;
}

/* Each has a byte or more in two columns: no memory is taken for a count that is made up. */
static bool has_frames(const struct gt_compact_unpacker *u, uint64_t depth)
{
    const struct gt_compact_column_in *tasks = &u->columns.in[GT_COLUMN_TASKS];
    const struct gt_compact_column_in *syms = &u->columns.in[GT_COLUMN_SYMS];
    return depth <= (size_t)(tasks->end - tasks->at) && depth <= (size_t)(syms->end - syms->at);
}

/* A task appears in the segment. GT_E_FORMAT, GT_E_NOMEM. */
static int open_task(struct gt_compact_unpacker *u)
{
    uint64_t id = gt_compact_unpacker_take(u, GT_COLUMN_TASKS),
             time = gt_compact_unpacker_take(u, GT_COLUMN_TASKS);
    uint64_t depth = gt_compact_unpacker_take(u, GT_COLUMN_TASKS);
    if (id > UINT32_MAX || !has_frames(u, depth) || u->n_tasks == GT_COMPACT_MAX_TASKS)
        return GT_E_FORMAT;
    if (!grow_tasks(u))
        return GT_E_NOMEM;
    int status = gt_compact_unpacker_grow_stack(u, &u->task[u->n_tasks], depth);
    if (status < 0)
        return status;
    struct gt_compact_unpacker_task *t = &u->task[u->n_tasks++];
    struct gt_compact_model_frame *frame = t->frame;
    t->id = (uint32_t)id;
    t->depth = (uint32_t)depth;
    t->time = time;
    frame[0] = (struct gt_compact_model_frame){.begin = time};
    for (size_t i = 1; i <= depth; i++) {
        uint32_t number;
        status = take_word(u, gt_compact_unpacker_take(u, GT_COLUMN_SYMS), &number);
        if (status < 0)
            return status;
        int64_t step = gt_compact_unzigzag(gt_compact_unpacker_take(u, GT_COLUMN_TASKS));
        gt_compact_model_enter(&frame[i - 1], number, frame[i - 1].begin + (uint64_t)step);
    }
    return 0;
}

uint64_t gt_compact_unpacker_word(const struct gt_compact_unpacker *u, uint32_t number)
{
    return number < u->n_words ? u->word[number] : 0;
}

bool gt_compact_unpacker_is_event(const struct gt_compact_unpacker *u,
                                  const struct gt_compact_event *e, uint64_t id)
{
    const uint64_t word = gt_compact_unpacker_word(u, e->sym >> 2);
    const uint64_t depth = GT_UFTRACE_DEPTH_MASK << 6;
    switch (e->sym & 3) {
    case GT_COMPACT_EVENT:
        return word == id;
    case GT_COMPACT_OTHER:
        return (word & ~depth) == (gt_uftrace_event(0, id) & ~depth);
    default:
        return false;
    }
}

uint32_t gt_compact_unpacker_words(const struct gt_compact_unpacker *u)
{
    return u->n_words;
}

uint32_t gt_compact_unpacker_tasks(const struct gt_compact_unpacker *u)
{
    return u->n_tasks;
}

uint32_t gt_compact_unpacker_task(const struct gt_compact_unpacker *u, uint32_t index)
{
    return u->task[index].id;
}

const struct gt_compact_frame *gt_compact_unpacker_frames(struct gt_compact_unpacker *u,
                                                          uint32_t index, uint32_t *depth,
                                                          uint64_t *time)
{
    const struct gt_compact_unpacker_task *t = &u->task[index];
    *depth = t->depth;
    *time = t->time;
    if (t->room > u->open_room) {
        struct gt_compact_frame *open = realloc(u->open, t->room * sizeof *open);
        if (!open)
            return NULL;
        u->open = open;
        u->open_room = t->room;
    }
    for (uint32_t i = 0; i < t->depth; i++)
        u->open[i] = (struct gt_compact_frame){t->frame[i + 1].begin, t->frame[i + 1].number};
    return u->open;
}

/* ---- values --------------------------------------------------------------------------------- */

/* What a record's values are expected by. */
static uint32_t key_of(const struct gt_compact_event *e)
{
    switch (e->sym & 3) {
    case GT_COMPACT_ENTRY:
        return gt_compact_values_key(true, e->sym >> 2);
    case GT_COMPACT_EXIT:
        return gt_compact_values_key(false, e->sym >> 2);
    default:
        return gt_compact_values_key(false, e->sym);
    }
}

static int take_guessed(struct gt_compact_unpacker *u, struct gt_compact_value_guess *g,
                        unsigned code, struct gt_value *v)
{
    switch (code) {
    case GT_VALUE_AS_LAST:
        v->word = g->last;
        break;
    case GT_VALUE_AS_BEFORE:
        v->word = g->before;
        break;
    case GT_VALUE_AS_STEP:
        v->word = g->last + (g->last - g->before);
        break;
    case GT_VALUE_AS_SAID:
        v->word =
            g->last + (uint64_t)gt_compact_unzigzag(gt_compact_unpacker_take(u, GT_COLUMN_VALUES));
        break;
    default:
        return GT_E_FORMAT;
    }
    gt_compact_value_learn(g, v->word);
    return 0;
}

static int take_new_text(struct gt_compact_unpacker *u, struct gt_compact_value_guess *g,
                         struct gt_value *v)
{
    struct gt_compact_column_in *in = &u->columns.in[GT_COLUMN_BYTES];
    uint64_t size = gt_compact_unpacker_take(u, GT_COLUMN_VALUES);
    if (size > GT_COMPACT_MAX_VALUE || size > (size_t)(in->end - in->at))
        return GT_E_FORMAT;
    v->bytes = in->at;
    v->size = (uint16_t)size;
    in->at += size;
    g->text = gt_compact_texts_add(&u->values.texts, v->bytes, v->size);
    return 0;
}

static int take_text(struct gt_compact_unpacker *u, struct gt_compact_value_guess *g, unsigned code,
                     struct gt_value *v)
{
    const struct gt_compact_texts_seen *texts = &u->values.texts;
    uint64_t number = g->text;
    size_t size;
    if (code == GT_TEXT_AS_SAID)
        return take_new_text(u, g, v);
    if (code == GT_TEXT_AS_NUMBER)
        number = gt_compact_unpacker_take(u, GT_COLUMN_VALUES);
    if (code > GT_TEXT_AS_SAID || number == 0 || number > texts->n)
        return GT_E_FORMAT;
    v->bytes = gt_compact_texts_at(texts, (uint32_t)number, &size);
    v->size = (uint16_t)size;
    g->text = (uint32_t)number;
    return 0;
}

/* The values of a record, by it and their layout. The bytes are valid until the
 * block ends. GT_E_FORMAT, GT_E_NOMEM. */
static int take_values(struct gt_compact_unpacker *u, const struct gt_compact_event event[2],
                       struct gt_value_list *list)
{
    uint32_t key = key_of(&event[0]);
    int status = 0;
    if ((event[1].sym & 3) != GT_COMPACT_OTHER ||
        !gt_compact_values_of_layout(gt_compact_unpacker_word(u, event[1].sym >> 2), list))
        return GT_E_FORMAT;
    if (!gt_compact_value_model_begin(&u->values, false))
        return GT_E_NOMEM;
    for (size_t i = 0; i < list->n && status == 0; i++) {
        struct gt_value *v = &list->value[i];
        struct gt_compact_value_guess *g = gt_compact_value_guess_of(&u->values, key, i);
        if (v->kind == GT_VALUE_ABSENT)
            continue;
        unsigned code = gt_compact_column_take_byte(&u->columns.in[GT_COLUMN_CODES]);
        status =
            gt_compact_value_is_word(v) ? take_guessed(u, g, code, v) : take_text(u, g, code, v);
    }
    return status;
}

/* ---- blocks and records --------------------------------------------------------------------- */

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
    int status = take_word(u, v >> 2, &number);
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
        status = take_values(u, u->event, &values);
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
    int status = piece.first ? open_task(u) : 0;
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
        begin_segment(u);
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
