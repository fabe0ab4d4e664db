/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The timeline of a recording: see timeline.h. */
#include "calls/timeline/timeline.h"

#include "calls/timeline/disjoint.h"
#include "calls/timeline/lanes.h"
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
    size_t n_tasks, n_tracks; /* tracks: tasks, then lanes */
    enum gt_timeline_lanes_kind kind;
    struct gt_timeline_lanes lanes;       /* what waits while all is read */
    struct gt_timeline_disjoint disjoint; /* GT_LANES_ONE: of its runs */
    pthread_mutex_t lock;                 /* for all below */
    struct gt_timeline_bins levels;
    struct gt_timeline_task *task;
    GArray *notes;
    uint64_t n_notes; /* those left out, too */
    uint64_t seen;    /* events */
    uint64_t left_out;
    bool ended, one; /* one: GT_LANES_ONE, and it is so */
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
    size_t vcpus;
    t->kind = gt_timeline_lanes_kind_of(c, &vcpus);
    t->n_tasks = gt_calls_n_tasks(c);
    t->n_tracks = t->n_tasks + vcpus;
    t->notes = g_array_new(FALSE, FALSE, sizeof(struct gt_timeline_note));
    t->task = calloc(t->n_tracks + 1, sizeof *t->task);
    t->levels.most = cells ? cells : DEFAULT_CELLS;
    choose_levels(&t->levels, f->first, f->last);
    pthread_mutex_init(&t->lock, NULL);
    if (!t->task || !gt_timeline_bins_init(&t->levels, t->n_tracks)) {
        gt_timeline_destroy(t);
        return NULL;
    }
    for (size_t i = 0; i < t->n_tracks; i++)
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
    struct gt_timeline_lanes lanes;
    struct gt_timeline_disjoint disjoint; /* GT_LANES_ONE */
    GArray *notes;
    uint64_t seen;
};

static void add_call(struct gt_timeline_task *t, const struct gt_call *e)
{
    t->calls++;
    t->suspended += gt_call_suspends(e->function);
    if (e->depth >= t->deepest)
        t->deepest = e->depth + 1;
}

static void put_lane(void *self, const struct gt_call *e)
{
    struct share *s = self;
    struct gt_call run = *e;
    run.task += (uint32_t)s->t->n_tasks;
    struct gt_timeline_task *track = &s->task[run.task];
    gt_timeline_sums_add(&s->sums, &run);
    track->calls += run.depth == 0;
    track->deepest = MAX(track->deepest, run.depth + 1);
    track->first = MIN(track->first, e->begin);
    track->last = MAX(track->last, e->time);
    if (e->depth == 0 && s->disjoint.n)
        gt_timeline_disjoint_add(&s->disjoint, e->begin, e->time);
}

static void *make_share(void *self)
{
    struct gt_timeline *t = self;
    struct share *s = g_new0(struct share, 1);
    s->t = t;
    gt_timeline_sums_init(&s->sums, t->n_tracks, t->levels.first, t->levels.exp);
    gt_timeline_lanes_init(&s->lanes, t->calls, t->kind, put_lane, s);
    if (t->kind == GT_LANES_ONE)
        gt_timeline_disjoint_init(&s->disjoint, t->levels.first, gt_calls_facts(t->calls)->last,
                                  t->levels.exp);
    s->task = g_new0(struct gt_timeline_task, t->n_tracks + 1);
    for (size_t i = 0; i < t->n_tracks; i++)
        s->task[i].first = UINT64_MAX;
    s->notes = g_array_new(FALSE, FALSE, sizeof(struct gt_timeline_note));
    return s;
}

static void free_share(struct share *s)
{
    gt_timeline_sums_clear(&s->sums);
    gt_timeline_lanes_clear(&s->lanes);
    gt_timeline_disjoint_clear(&s->disjoint);
    g_free(s->task);
    g_array_free(s->notes, TRUE);
    g_free(s);
}

static void add_task(struct gt_timeline_task *to, struct gt_timeline_task *from)
{
    to->calls += from->calls;
    to->suspended += from->suspended;
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
    for (size_t i = 0; i < t->n_tracks; i++)
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
        add_call(task, e);
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
    gt_timeline_lanes_take(&s->lanes, b);
    if (b->n) {
        task->first = MIN(task->first, b->call[0].time);
        task->last = MAX(task->last, b->call[b->n - 1].time);
    }
    s->seen += b->n;
    if (!gt_timeline_sums_wait(&s->sums) || s->notes->len >= GT_SUMS_WAITING)
        put_share(s);
    return 0;
}

static void end_share(struct share *s)
{
    gt_timeline_sums_finish(&s->sums);
    put_share(s);
    if (s->disjoint.n)
        gt_timeline_disjoint_merge(&s->t->disjoint, &s->disjoint);
}

static int merge_share(void *self, void *share)
{
    struct share *s = share;
    if (self) {
        gt_timeline_lanes_move(&s->t->lanes, &s->lanes);
        end_share(s);
    }
    free_share(s);
    return 0;
}

/* Runs that are in several stretches. */
static void join_lanes(struct gt_timeline *t)
{
    struct share *s = make_share(t);
    t->lanes.self = s;
    gt_timeline_lanes_join(&t->lanes, true, NULL, NULL);
    end_share(s);
    free_share(s);
}

/* Whether the machine has one vCPU: tasks take turns. */
static bool has_one_vcpu(const struct gt_timeline *t)
{
    uint64_t suspended = 0;
    for (size_t i = 0; i < t->n_tasks; i++)
        suspended += t->task[i].suspended;
    return t->kind == GT_LANES_ONE && suspended > 0 && gt_timeline_disjoint_holds(&t->disjoint);
}

int gt_timeline_fill(struct gt_timeline *t, unsigned threads, const volatile bool *stop,
                     struct gt_error *err)
{
    static const struct gt_calls_consumer consumer = {make_share, take_batch, merge_share};
    t->stop = stop;
    gt_timeline_lanes_init(&t->lanes, t->calls, t->kind, put_lane, NULL);
    if (t->kind == GT_LANES_ONE)
        gt_timeline_disjoint_init(&t->disjoint, t->levels.first, gt_calls_facts(t->calls)->last,
                                  t->levels.exp);
    int status = gt_calls_scan(t->calls, NULL, &consumer, t, threads, err);
    if (status >= 0)
        join_lanes(t);
    pthread_mutex_lock(&t->lock);
    t->one = has_one_vcpu(t);
    t->left_out = t->lanes.left_out;
    t->ended = true;
    pthread_mutex_unlock(&t->lock);
    gt_timeline_lanes_clear(&t->lanes);
    gt_timeline_disjoint_clear(&t->disjoint);
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
    struct gt_timeline_task *copy = g_memdup2(t->task, (t->n_tracks + 1) * sizeof *copy);
    pthread_mutex_unlock(&t->lock);
    *n = t->n_tasks;
    return copy;
}

size_t gt_timeline_lanes(struct gt_timeline *t, uint64_t *left_out)
{
    pthread_mutex_lock(&t->lock);
    const bool any = t->kind == GT_LANES_TOLD || t->one;
    *left_out = t->left_out;
    pthread_mutex_unlock(&t->lock);
    return any ? t->n_tracks - t->n_tasks : 0;
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
    struct gt_timeline *t;
    struct gt_timeline_bins *levels;
    uint64_t from, to; /* the part */
    const bool *track; /* those that are looked at, by index */
    unsigned short_exp;
    enum gt_timeline_lanes_kind kind; /* of the lanes that are looked at */
    struct gt_timeline_lanes lanes;
};

struct zoom_share {
    const struct zoom *zoom;
    struct gt_timeline_sums sums;
    struct gt_timeline_lanes lanes;
};

static void zoom_add(struct zoom_share *s, const struct gt_call *e)
{
    const struct zoom *z = s->zoom;
    if (z->track[e->task] && e->time >= z->from && e->begin <= z->to &&
        (e->time - e->begin) >> z->short_exp == 0)
        gt_timeline_sums_add(&s->sums, e);
}

static void zoom_put_lane(void *self, const struct gt_call *e)
{
    struct zoom_share *s = self;
    struct gt_call run = *e;
    run.task += (uint32_t)s->zoom->t->n_tasks;
    zoom_add(s, &run);
}

static void *zoom_begin(void *self)
{
    const struct zoom *z = self;
    struct zoom_share *s = g_new0(struct zoom_share, 1);
    s->zoom = z;
    gt_timeline_sums_init(&s->sums, z->t->n_tracks, z->levels->first, z->levels->exp);
    gt_timeline_lanes_init(&s->lanes, z->t->calls, z->kind, zoom_put_lane, s);
    return s;
}

static int zoom_take(void *share, const struct gt_calls_batch *b)
{
    struct zoom_share *s = share;
    for (size_t i = 0; i < b->n; i++)
        if (b->call[i].kind == GT_CALL_EXIT && !(b->call[i].flags & GT_CALL_CLIPPED))
            zoom_add(s, &b->call[i]);
    gt_timeline_lanes_take(&s->lanes, b);
    return 0;
}

static void zoom_end(struct zoom_share *s)
{
    gt_timeline_sums_finish(&s->sums);
    gt_timeline_sums_put(&s->sums, s->zoom->levels);
}

static void zoom_free(struct zoom_share *s)
{
    gt_timeline_sums_clear(&s->sums);
    gt_timeline_lanes_clear(&s->lanes);
    g_free(s);
}

static int zoom_merge(void *self, void *share)
{
    struct zoom *z = self;
    if (z) {
        gt_timeline_lanes_move(&z->lanes, &((struct zoom_share *)share)->lanes);
        zoom_end(share);
    }
    zoom_free(share);
    return 0;
}

/* A run of a task, as the levels have it: it is too long for the zoom. */
struct zoom_run {
    uint32_t task;
    bool found;
    uint64_t since;
};

static void take_run(void *self, const struct gt_timeline_slice *s)
{
    struct zoom_run *r = self;
    if (s->function != r->task)
        return;
    r->found = true;
    r->since = s->begin;
}

static bool find_run(void *self, uint32_t task, uint64_t time, uint32_t *vcpu, uint64_t *since)
{
    struct gt_timeline *t = self;
    struct zoom_run r = {.task = task};
    const struct gt_timeline_sink sink = {.self = &r, .slice = take_run};
    for (size_t track = t->n_tasks; track < t->n_tracks && !r.found; track++) {
        gt_timeline_bins_slices(&t->levels, (uint32_t)track, t->levels.finest, time, time, 1,
                                &sink);
        *vcpu = (uint32_t)(track - t->n_tasks);
    }
    *since = r.since;
    return r.found;
}

/* `whole`: the zoom has the end of the recording. */
static void zoom_join(struct zoom *z, bool whole)
{
    struct zoom_share *s = zoom_begin(z);
    z->lanes.self = s;
    pthread_mutex_lock(&z->t->lock);
    gt_timeline_lanes_join(&z->lanes, whole, find_run, z->t);
    pthread_mutex_unlock(&z->t->lock);
    zoom_end(s);
    zoom_free(s);
}

/* Makes a level of the part's calls that are shorter than 2^short_exp. The caller clears it after
 * success. Errors of gt_calls_scan. */
static int zoom_in(struct gt_timeline *t, const struct gt_timeline_part *p, unsigned short_exp,
                   struct gt_timeline_bins *out, struct gt_error *err)
{
    static const struct gt_calls_consumer consumer = {zoom_begin, zoom_take, zoom_merge};
    const uint64_t first = t->levels.first, around = UINT64_C(1) << short_exp;
    g_autofree bool *tracks = g_new0(bool, t->n_tracks + 1);
    *out = (struct gt_timeline_bins){
        .first = first, .bin = p->bin, .bins = p->bins, .exp = p->exp, .n = 1, .most = ZOOM_CELLS};
    struct zoom z = {.t = t,
                     .levels = out,
                     .from = first + (p->bin << p->exp),
                     .track = tracks,
                     .short_exp = short_exp};
    z.to = z.from + (p->bins << p->exp);
    for (size_t i = 0; i < p->n_tasks; i++) {
        tracks[p->task[i]] = true;
        if (p->task[i] >= t->n_tasks)
            z.kind = t->kind;
    }
    const struct gt_calls_window w = {
        .from = z.from - first > around ? z.from - around : first,
        .to = z.to + around,
        .tasks = z.kind == GT_LANES_NONE ? tracks : NULL, /* any task may run there */
    };
    if (!gt_timeline_bins_init(out, t->n_tracks)) {
        gt_timeline_bins_clear(out);
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    }
    gt_timeline_lanes_init(&z.lanes, t->calls, z.kind, zoom_put_lane, NULL);
    int status = gt_calls_scan(t->calls, &w, &consumer, &z, p->threads, err);
    if (status >= 0)
        zoom_join(&z, w.to >= gt_calls_facts(t->calls)->last);
    gt_timeline_lanes_clear(&z.lanes);
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
        int status = zoom_in(t, p, exp, &near, err);
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
