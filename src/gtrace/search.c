/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libgtrace: functions that a text finds, and a list of their calls. */
#include "calls/profile/find.h"
#include "calls/profile/hits.h"
#include "gtrace/private.h"

#include <stdlib.h>

_Static_assert((int)GTRACE_FOUND_EXACTLY == (int)GT_FOUND_EXACTLY &&
                   (int)GTRACE_BY_DURATION == (int)GT_HITS_BY_DURATION &&
                   (int)GTRACE_BY_TASK_INDEX == (int)GT_HITS_BY_TASK &&
                   (int)GTRACE_BY_NAME == (int)GT_HITS_BY_FUNCTION,
               "the same");

struct gtrace_search {
    struct gt_profile_find *find;
};

API int gtrace_search_new(const char *text, struct gtrace_search **out, struct gtrace_error *err)
{
    struct gt_profile_find *find;
    struct gt_error e = {0};
    *out = NULL;
    const int status = gt_profile_find_parse(text, &find, &e);
    if (status < 0)
        return gt_gtrace_fail(err, status, &e);
    *out = g_new0(struct gtrace_search, 1);
    (*out)->find = find;
    return 0;
}

API enum gtrace_found gtrace_search_match(const struct gtrace_search *s, const char *name,
                                          const char *module)
{
    return (enum gtrace_found)gt_profile_find_match(s->find, name, module);
}

API void gtrace_search_free(struct gtrace_search *s)
{
    if (s)
        gt_profile_find_free(s->find);
    g_free(s);
}

static struct gt_profile_hit hit_of(const struct gtrace_row *row)
{
    return (struct gt_profile_hit){.begin = row->begin,
                                   .duration = row->end - row->begin,
                                   .task = row->task,
                                   .depth = row->depth,
                                   .function = row->function};
}

static struct gtrace_row row_of(const struct gt_profile_hit *h)
{
    return (struct gtrace_row){.begin = h->begin,
                               .end = h->begin + h->duration,
                               .task = h->task,
                               .function = h->function,
                               .depth = h->depth,
                               .flags = h->flags ? GTRACE_OPEN : 0};
}

API int64_t gtrace_hits(struct gtrace *t, const struct gtrace_window *w,
                        const struct gtrace_hits_options *o, struct gtrace_row **out, uint64_t *all,
                        struct gtrace_error *err)
{
    struct gtrace_hits_options asked;
    struct gt_gtrace_pass pass;
    struct gt_error e = {0};
    *out = NULL;
    *all = 0;
    gt_gtrace_get(&asked, sizeof asked, o);
    if (asked.by >= GT_HITS_ORDERS)
        return gt_gtrace_usage(err, "gtrace_hits: no such order");
    int status = gt_gtrace_pass_init(&pass, t, w, err);
    if (status < 0)
        return status;
    const struct gt_profile_hit after =
        asked.after ? hit_of(asked.after) : (struct gt_profile_hit){0};
    const struct gt_profile_hits_options how = {.window = &pass.window,
                                                .wanted = asked.functions,
                                                .n = asked.functions ? asked.n : 0,
                                                .most = UINT64_MAX,
                                                .by = (enum gt_profile_hits_order)asked.by,
                                                .down = asked.down,
                                                .after = asked.after ? &after : NULL};
    g_autofree struct gt_profile_hits *hits = g_new0(struct gt_profile_hits, 1);
    status = gt_profile_hits_make(t->calls, &how, hits, &e);
    gt_gtrace_pass_finish(&pass);
    const size_t n = hits->n;
    if (status == 0 && !(*out = calloc(n + 1, sizeof **out)))
        status = gt_error_set(&e, GT_E_NOMEM, "out of memory");
    for (size_t i = 0; status == 0 && i < n; i++)
        (*out)[i] = row_of(&hits->row[i]);
    *all = hits->calls;
    gt_profile_hits_clear(hits);
    return status < 0 ? gt_gtrace_fail(err, status, &e) : (int64_t)n;
}
