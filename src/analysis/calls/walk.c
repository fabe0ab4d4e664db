/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gt_calls_walk: merges the tasks of all rows by time.
 *
 * Each task has a queue of what its stack has made. The row whose blocks may have the earliest
 * records is read next; what is earlier than all that may still come is given to the caller.
 */
#include "analysis/calls/pass.h"
#include "analysis/calls/reader.h"

#include <stdlib.h>

/* One event that waits; begin and depth are what the stack of given calls says. */
struct waiting {
    uint64_t time;
    int64_t self;
    uint32_t function;
    uint8_t kind, flags;
};

struct queue {
    uint64_t key; /* row and task */
    struct gt_calls_stack stack;
    struct waiting *waiting;
    size_t head, n, room;
    bool listed; /* in the heap */
    /* of the calls that were given */
    struct gt_call_frame *open;
    size_t n_open, room_open;
};

struct row {
    struct walk *walk;
    guint number;
    guint part, end; /* its parts that are still to be read */
    size_t block;    /* of `part` */
    uint64_t bound;  /* no record that comes is earlier */
    struct gt_calls_feed feed;
    struct gt_calls_reader *reader;
};

struct entry {
    uint64_t time;
    struct queue *queue;
};

struct walk {
    struct gt_calls *c;
    struct gt_calls_rules rules;
    const bool *shown;
    int (*call)(void *self, const struct gt_call *e);
    void *self;
    struct gt_calls_out out;
    struct row *row; /* a heap: the lowest bound first */
    size_t n_rows;
    GHashTable *queues; /* by key */
    struct entry *heap; /* the earliest first */
    size_t n_heap, room_heap;
    const struct queue *now; /* whose event the caller has */
    bool started;
    struct gt_error *err;
};

/* The innermost walk of the thread: gt_calls_open_at is asked in its callback. */
static __thread const struct walk *current;

/* ---- queues -------------------------------------------------------------------------------- */

static bool earlier(const struct entry *a, const struct entry *b)
{
    return a->time != b->time ? a->time < b->time : a->queue->key < b->queue->key;
}

static void sift_down(struct walk *w, size_t i)
{
    const struct entry e = w->heap[i];
    for (size_t child; (child = 2 * i + 1) < w->n_heap; i = child) {
        if (child + 1 < w->n_heap && earlier(&w->heap[child + 1], &w->heap[child]))
            child++;
        if (!earlier(&w->heap[child], &e))
            break;
        w->heap[i] = w->heap[child];
    }
    w->heap[i] = e;
}

static bool list(struct walk *w, struct queue *q)
{
    if (w->n_heap == w->room_heap) {
        size_t room = w->room_heap ? 2 * w->room_heap : 64;
        struct entry *heap = realloc(w->heap, room * sizeof *heap);
        if (!heap)
            return false;
        w->heap = heap;
        w->room_heap = room;
    }
    const struct entry e = {q->waiting[q->head].time, q};
    size_t i = w->n_heap++;
    for (; i > 0 && earlier(&e, &w->heap[(i - 1) / 2]); i = (i - 1) / 2)
        w->heap[i] = w->heap[(i - 1) / 2];
    w->heap[i] = e;
    q->listed = true;
    return true;
}

/* What a stack has made. */
static int put(void *self, struct gt_calls_stack *s, const struct gt_call *call, size_t n)
{
    struct walk *w = self;
    struct queue *q = (struct queue *)(void *)((char *)s - offsetof(struct queue, stack));
    if (q->head == q->n)
        q->head = q->n = 0;
    if (q->room - q->n < n) {
        size_t room = q->room ? 2 * q->room : GT_STACK_BATCH;
        struct waiting *more = realloc(q->waiting, room * sizeof *more);
        if (!more)
            return GT_E_NOMEM;
        q->waiting = more;
        q->room = room;
    }
    struct waiting *at = q->waiting + q->n;
    for (size_t i = 0; i < n; i++)
        at[i] = (struct waiting){call[i].time, call[i].self, call[i].function, call[i].kind,
                                 call[i].flags};
    q->n += n;
    return q->listed || list(w, q) ? 0 : GT_E_NOMEM;
}

static void free_queue(gpointer data)
{
    struct queue *q = data;
    gt_calls_stack_finish(&q->stack);
    free(q->waiting);
    free(q->open);
    g_free(q);
}

static struct gt_calls_stack *open_stack(void *self, const struct gt_calls_opening *o)
{
    const struct row *row = self;
    struct walk *w = row->walk;
    const gint64 key = (gint64)((uint64_t)o->task << 32 | row->number);
    struct queue *q = g_hash_table_lookup(w->queues, &key);
    if (q)
        return &q->stack;
    q = g_new0(struct queue, 1);
    q->key = (uint64_t)key;
    gt_calls_stack_init(&q->stack, o->task);
    g_hash_table_insert(w->queues, &q->key, q);
    if (!gt_calls_stack_begin(&q->stack, &w->rules, o->frame, o->n, o->time, false))
        return NULL;
    if (q->stack.started)
        gt_calls_stack_start(&q->stack, &w->rules, &w->out);
    gt_calls_out_flush(&w->out, &q->stack);
    return &q->stack;
}

/* ---- giving calls -------------------------------------------------------------------------- */

static bool open_call(struct queue *q, const struct waiting *e)
{
    if (q->n_open == q->room_open) {
        size_t room = q->room_open ? 2 * q->room_open : 64;
        struct gt_call_frame *open = realloc(q->open, room * sizeof *open);
        if (!open)
            return false;
        q->open = open;
        q->room_open = room;
    }
    q->open[q->n_open++] =
        (struct gt_call_frame){e->time, e->function, e->flags & GT_CALL_RECURSIVE};
    return true;
}

static int give(struct walk *w, struct queue *q, const struct waiting *e)
{
    struct gt_call call = {.time = e->time,
                           .begin = e->time - (uint64_t)e->self,
                           .self = e->self,
                           .task = q->stack.task,
                           .function = e->function,
                           .depth = (uint32_t)q->n_open,
                           .kind = e->kind,
                           .flags = e->flags};
    if (e->kind == GT_CALL_EXIT) {
        call.begin = q->open[q->n_open - 1].begin;
        call.depth--;
    }
    int status = w->call(w->self, &call);
    if (e->kind == GT_CALL_EXIT)
        q->n_open--;
    else if (e->kind == GT_CALL_ENTRY && !open_call(q, e))
        return gt_error_set(w->err, GT_E_NOMEM, "%s: out of memory", w->c->path);
    return status;
}

/* Gives the first queue's events up to the next queue's first. */
static int give_some(struct walk *w, uint64_t bound)
{
    static const struct entry never = {UINT64_MAX, NULL};
    struct queue *q = w->heap[0].queue;
    struct entry next = never;
    int status = 0;
    for (size_t i = 1; i < 3 && i < w->n_heap; i++)
        if (!next.queue || earlier(&w->heap[i], &next))
            next = w->heap[i];
    uint64_t until = MIN(bound, next.time);
    bool also =
        next.queue && next.time < bound && q->key < next.queue->key; /* those of that time */
    w->now = q;
    for (; q->head < q->n && status == 0; q->head++) {
        const struct waiting *e = &q->waiting[q->head];
        if (e->time > until || (e->time == until && !also && bound != UINT64_MAX))
            break;
        status = give(w, q, e);
    }
    if (q->head < q->n) {
        w->heap[0].time = q->waiting[q->head].time;
    } else {
        q->listed = false;
        w->heap[0] = w->heap[--w->n_heap];
    }
    if (w->n_heap > 0)
        sift_down(w, 0);
    return status;
}

/* UINT64_MAX: all. */
static int give_before(struct walk *w, uint64_t bound)
{
    int status = 0;
    while (w->n_heap > 0 && status == 0 && (w->heap[0].time < bound || bound == UINT64_MAX))
        status = give_some(w, bound);
    return status;
}

/* ---- rows ---------------------------------------------------------------------------------- */

static void sift_rows(struct walk *w, size_t i)
{
    for (size_t child; (child = 2 * i + 1) < w->n_rows; i = child) {
        if (child + 1 < w->n_rows && w->row[child + 1].bound < w->row[child].bound)
            child++;
        if (w->row[i].bound <= w->row[child].bound)
            return;
        struct row r = w->row[i];
        w->row[i] = w->row[child];
        w->row[child] = r;
    }
}

static const struct gt_calls_part *part_of(const struct walk *w, guint number)
{
    return &g_array_index(w->c->parts, struct gt_calls_part, number);
}

static void skip_parts(const struct walk *w, struct row *row)
{
    while (row->part < row->end && !gt_pass_needs(w->c, part_of(w, row->part), &w->rules))
        row->part++;
}

/* Rows with something to read. */
static void list_rows(struct walk *w)
{
    const struct gt_calls *c = w->c;
    w->row = g_new0(struct row, c->rows->len + 1);
    for (guint i = 0; i < c->parts->len;) {
        struct row r = {.walk = w, .number = part_of(w, i)->row, .part = i};
        while (i < c->parts->len && part_of(w, i)->row == r.number)
            i++;
        r.end = i;
        skip_parts(w, &r);
        if (r.part == r.end)
            continue;
        r.bound = part_of(w, r.part)->first;
        w->row[w->n_rows++] = r;
    }
    for (size_t i = w->n_rows / 2; i-- > 0;)
        sift_rows(w, i);
}

static void close_row(struct row *row)
{
    if (row->reader)
        gt_calls_reader_kind_of(row->walk->c)->destroy(row->reader);
    gt_feed_finish(&row->feed);
}

static int open_row(struct walk *w, struct row *row)
{
    row->feed = (struct gt_calls_feed){
        .c = w->c, .rules = &w->rules, .shown = w->shown, .out = &w->out, .open = open_stack};
    if (!gt_feed_init(&row->feed))
        return gt_error_set(w->err, GT_E_NOMEM, "%s: out of memory", w->c->path);
    return gt_calls_reader_kind_of(w->c)->create(&row->feed, &row->reader, w->err);
}

/* Reads the next block of the row with the lowest bound. */
static int read_some(struct walk *w)
{
    struct row *row = &w->row[0];
    const struct gt_calls_reader_kind *kind = gt_calls_reader_kind_of(w->c);
    int status = row->reader ? 0 : open_row(w, row);
    row->feed.self = row; /* rows move */
    const struct gt_calls_part *p = part_of(w, row->part);
    if (status == 0 && row->block == 0)
        status = kind->begin(row->reader, p, w->err);
    if (status == 0)
        status = kind->block(row->reader, p->block + row->block, w->err);
    if (status != 0)
        return status;
    row->block++;
    if (row->block == p->n_blocks) {
        row->block = 0;
        row->part++;
        skip_parts(w, row);
    }
    if (row->part < row->end) {
        p = part_of(w, row->part);
        row->bound = MAX(row->bound, kind->least(row->reader, p, p->block + row->block));
    } else {
        close_row(row);
        *row = w->row[--w->n_rows];
    }
    sift_rows(w, 0);
    return 0;
}

/* ---- all ----------------------------------------------------------------------------------- */

/* The window has begun for all tasks that are known. */
static void start_all(struct walk *w)
{
    GHashTableIter it;
    gpointer value;
    g_hash_table_iter_init(&it, w->queues);
    while (g_hash_table_iter_next(&it, NULL, &value)) {
        struct queue *q = value;
        if (!q->stack.started) {
            gt_calls_stack_start(&q->stack, &w->rules, &w->out);
            gt_calls_out_flush(&w->out, &q->stack);
        }
    }
    w->started = true;
}

/* Calls that may yet be shown: nothing that came after they began can be given. */
static uint64_t hold(struct walk *w, uint64_t bound)
{
    GHashTableIter it;
    gpointer value;
    uint64_t least = bound;
    g_hash_table_iter_init(&it, w->queues);
    while (g_hash_table_iter_next(&it, NULL, &value)) {
        struct gt_calls_stack *s = &((struct queue *)value)->stack;
        gt_calls_stack_pass(s, &w->rules, &w->out, MIN(bound, w->rules.to));
        gt_calls_out_flush(&w->out, s);
        if (s->started && s->shown < MIN(s->n, w->rules.depth))
            least = MIN(least, s->frame[s->shown].begin);
    }
    return least;
}

static int end_all(struct walk *w)
{
    GHashTableIter it;
    gpointer value;
    start_all(w);
    g_hash_table_iter_init(&it, w->queues);
    while (g_hash_table_iter_next(&it, NULL, &value)) {
        struct gt_calls_stack *s = &((struct queue *)value)->stack;
        uint8_t flags;
        uint64_t time = gt_pass_end(w->c, &w->rules, s->last, &flags);
        gt_calls_stack_end(s, &w->rules, &w->out, time, flags);
        gt_calls_out_flush(&w->out, s);
    }
    return w->out.status ? w->out.status : give_before(w, UINT64_MAX);
}

static int run(struct walk *w)
{
    int status = 0;
    while (w->n_rows > 0 && w->row[0].bound <= w->rules.to && status == 0) {
        uint64_t bound = w->row[0].bound;
        if (!w->started && bound > w->rules.from)
            start_all(w);
        if (w->rules.min_time)
            bound = hold(w, bound);
        status = give_before(w, bound);
        if (status == 0)
            status = read_some(w);
        if (status == 0)
            status = w->out.status;
    }
    return status != 0 ? status : end_all(w);
}

static gboolean count_odd(gpointer key, gpointer value, gpointer sum)
{
    (void)key;
    *(uint64_t *)sum += ((const struct queue *)value)->stack.odd;
    return TRUE;
}

int gt_calls_walk(struct gt_calls *c, const struct gt_calls_window *win,
                  int (*call)(void *self, const struct gt_call *e), void *self,
                  struct gt_error *err)
{
    struct walk *w = g_new0(struct walk, 1);
    const struct walk *outer = current;
    uint64_t odd = 0;
    *w = (struct walk){.c = c, .call = call, .self = self, .err = err};
    w->shown = win ? win->tasks : NULL;
    w->out.take = put;
    w->out.self = w;
    w->queues = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, free_queue);
    gt_pass_rules(c, win, &w->rules);
    list_rows(w);
    current = w;
    int status = run(w);
    current = outer;
    while (w->n_rows > 0)
        close_row(&w->row[--w->n_rows]);
    g_hash_table_foreach_remove(w->queues, count_odd, &odd);
    g_hash_table_destroy(w->queues);
    g_free(w->row);
    free(w->heap);
    g_free(w);
    gt_pass_report(c, odd, 0);
    return status;
}

const struct gt_call_frame *gt_calls_open_at(const struct gt_calls *c, uint32_t task, size_t *n)
{
    const struct queue *q = current && current->c == c ? current->now : NULL;
    *n = q && q->stack.task == task ? q->n_open : 0;
    return *n ? q->open : NULL;
}
