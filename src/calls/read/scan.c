/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gt_calls_scan without filters: parts side by side. Calls open at the end of a part go on in the
 * row's next part that has the task, which is known only when that is read: so each part ends with
 * SPLITs, and when all are done each task's last state is ended in a stretch without records.
 */
#include "calls/read/pass.h"
#include "calls/read/reader.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* A task's state at the end of a part. */
struct ending {
    uint64_t key; /* row and task */
    guint part;   /* number */
    uint32_t task;
    uint64_t last;
    struct gt_call_frame *frame;
    size_t n;
};

struct scan {
    struct gt_calls *c;
    struct gt_calls_rules rules;
    const bool *shown;
    const struct gt_calls_consumer *consumer;
    void *self;
    GArray *order; /* guint: parts, longest first */
    guint next;
    int failed;           /* status of the first worker that failed */
    pthread_mutex_t lock; /* for the members below */
    GHashTable *endings;  /* by key */
    uint64_t odd, unknown;
    struct gt_error *err;
};

struct worker {
    struct scan *scan;
    void *share;
    int status;
    struct gt_error err;
    pthread_t thread;
    bool runs, gave;
    struct gt_calls_feed feed;
    struct gt_calls_out out;
    void *reader;
    GPtrArray *stacks; /* struct gt_calls_stack, of the part */
};

static void free_ending(gpointer data)
{
    struct ending *e = data;
    g_free(e->frame);
    g_free(e);
}

static void free_stack(gpointer data)
{
    gt_calls_stack_finish(data);
    g_free(data);
}

/* ---- a part -------------------------------------------------------------------------------- */

static int give(void *self, struct gt_calls_stack *s, const struct gt_calls_out *out)
{
    struct worker *w = self;
    const struct gt_calls_batch b = {
        .task = s->task, .call = out->call, .n = out->n, .values = out->values};
    int failed = __atomic_load_n(&w->scan->failed, __ATOMIC_RELAXED);
    if (failed < 0)
        return failed;
    int status = w->scan->consumer->batch(w->share, &b);
    w->gave = true;
    return status < 0 ? status : 0;
}

/* A stretch begins: what it has open is shown already. */
static int give_first(struct worker *w, const struct gt_calls_stack *s)
{
    const struct gt_calls_batch b = {
        .task = s->task, .first = true, .open = s->frame, .n_open = s->shown};
    return w->scan->consumer->batch(w->share, &b);
}

static struct gt_calls_stack *open_stack(void *self, const struct gt_calls_opening *o)
{
    struct worker *w = self;
    struct gt_calls_stack *s = g_new(struct gt_calls_stack, 1);
    gt_calls_stack_init(s, o->task);
    s->forked = o->forked;
    g_ptr_array_add(w->stacks, s);
    if (!gt_calls_stack_begin(s, &w->scan->rules, o->frame, o->n, o->time, !o->enters))
        return NULL;
    int status = give_first(w, s);
    if (o->enters && s->started)
        gt_calls_stack_start(s, &w->scan->rules, &w->out);
    gt_calls_out_flush(&w->out, s);
    if (status < 0 && w->out.status == 0)
        w->out.status = status;
    return s;
}

static void note_ending(struct scan *scan, guint part, const struct gt_calls_stack *s)
{
    uint32_t row = g_array_index(scan->c->parts, struct gt_calls_part, part).row;
    const gint64 key = (gint64)((uint64_t)row << 32 | s->task);
    struct ending *e = g_hash_table_lookup(scan->endings, &key);
    scan->odd += s->odd;
    if (e && e->part > part)
        return;
    e = g_new(struct ending, 1);
    *e = (struct ending){
        .key = (uint64_t)key, .part = part, .task = s->task, .last = s->last, .n = s->n};
    e->frame = g_memdup2(s->frame, s->n * sizeof *s->frame);
    g_hash_table_replace(scan->endings, &e->key, e);
}

static void end_part(struct worker *w, guint part)
{
    struct scan *scan = w->scan;
    for (guint i = 0; i < w->stacks->len; i++) {
        struct gt_calls_stack *s = w->stacks->pdata[i];
        if (s->started)
            gt_calls_stack_split(s, &scan->rules, &w->out);
        gt_calls_out_flush(&w->out, s);
    }
    pthread_mutex_lock(&scan->lock);
    for (guint i = 0; i < w->stacks->len; i++)
        note_ending(scan, part, w->stacks->pdata[i]);
    pthread_mutex_unlock(&scan->lock);
    g_ptr_array_set_size(w->stacks, 0);
}

static int scan_part(struct worker *w, guint number)
{
    const struct gt_calls *c = w->scan->c;
    const struct gt_calls_part *p = &g_array_index(c->parts, struct gt_calls_part, number);
    const struct gt_calls_reader_kind *kind = gt_calls_reader_kind_of(c);
    int status = kind->begin(w->reader, p, &w->err);
    for (size_t i = 0; i < p->n_blocks && status == 0; i++) {
        if (gt_calls_is_file(c) && c->block[p->block + i].least > w->scan->rules.to)
            break;
        if (__atomic_load_n(&w->scan->failed, __ATOMIC_RELAXED) < 0)
            return 0;
        status = kind->block(w->reader, p->block + i, &w->err);
        if (status == GT_E_FORMAT && w->out.status == 0) {
            gt_calls_pass_report_damage(w->scan->c, p, i + 1, &w->err);
            status = 0;
            break;
        }
    }
    if (status == 0)
        end_part(w, number);
    return status == 0 ? w->out.status : status;
}

/* ---- workers ------------------------------------------------------------------------------- */

static int begin_worker(struct worker *w)
{
    struct scan *scan = w->scan;
    w->out.take = give;
    w->out.self = w;
    w->stacks = g_ptr_array_new_with_free_func(free_stack);
    w->feed = (struct gt_calls_feed){.c = scan->c,
                                     .rules = &scan->rules,
                                     .shown = scan->shown,
                                     .out = &w->out,
                                     .open = open_stack,
                                     .self = w};
    w->share = scan->consumer->share(scan->self);
    if (!gt_calls_feed_init(&w->feed) || !w->share)
        return gt_error_set(&w->err, GT_E_NOMEM, "%s: out of memory", scan->c->path);
    return gt_calls_reader_kind_of(scan->c)->create(&w->feed, &w->reader, &w->err);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    struct scan *scan = w->scan;
    while (w->status == 0) {
        guint next = __atomic_fetch_add(&scan->next, 1, __ATOMIC_RELAXED);
        if (next >= scan->order->len || __atomic_load_n(&scan->failed, __ATOMIC_RELAXED) < 0)
            break;
        w->status = scan_part(w, g_array_index(scan->order, guint, next));
    }
    if (w->status < 0)
        __atomic_store_n(&scan->failed, w->status, __ATOMIC_RELAXED);
    return NULL;
}

static void finish_worker(struct worker *w)
{
    w->scan->unknown += w->feed.unknown;
    if (w->reader)
        gt_calls_reader_kind_of(w->scan->c)->destroy(w->reader);
    gt_calls_feed_finish(&w->feed);
    if (w->stacks)
        g_ptr_array_free(w->stacks, TRUE);
}

/* ---- the end of tasks ---------------------------------------------------------------------- */

static gint compare_endings(gconstpointer a, gconstpointer b)
{
    const struct ending *x = *(struct ending *const *)a, *y = *(struct ending *const *)b;
    return x->key < y->key ? -1 : x->key > y->key;
}

static int end_task(struct worker *w, const struct ending *e)
{
    const struct gt_calls_rules *r = &w->scan->rules;
    const struct gt_calls_end end = gt_calls_pass_end(w->scan->c, r, e->last);
    struct gt_calls_stack s;
    gt_calls_stack_init(&s, e->task);
    int status = GT_E_NOMEM;
    if (gt_calls_stack_begin(&s, r, e->frame, e->n, e->last, true)) {
        status = give_first(w, &s);
        if (!s.started)
            gt_calls_stack_start(&s, r, &w->out);
        gt_calls_stack_end(&s, r, &w->out, &end);
        gt_calls_out_flush(&w->out, &s);
    }
    gt_calls_stack_finish(&s);
    return status < 0 ? status : w->out.status;
}

static int end_tasks(struct worker *w)
{
    struct scan *scan = w->scan;
    g_autoptr(GPtrArray) list = g_ptr_array_new();
    GHashTableIter it;
    gpointer value;
    int status = 0;
    g_hash_table_iter_init(&it, scan->endings);
    while (g_hash_table_iter_next(&it, NULL, &value))
        g_ptr_array_add(list, value);
    g_ptr_array_sort(list, compare_endings);
    for (guint i = 0; i < list->len && status == 0; i++)
        if (((const struct ending *)list->pdata[i])->n > 0)
            status = end_task(w, list->pdata[i]);
    return status;
}

/* ---- all ----------------------------------------------------------------------------------- */

static gint compare_parts(gconstpointer a, gconstpointer b, gpointer parts)
{
    guint x = *(const guint *)a, y = *(const guint *)b;
    uint64_t p = g_array_index((GArray *)parts, struct gt_calls_part, x).records;
    uint64_t q = g_array_index((GArray *)parts, struct gt_calls_part, y).records;
    return p != q ? (p > q ? -1 : 1) : x < y ? -1 : x > y;
}

static void order_parts(struct scan *scan)
{
    const struct gt_calls *c = scan->c;
    scan->order = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint i = 0; i < c->parts->len; i++)
        if (gt_calls_pass_needs(c, &g_array_index(c->parts, struct gt_calls_part, i), &scan->rules))
            g_array_append_val(scan->order, i);
    g_array_sort_with_data(scan->order, compare_parts, c->parts);
}

/* Runs workers; the first is the caller's thread. */
static int run(struct scan *scan, struct worker *worker, unsigned n)
{
    int status = 0;
    for (unsigned i = 0; i < n && status == 0; i++) {
        worker[i].scan = scan;
        status = worker[i].status = begin_worker(&worker[i]);
    }
    for (unsigned i = 1; i < n && status == 0; i++)
        worker[i].runs = pthread_create(&worker[i].thread, NULL, work, &worker[i]) == 0;
    if (status == 0)
        work(&worker[0]);
    for (unsigned i = 1; i < n; i++)
        if (worker[i].runs)
            pthread_join(worker[i].thread, NULL);
    for (unsigned i = 0; i < n && status == 0; i++)
        status = worker[i].status;
    if (status == 0)
        status = worker[0].status = end_tasks(&worker[0]);
    for (unsigned i = 0; i < n && status < 0; i++)
        if (worker[i].status == status && worker[i].err.status == status && scan->err)
            *scan->err = worker[i].err;
    scan->c->gave = false;
    for (unsigned i = 0; i < n; i++) {
        scan->c->gave |= worker[i].gave;
        finish_worker(&worker[i]);
        if (!worker[i].share)
            continue;
        int merged = scan->consumer->merge(status < 0 ? NULL : scan->self, worker[i].share);
        status = status < 0 ? status : merged;
    }
    return status;
}

static unsigned workers_of(const struct scan *scan, unsigned threads)
{
    long n = threads ? (long)threads : sysconf(_SC_NPROCESSORS_ONLN);
    n = MIN(n, (long)scan->order->len);
    return n > 0 ? (unsigned)n : 1;
}

int gt_calls_pass_scan(struct gt_calls *c, const struct gt_calls_window *w,
                       const struct gt_calls_consumer *consumer, void *self, unsigned threads,
                       struct gt_error *err)
{
    struct scan scan = {
        .c = c, .shown = w ? w->tasks : NULL, .consumer = consumer, .self = self, .err = err};
    gt_calls_pass_rules(c, w, &scan.rules);
    order_parts(&scan);
    scan.endings = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, free_ending);
    pthread_mutex_init(&scan.lock, NULL);
    unsigned n = workers_of(&scan, threads);
    struct worker *worker = g_new0(struct worker, n);
    int status = run(&scan, worker, n);
    g_free(worker);
    g_array_free(scan.order, TRUE);
    g_hash_table_destroy(scan.endings);
    pthread_mutex_destroy(&scan.lock);
    gt_calls_pass_report(c, scan.odd, scan.unknown);
    return status;
}
