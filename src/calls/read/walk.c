/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gt_calls_walk without filters: reads the blocks of all rows, next always the blocks of the row
 * that may have the earliest records, and merges their tasks.
 */
#include "calls/read/merge.h"
#include "calls/read/pass.h"
#include "calls/read/reader.h"

#include <stdlib.h>

struct row {
    struct walk *walk;
    guint number;
    guint part, end; /* its parts that are still to be read */
    size_t block;    /* of `part` */
    bool gap;        /* records were missing */
    uint64_t bound;  /* no record that comes is earlier */
    struct gt_calls_feed feed;
    void *reader;
};

struct walk {
    struct gt_calls *c;
    struct gt_calls_rules rules;
    const bool *shown;
    struct gt_calls_out out;
    struct row *row; /* a heap: the lowest bound first */
    size_t n_rows;
    GHashTable *queues; /* struct gt_calls_merge_queue, by key: task and row */
    struct gt_calls_merge merge;
    uint64_t unknown; /* records of tasks that are not known */
    bool started;     /* the window has begun for all tasks that were known then */
    struct gt_error *err;
};

/* The innermost walk of the thread. */
static __thread const struct walk *current;

/* ---- queues -------------------------------------------------------------------------------- */

static struct gt_calls_merge_queue *queue_of(struct gt_calls_stack *s)
{
    return (struct gt_calls_merge_queue *)(void *)((char *)s -
                                                   offsetof(struct gt_calls_merge_queue, stack));
}

static int put(void *self, struct gt_calls_stack *s, const struct gt_calls_out *out)
{
    return gt_calls_merge_put(&((struct walk *)self)->merge, queue_of(s), out);
}

static void free_queue(gpointer data)
{
    gt_calls_merge_queue_finish(data);
    g_free(data);
}

static struct gt_calls_stack *open_stack(void *self, const struct gt_calls_opening *o)
{
    const struct row *row = self;
    struct walk *w = row->walk;
    const gint64 key = (gint64)((uint64_t)o->task << 32 | row->number);
    struct gt_calls_merge_queue *q = g_hash_table_lookup(w->queues, &key);
    if (q) {
        bool room = !row->gap ||
                    gt_calls_stack_align(&q->stack, &w->rules, &w->out, o->frame, o->n, o->first);
        gt_calls_out_flush(&w->out, &q->stack);
        return room ? &q->stack : NULL;
    }
    q = g_new0(struct gt_calls_merge_queue, 1);
    q->key = (uint64_t)key;
    gt_calls_stack_init(&q->stack, o->task);
    q->stack.forked = o->forked;
    g_hash_table_insert(w->queues, &q->key, q);
    if (!gt_calls_stack_begin(&q->stack, &w->rules, o->frame, o->n, o->time, false))
        return NULL;
    if (q->stack.started)
        gt_calls_stack_start(&q->stack, &w->rules, &w->out);
    gt_calls_out_flush(&w->out, &q->stack);
    return &q->stack;
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

/* Stacks that a part has begun need all parts after it, also those that end before the window:
 * times of several tasks need not come in order. */
static void skip_parts(const struct walk *w, struct row *row)
{
    const bool begun = row->reader != NULL;
    while (row->part < row->end) {
        const struct gt_calls_part *p = part_of(w, row->part);
        if (gt_calls_pass_needs(w->c, p, &w->rules) || (begun && p->first <= w->rules.to))
            return;
        row->part++;
    }
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
    row->walk->unknown += row->feed.unknown;
    gt_calls_feed_finish(&row->feed);
}

static int open_row(struct walk *w, struct row *row)
{
    row->feed = (struct gt_calls_feed){
        .c = w->c, .rules = &w->rules, .shown = w->shown, .out = &w->out, .open = open_stack};
    if (!gt_calls_feed_init(&row->feed))
        return gt_error_set(w->err, GT_E_NOMEM, "%s: out of memory", w->c->path);
    return gt_calls_reader_kind_of(w->c)->create(&row->feed, &row->reader, w->err);
}

static int read_block(struct walk *w, struct row *row)
{
    const struct gt_calls_reader_kind *kind = gt_calls_reader_kind_of(w->c);
    const struct gt_calls_part *p = part_of(w, row->part);
    int status = row->reader ? 0 : open_row(w, row);
    row->feed.self = row; /* rows move */
    row->gap |= p->gap;
    if (status == 0 && row->block == 0)
        status = kind->begin(row->reader, p, w->err);
    if (status == 0)
        status = kind->block(row->reader, p->block + row->block, w->err);
    row->block++;
    if (status == GT_E_FORMAT && w->out.status == 0) {
        gt_calls_pass_report_damage(w->c, p, row->block, w->err);
        row->gap = true;
        row->block = p->n_blocks;
        return 0;
    }
    return status;
}

/* Reads the next block of the row with the lowest bound. */
static int read_some(struct walk *w)
{
    struct row *row = &w->row[0];
    const struct gt_calls_part *p = part_of(w, row->part);
    int status = read_block(w, row);
    if (status != 0)
        return status;
    if (row->block == p->n_blocks) {
        row->block = 0;
        row->part++;
        skip_parts(w, row);
    }
    if (row->part < row->end) {
        p = part_of(w, row->part);
        uint64_t least =
            gt_calls_reader_kind_of(w->c)->least(row->reader, p, p->block + row->block);
        row->bound = MAX(row->bound, least);
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
        struct gt_calls_merge_queue *q = value;
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
        struct gt_calls_stack *s = &((struct gt_calls_merge_queue *)value)->stack;
        gt_calls_stack_pass(s, &w->rules, &w->out, MIN(bound, w->rules.to));
        gt_calls_out_flush(&w->out, s);
        if (s->started && s->shown < MIN(s->n, w->rules.depth))
            least = MIN(least, s->frame[s->shown].begin);
    }
    return least;
}

/* Does `end` with each task's stack, and gives what that makes. */
static int end_each(struct walk *w, void (*end)(struct walk *w, struct gt_calls_stack *s,
                                                const struct gt_calls_end *how))
{
    GHashTableIter it;
    gpointer value;
    g_hash_table_iter_init(&it, w->queues);
    while (g_hash_table_iter_next(&it, NULL, &value)) {
        struct gt_calls_stack *s = &((struct gt_calls_merge_queue *)value)->stack;
        const struct gt_calls_end how = gt_calls_pass_end(w->c, &w->rules, s->last);
        end(w, s, &how);
        gt_calls_out_flush(&w->out, s);
    }
    return w->out.status ? w->out.status : gt_calls_merge_give(&w->merge, UINT64_MAX);
}

static void settle(struct walk *w, struct gt_calls_stack *s, const struct gt_calls_end *how)
{
    gt_calls_stack_settle(s, &w->rules, &w->out, how);
}

static void end_task(struct walk *w, struct gt_calls_stack *s, const struct gt_calls_end *how)
{
    gt_calls_stack_end(s, &w->rules, &w->out, how);
}

/* All that is in order comes before the exits of what never ended. */
static int end_all(struct walk *w)
{
    start_all(w);
    int status = end_each(w, settle);
    return status ? status : end_each(w, end_task);
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
        status = gt_calls_merge_give(&w->merge, bound);
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
    *(uint64_t *)sum += ((const struct gt_calls_merge_queue *)value)->stack.odd;
    return TRUE;
}

int gt_calls_pass_walk(struct gt_calls *c, const struct gt_calls_window *win,
                       int (*call)(void *self, const struct gt_call *e), void *self,
                       struct gt_error *err)
{
    struct walk *w = g_new0(struct walk, 1);
    const struct walk *outer = current;
    struct gt_error unwanted;
    uint64_t odd = 0;
    w->c = c;
    w->err = err ? err : &unwanted;
    w->shown = win ? win->tasks : NULL;
    w->out.take = put;
    w->out.self = w;
    w->queues = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, free_queue);
    gt_calls_pass_rules(c, win, &w->rules);
    w->merge = (struct gt_calls_merge){.c = c, .from = w->rules.from, .call = call, .self = self};
    list_rows(w);
    current = w;
    int status = run(w);
    current = outer;
    while (w->n_rows > 0)
        close_row(&w->row[--w->n_rows]);
    g_hash_table_foreach_remove(w->queues, count_odd, &odd);
    g_hash_table_destroy(w->queues);
    g_free(w->row);
    gt_calls_merge_finish(&w->merge);
    if (!outer) { /* not a walk of a parent, for its child */
        c->gave = w->merge.gave;
        gt_calls_pass_report(c, odd, w->unknown);
    }
    g_free(w);
    return status;
}
