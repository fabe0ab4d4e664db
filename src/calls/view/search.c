/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a search finds: functions by a regular expression; of functions their calls. */
#include "calls/view/private.h"

#include "calls/profile/hits.h"
#include "filter/regex.h"

#include <string.h>

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

/* begin, duration, depth, task, function, flags */
static void put_rows(struct gt_view *v, struct gt_json *j, const struct gt_profile_hits *hits)
{
    gt_json_key(j, "rows");
    gt_json_begin_array(j);
    for (size_t i = 0; i < hits->n; i++) {
        const struct gt_profile_hit *h = &hits->row[i];
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
    unsigned first = 0, end = GT_HITS_DURATIONS;
    while (first < end && !durations[first])
        first++;
    while (end > first && !durations[end - 1])
        end--;
    gt_json_key(j, "durations");
    gt_json_begin_array(j);
    for (unsigned i = first; i < end; i++) {
        gt_json_u64(j, gt_profile_hits_least(i));
        gt_json_u64(j, gt_profile_hits_least(i + 1) - 1);
        gt_json_u64(j, durations[i]);
    }
    gt_json_end_array(j);
}

static void put_hits(struct gt_view *v, struct gt_json *j, const struct gt_profile_hits *hits)
{
    gt_json_resume(j);
    gt_json_begin_object(j);
    gt_view_put(j, "calls", hits->calls);
    gt_view_put(j, "all", hits->all);
    put_rows(v, j, hits);
    put_durations(j, hits->durations);
    gt_json_key(j, "marks");
    gt_json_begin_array(j);
    for (size_t i = 0; i < GT_HITS_MARKS; i++)
        gt_json_u64(j, hits->marks[i]);
    gt_json_end_array(j);
    gt_json_end_object(j);
    gt_json_commit(j);
}

static int get_order(const struct gt_view_query *q, struct gt_profile_hits_options *o,
                     struct gt_error *err)
{
    static const char *const names[GT_HITS_ORDERS] = {"time", "duration", "task", "function"};
    const char *by = q->value(q->self, "sort");
    uint64_t down = 0;
    for (size_t i = 0; by && i < G_N_ELEMENTS(names); i++)
        if (strcmp(by, names[i]) == 0) {
            o->by = (enum gt_profile_hits_order)i;
            by = NULL;
        }
    if (by)
        return gt_error_set(err, GT_E_USAGE,
                            "parameter sort: '%.40s'; expected time, duration, task or function",
                            by);
    int status = gt_view_number(q, "down", 1, &down, err);
    o->down = down;
    return status;
}

/* functions, range, least, most (durations), sort, down: their calls. */
int gt_view_hits(struct gt_view *v, const struct gt_view_query *q, struct gt_json *j,
                 struct gt_error *err)
{
    struct gt_view_range r;
    struct gt_profile_hits hits = {0};
    struct gt_profile_hits_options o = {.window = &r.window,
                                        .n = gt_calls_n_functions(v->calls),
                                        .most = UINT64_MAX,
                                        .threads = v->threads};
    g_autofree bool *wanted = NULL;
    int status = gt_view_range_get(v, q, &r, err);
    if (status == 0)
        status = gt_view_functions_of(q, o.n, &wanted, err);
    if (status == 0)
        status = gt_view_number(q, "least", UINT64_MAX, &o.least, err);
    if (status == 0)
        status = gt_view_number(q, "most", UINT64_MAX, &o.most, err);
    if (status == 0)
        status = get_order(q, &o, err);
    o.wanted = wanted;
    if (status == 0)
        status = gt_profile_hits_make(v->calls, &o, &hits, err);
    if (status == 0)
        put_hits(v, j, &hits);
    gt_profile_hits_clear(&hits);
    gt_view_range_clear(&r);
    return status;
}
