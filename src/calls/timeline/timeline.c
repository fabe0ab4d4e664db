/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The timeline of a recording: see timeline.h. */
#include "calls/timeline/timeline.h"

#include "calls/timeline/sums.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    FINEST_BINS = 1 << 16,   /* of the finest level, at most */
    COARSEST_BINS = 64,      /* of the coarsest, at least */
    DEFAULT_CELLS = 3 << 20, /* 20 bytes each */
};

struct gt_timeline {
    struct gt_calls *calls;
    const volatile bool *stop;
    size_t n_tasks;
    pthread_mutex_t lock; /* for all below */
    struct gt_timeline_bins levels;
    struct gt_timeline_task *task;
    GArray *notes;
    uint64_t n_notes; /* those left out, too */
    uint64_t seen;    /* events */
    bool ended;
};

/* ---- making -------------------------------------------------------------------------------- */

static void choose_levels(struct gt_timeline_bins *l, uint64_t first, uint64_t last)
{
    const uint64_t time = last - first;
    l->first = first;
    while (time >> l->exp >= FINEST_BINS)
        l->exp++;
    l->bins = (time >> l->exp) + 1;
    l->n = 1;
    while (l->n < GT_TIMELINE_LEVELS && time >> gt_timeline_bins_exp(l, l->n) >= COARSEST_BINS)
        l->n++;
}

struct gt_timeline *gt_timeline_create(struct gt_calls *c, size_t cells)
{
    const struct gt_calls_facts *f = gt_calls_facts(c);
    struct gt_timeline *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->calls = c;
    t->n_tasks = gt_calls_n_tasks(c);
    t->notes = g_array_new(FALSE, FALSE, sizeof(struct gt_timeline_note));
    t->task = calloc(t->n_tasks + 1, sizeof *t->task);
    t->levels.most = cells ? cells : DEFAULT_CELLS;
    choose_levels(&t->levels, f->first, f->last);
    pthread_mutex_init(&t->lock, NULL);
    if (!t->task || !gt_timeline_bins_init(&t->levels, t->n_tasks)) {
        gt_timeline_destroy(t);
        return NULL;
    }
    for (size_t i = 0; i < t->n_tasks; i++)
        t->task[i].first = UINT64_MAX;
    return t;
}

void gt_timeline_destroy(struct gt_timeline *t)
{
    if (!t)
        return;
    gt_timeline_bins_clear(&t->levels);
    g_array_free(t->notes, TRUE);
    free(t->task);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

/* ---- reading all --------------------------------------------------------------------------- */

struct share {
    struct gt_timeline *t;
    struct gt_timeline_sums sums;
    struct gt_timeline_task *task;
    GArray *notes;
    uint64_t seen;
};

static void *make_share(void *self)
{
    struct gt_timeline *t = self;
    struct share *s = g_new0(struct share, 1);
    s->t = t;
    gt_timeline_sums_init(&s->sums, t->n_tasks, t->levels.first, t->levels.exp);
    s->task = g_new0(struct gt_timeline_task, t->n_tasks + 1);
    for (size_t i = 0; i < t->n_tasks; i++)
        s->task[i].first = UINT64_MAX;
    s->notes = g_array_new(FALSE, FALSE, sizeof(struct gt_timeline_note));
    return s;
}

static void free_share(struct share *s)
{
    gt_timeline_sums_clear(&s->sums);
    g_free(s->task);
    g_array_free(s->notes, TRUE);
    g_free(s);
}

static void add_task(struct gt_timeline_task *to, struct gt_timeline_task *from)
{
    to->calls += from->calls;
    to->deepest = MAX(to->deepest, from->deepest);
    to->first = MIN(to->first, from->first);
    to->last = MAX(to->last, from->last);
    *from = (struct gt_timeline_task){.first = UINT64_MAX};
}

/* Shows what a share has. */
static void put_share(struct share *s)
{
    struct gt_timeline *t = s->t;
    pthread_mutex_lock(&t->lock);
    gt_timeline_sums_put(&s->sums, &t->levels);
    for (size_t i = 0; i < t->n_tasks; i++)
        add_task(&t->task[i], &s->task[i]);
    t->n_notes += s->notes->len;
    if (t->notes->len < GT_TIMELINE_NOTES)
        g_array_append_vals(t->notes, s->notes->data,
                            MIN(s->notes->len, GT_TIMELINE_NOTES - t->notes->len));
    t->seen += s->seen;
    pthread_mutex_unlock(&t->lock);
    g_array_set_size(s->notes, 0);
    s->seen = 0;
}

static void take(struct share *s, struct gt_timeline_task *task, const struct gt_call *e)
{
    if (e->kind == GT_CALL_EXIT) {
        gt_timeline_sums_add(&s->sums, e);
        task->calls++;
        if (e->depth >= task->deepest)
            task->deepest = e->depth + 1;
    } else if (e->kind == GT_CALL_EVENT || e->kind == GT_CALL_LOST) {
        const struct gt_timeline_note n = {e->time, e->task, e->function, e->kind == GT_CALL_LOST};
        g_array_append_val(s->notes, n);
    }
}

static int take_batch(void *share, const struct gt_calls_batch *b)
{
    struct share *s = share;
    struct gt_timeline_task *task = &s->task[b->task];
    if (s->t->stop && *s->t->stop)
        return GT_E_USAGE;
    for (size_t i = 0; i < b->n; i++)
        take(s, task, &b->call[i]);
    if (b->n) {
        task->first = MIN(task->first, b->call[0].time);
        task->last = MAX(task->last, b->call[b->n - 1].time);
    }
    s->seen += b->n;
    if (!gt_timeline_sums_wait(&s->sums) || s->notes->len >= GT_SUMS_WAITING)
        put_share(s);
    return 0;
}

static int merge_share(void *self, void *share)
{
    struct share *s = share;
    if (self) {
        gt_timeline_sums_finish(&s->sums);
        put_share(s);
    }
    free_share(s);
    return 0;
}

int gt_timeline_fill(struct gt_timeline *t, unsigned threads, const volatile bool *stop,
                     struct gt_error *err)
{
    static const struct gt_calls_consumer consumer = {make_share, take_batch, merge_share};
    t->stop = stop;
    int status = gt_calls_scan(t->calls, NULL, &consumer, t, threads, err);
    pthread_mutex_lock(&t->lock);
    t->ended = true;
    pthread_mutex_unlock(&t->lock);
    return status < 0 ? status : 0;
}

/* ---- looking ------------------------------------------------------------------------------- */

unsigned gt_timeline_progress(struct gt_timeline *t)
{
    pthread_mutex_lock(&t->lock);
    const uint64_t all = gt_calls_facts(t->calls)->records;
    const uint64_t part = t->seen < all ? t->seen : all;
    const unsigned progress = t->ended ? 1000
                              : all    ? (unsigned)((double)part * 999 / (double)all)
                                       : 0;
    pthread_mutex_unlock(&t->lock);
    return progress;
}

void gt_timeline_range(struct gt_timeline *t, unsigned *finest, unsigned *coarsest)
{
    pthread_mutex_lock(&t->lock);
    *finest = gt_timeline_bins_exp(&t->levels, t->levels.finest);
    *coarsest = gt_timeline_bins_exp(&t->levels, t->levels.n - 1);
    pthread_mutex_unlock(&t->lock);
}

struct gt_timeline_task *gt_timeline_tasks(struct gt_timeline *t, size_t *n)
{
    pthread_mutex_lock(&t->lock);
    struct gt_timeline_task *copy = g_memdup2(t->task, (t->n_tasks + 1) * sizeof *copy);
    pthread_mutex_unlock(&t->lock);
    *n = t->n_tasks;
    return copy;
}

static gint compare_notes(gconstpointer a, gconstpointer b)
{
    const struct gt_timeline_note *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

struct gt_timeline_note *gt_timeline_notes(struct gt_timeline *t, size_t *n, uint64_t *all)
{
    pthread_mutex_lock(&t->lock);
    g_array_sort(t->notes, compare_notes);
    *n = t->notes->len;
    *all = t->n_notes;
    struct gt_timeline_note *copy = g_memdup2(t->notes->data, *n * sizeof *copy);
    pthread_mutex_unlock(&t->lock);
    return copy;
}

/* ---- below the finest level ---------------------------------------------------------------- */

/* From the calls themselves. Those that are shorter than 2^short_exp and touch the part lie within
 * that time around it; so those that the window of the scan cuts are not among them. */

enum { ZOOM_CELLS = 1 << 20 };

struct zoom {
    struct gt_timeline_bins *levels;
    uint64_t from, to; /* the part */
    size_t n_tasks;
    unsigned short_exp;
};

struct zoom_share {
    const struct zoom *zoom;
    struct gt_timeline_sums sums;
};

static void *zoom_begin(void *self)
{
    const struct zoom *z = self;
    struct zoom_share *s = g_new0(struct zoom_share, 1);
    s->zoom = z;
    gt_timeline_sums_init(&s->sums, z->n_tasks, z->levels->first, z->levels->exp);
    return s;
}

static int zoom_take(void *share, const struct gt_calls_batch *b)
{
    struct zoom_share *s = share;
    const struct zoom *z = s->zoom;
    for (size_t i = 0; i < b->n; i++) {
        const struct gt_call *e = &b->call[i];
        if (e->kind == GT_CALL_EXIT && !(e->flags & GT_CALL_CLIPPED) && e->time >= z->from &&
            e->begin <= z->to && (e->time - e->begin) >> z->short_exp == 0)
            gt_timeline_sums_add(&s->sums, e);
    }
    return 0;
}

static int zoom_merge(void *self, void *share)
{
    struct zoom_share *s = share;
    if (self) {
        gt_timeline_sums_finish(&s->sums);
        gt_timeline_sums_put(&s->sums, ((struct zoom *)self)->levels);
    }
    gt_timeline_sums_clear(&s->sums);
    g_free(s);
    return 0;
}

/* Makes a level of the part's calls that are shorter than 2^short_exp. The caller clears it after
 * success. Errors of gt_calls_scan. */
static int zoom_in(struct gt_calls *c, const struct gt_timeline_part *p, unsigned short_exp,
                   struct gt_timeline_bins *out, struct gt_error *err)
{
    static const struct gt_calls_consumer consumer = {zoom_begin, zoom_take, zoom_merge};
    const uint64_t first = gt_calls_facts(c)->first, around = UINT64_C(1) << short_exp;
    *out = (struct gt_timeline_bins){
        .first = first, .bin = p->bin, .bins = p->bins, .exp = p->exp, .n = 1, .most = ZOOM_CELLS};
    struct zoom z = {.levels = out,
                     .from = first + (p->bin << p->exp),
                     .n_tasks = gt_calls_n_tasks(c),
                     .short_exp = short_exp};
    z.to = z.from + (p->bins << p->exp);
    g_autofree bool *tasks = g_new0(bool, z.n_tasks + 1);
    for (size_t i = 0; i < p->n_tasks; i++)
        tasks[p->task[i]] = true;
    const struct gt_calls_window w = {
        .from = z.from - first > around ? z.from - around : first,
        .to = z.to + around,
        .tasks = tasks,
    };
    if (!gt_timeline_bins_init(out, z.n_tasks)) {
        gt_timeline_bins_clear(out);
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    }
    int status = gt_calls_scan(c, &w, &consumer, &z, p->threads, err);
    if (status >= 0 && out->full)
        status = gt_error_set(err, GT_E_RANGE,
                              "there are too many calls to show; choose a shorter time");
    if (status < 0)
        gt_timeline_bins_clear(out);
    return status < 0 ? status : 0;
}

/* ---- a part -------------------------------------------------------------------------------- */

/* Level of an exponent; -1: below the finest one. */
static int level_of(const struct gt_timeline_bins *l, unsigned exp, struct gt_error *err)
{
    const unsigned finest = gt_timeline_bins_exp(l, l->finest);
    if (exp < finest)
        return -1;
    const unsigned level = (exp - l->exp) / GT_TIMELINE_STEP;
    if (level >= l->n || gt_timeline_bins_exp(l, level) != exp)
        return gt_error_set(err, GT_E_RANGE, "no level has bins of 2^%u ns", exp);
    return (int)level;
}

static void look_at_level(struct gt_timeline *t, const struct gt_timeline_part *p, uint32_t task,
                          uint32_t depths, unsigned level, const struct gt_timeline_sink *to)
{
    const uint64_t from = t->levels.first + (p->bin << p->exp);
    gt_timeline_bins_slices(&t->levels, task, level, from, from + (p->bins << p->exp), depths, to);
    if (gt_timeline_bins_exp(&t->levels, level) == p->exp)
        gt_timeline_bins_cells(&t->levels, task, level, p->bin, p->bins, depths, to);
}

int gt_timeline_look(struct gt_timeline *t, const struct gt_timeline_part *p,
                     const struct gt_timeline_sink *to, struct gt_error *err)
{
    struct gt_timeline_bins near = {0};
    pthread_mutex_lock(&t->lock);
    int level = level_of(&t->levels, p->exp, err);
    unsigned finest = t->levels.finest;
    const unsigned exp = gt_timeline_bins_exp(&t->levels, finest);
    pthread_mutex_unlock(&t->lock);
    if (level < -1)
        return level;
    if (level < 0) {
        int status = zoom_in(t->calls, p, exp, &near, err);
        if (status < 0)
            return status;
    }
    const uint64_t from = gt_calls_facts(t->calls)->first + (p->bin << p->exp);
    const uint64_t end = from + (p->bins << p->exp);
    pthread_mutex_lock(&t->lock);
    for (size_t i = 0; i < p->n_tasks; i++) {
        const uint32_t depths = MIN(p->depths, t->task[p->task[i]].deepest);
        to->task(to->self, p->task[i]);
        look_at_level(t, p, p->task[i], depths,
                      MAX(level < 0 ? finest : (unsigned)level, t->levels.finest), to);
        if (level >= 0)
            continue;
        gt_timeline_bins_slices(&near, p->task[i], 0, from, end, depths, to);
        gt_timeline_bins_cells(&near, p->task[i], 0, p->bin, p->bins, depths, to);
    }
    pthread_mutex_unlock(&t->lock);
    gt_timeline_bins_clear(&near);
    return 0;
}
