/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a search finds: functions by a regular expression; of functions their calls. */
#include "calls/view/private.h"

#include "filter/regex.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROWS = 2000, /* calls of a list */
    MARKS = 512, /* parts of the recording's time */
    FINE = 4,    /* parts of an octave of durations */
    PARTS = 64 * FINE,
};

/* ---- functions ----------------------------------------------------------------------------- */

static void put_matches(struct gt_view *v, struct gt_json *j, const struct gt_filter_regex *regex)
{
    const size_t n = gt_calls_n_functions(v->calls);
    pthread_mutex_lock(&v->names_lock);
    for (uint32_t i = 0; i < n; i++) {
        const char *name = gt_calls_function(v->calls, i)->name;
        if (gt_filter_regex_match(regex, gt_image_demangle(v->demangler, name)))
            gt_json_u64(j, i);
    }
    pthread_mutex_unlock(&v->names_lock);
}

/* pattern: a regular expression for the names that the page shows; which functions match. The
 * mistakes of one that is being typed are an answer, too. */
int gt_view_match(struct gt_view *v, const struct gt_view_query *q, struct gt_json *j,
                  struct gt_error *err)
{
    const char *pattern = q->value(q->self, "pattern");
    struct gt_filter_regex *regex = NULL;
    struct gt_error why = {0};
    size_t at = 0;
    const int status = gt_filter_regex_parse(pattern ? pattern : "", &regex, &at, &why);
    if (status == GT_E_NOMEM)
        return gt_error_set(err, status, "out of memory");
    gt_json_resume(j);
    gt_json_begin_object(j);
    gt_json_key(j, "functions");
    gt_json_begin_array(j);
    if (status == 0)
        put_matches(v, j, regex);
    gt_json_end_array(j);
    gt_view_put(j, "undecided", gt_filter_regex_undecided(regex));
    g_autofree char *wrong =
        status < 0 ? g_strdup_printf("at character %zu: %s", at + 1, why.text) : g_strdup("");
    gt_view_put_text(j, "error", wrong);
    gt_json_end_object(j);
    gt_json_commit(j);
    gt_filter_regex_free(regex);
    return 0;
}

/* ---- calls --------------------------------------------------------------------------------- */

enum order { BY_TIME, BY_DURATION, BY_TASK, BY_FUNCTION };

struct hit {
    uint64_t begin, duration;
    uint32_t task, depth, function;
    unsigned flags;
};

struct search {
    struct gt_calls *calls;
    const bool *wanted; /* by function */
    size_t n;
    uint64_t least, most; /* durations of calls in the list */
    uint64_t first, width;
    enum order by;
    bool down;
};

/* Of all calls `durations`, else of those in the list. */
struct share {
    const struct search *search;
    GArray *hits; /* struct hit; no more than twice ROWS */
    uint64_t calls, all;
    uint64_t marks[MARKS];
    uint64_t durations[PARTS];
};

/* Octaves have FINE parts each, below FINE each duration has its own. */
static unsigned part_of(uint64_t duration)
{
    if (duration < FINE)
        return (unsigned)duration;
    const unsigned octave = 63 - (unsigned)__builtin_clzll(duration);
    return (octave - 1) * FINE + (unsigned)(duration >> (octave - 2) & (FINE - 1));
}

static uint64_t begin_of(unsigned part)
{
    return part < FINE ? part : (uint64_t)(FINE + part % FINE) << (part / FINE - 1);
}

static int compare_u64(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_names(const struct gt_calls *c, uint32_t a, uint32_t b)
{
    return a == b ? 0 : strcmp(gt_calls_function(c, a)->name, gt_calls_function(c, b)->name);
}

/* Equal ones are in order of time: the order does not depend on the threads. */
static int compare(const void *pa, const void *pb, void *self)
{
    const struct search *s = self;
    const struct hit *a = pa, *b = pb;
    int order = 0;
    if (s->by == BY_DURATION)
        order = compare_u64(a->duration, b->duration);
    else if (s->by == BY_TASK)
        order = compare_u64(a->task, b->task);
    else if (s->by == BY_FUNCTION)
        order = compare_names(s->calls, a->function, b->function);
    else
        order = compare_u64(a->begin, b->begin);
    if (order)
        return s->down ? -order : order;
    order = compare_u64(a->begin, b->begin);
    if (!order)
        order = compare_u64(a->task, b->task);
    return order ? order : compare_u64(a->depth, b->depth);
}

/* Leaves those that come first. */
static void cut(GArray *hits, const struct search *s)
{
    if (hits->len > 1)
        qsort_r(hits->data, hits->len, sizeof(struct hit), compare, (void *)s);
    if (hits->len > ROWS)
        g_array_set_size(hits, ROWS);
}

static void take_hit(struct share *t, const struct hit *hit)
{
    if (t->hits->len >= 2 * ROWS)
        cut(t->hits, t->search);
    g_array_append_val(t->hits, *hit);
}

static struct share *share_new(const struct search *s)
{
    struct share *t = g_new0(struct share, 1);
    t->search = s;
    t->hits = g_array_new(FALSE, FALSE, sizeof(struct hit));
    return t;
}

static void *make_share(void *self)
{
    return share_new(((const struct share *)self)->search);
}

static int take_batch(void *share, const struct gt_calls_batch *b)
{
    struct share *t = share;
    const struct search *s = t->search;
    for (size_t i = 0; i < b->n; i++) {
        const struct gt_call *e = &b->call[i];
        if (e->kind != GT_CALL_EXIT || e->function >= s->n || !s->wanted[e->function])
            continue;
        const struct hit hit = {e->begin, e->time - e->begin, e->task,
                                e->depth, e->function,        gt_view_call_flags(s->calls, e)};
        t->all++;
        t->durations[part_of(hit.duration)]++;
        if (hit.duration < s->least || hit.duration > s->most)
            continue;
        t->calls++;
        t->marks[MIN((hit.begin - MIN(hit.begin, s->first)) / s->width, MARKS - 1)]++;
        take_hit(t, &hit);
    }
    return 0;
}

static int merge_share(void *self, void *share)
{
    struct share *all = self, *t = share;
    if (all) {
        all->calls += t->calls;
        all->all += t->all;
        for (size_t i = 0; i < MARKS; i++)
            all->marks[i] += t->marks[i];
        for (size_t i = 0; i < PARTS; i++)
            all->durations[i] += t->durations[i];
        for (guint i = 0; i < t->hits->len; i++)
            take_hit(all, &g_array_index(t->hits, struct hit, i));
    }
    g_array_free(t->hits, TRUE);
    g_free(t);
    return 0;
}

/* begin, duration, depth, task, function, flags */
static void put_rows(struct gt_view *v, struct gt_json *j, const GArray *hits)
{
    gt_json_key(j, "rows");
    gt_json_begin_array(j);
    for (guint i = 0; i < hits->len; i++) {
        const struct hit *h = &g_array_index(hits, struct hit, i);
        gt_json_u64(j, gt_view_time(v, h->begin));
        gt_json_u64(j, h->duration);
        gt_json_u64(j, h->depth);
        gt_json_u64(j, h->task);
        gt_json_u64(j, h->function);
        gt_json_u64(j, h->flags);
    }
    gt_json_end_array(j);
}

/* The shortest, the longest, and how many, of each part from the first to the last that has some.
 */
static void put_durations(struct gt_json *j, const uint64_t *durations)
{
    unsigned first = 0, end = PARTS;
    while (first < end && !durations[first])
        first++;
    while (end > first && !durations[end - 1])
        end--;
    gt_json_key(j, "durations");
    gt_json_begin_array(j);
    for (unsigned i = first; i < end; i++) {
        gt_json_u64(j, begin_of(i));
        gt_json_u64(j, begin_of(i + 1) - 1);
        gt_json_u64(j, durations[i]);
    }
    gt_json_end_array(j);
}

static void put_hits(struct gt_view *v, struct gt_json *j, const struct share *all)
{
    gt_json_resume(j);
    gt_json_begin_object(j);
    gt_view_put(j, "calls", all->calls);
    gt_view_put(j, "all", all->all);
    put_rows(v, j, all->hits);
    put_durations(j, all->durations);
    gt_json_key(j, "marks");
    gt_json_begin_array(j);
    for (size_t i = 0; i < MARKS; i++)
        gt_json_u64(j, all->marks[i]);
    gt_json_end_array(j);
    gt_json_end_object(j);
    gt_json_commit(j);
}

static int get_order(const struct gt_view_query *q, struct search *s, struct gt_error *err)
{
    static const char *const names[] = {"time", "duration", "task", "function"};
    const char *by = q->value(q->self, "sort");
    uint64_t down = 0;
    for (size_t i = 0; by && i < G_N_ELEMENTS(names); i++)
        if (strcmp(by, names[i]) == 0) {
            s->by = (enum order)i;
            by = NULL;
        }
    if (by)
        return gt_error_set(err, GT_E_USAGE,
                            "parameter sort: '%.40s'; expected time, duration, task or function",
                            by);
    int status = gt_view_number(q, "down", 1, &down, err);
    s->down = down;
    return status;
}

/* functions, range, least, most (durations), sort, down: their calls. */
int gt_view_hits(struct gt_view *v, const struct gt_view_query *q, struct gt_json *j,
                 struct gt_error *err)
{
    static const struct gt_calls_consumer consumer = {make_share, take_batch, merge_share};
    const struct gt_calls_facts *f = gt_calls_facts(v->calls);
    struct gt_view_range r;
    struct search s = {.calls = v->calls, .n = gt_calls_n_functions(v->calls), .most = UINT64_MAX};
    g_autofree bool *wanted = NULL;
    s.first = f->first;
    s.width = (f->last - f->first) / MARKS + 1;
    int status = gt_view_range_get(v, q, &r, err);
    if (status == 0)
        status = gt_view_functions_of(q, s.n, &wanted, err);
    if (status == 0)
        status = gt_view_number(q, "least", UINT64_MAX, &s.least, err);
    if (status == 0)
        status = gt_view_number(q, "most", UINT64_MAX, &s.most, err);
    if (status == 0)
        status = get_order(q, &s, err);
    s.wanted = wanted;
    struct share *all = share_new(&s);
    if (status == 0)
        status = gt_calls_scan(v->calls, &r.window, &consumer, all, v->threads, err);
    if (status >= 0) {
        cut(all->hits, &s);
        put_hits(v, j, all);
    }
    merge_share(NULL, all);
    gt_view_range_clear(&r);
    return MIN(status, 0);
}
