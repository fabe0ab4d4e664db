/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The source file of a function: its text, and how often its lines ran. */
#include "calls/view/private.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 200000, LINE = 2000, TAB = 8 };

/* A line as it is shown: tabs are blanks. */
static void put_line(struct gt_json *j, const char *at, size_t n)
{
    char line[LINE + TAB];
    size_t used = 0;
    for (size_t i = 0; i < n && used < LINE; i++)
        if (at[i] == '\t')
            do
                line[used++] = ' ';
            while (used % TAB);
        else if (at[i] != '\r' || i + 1 < n)
            line[used++] = at[i];
    gt_json_string(j, line, used);
}

static void put_text(struct gt_json *j, const char *text, size_t size)
{
    size_t lines = 0;
    for (const char *at = text, *end = text + size; at < end && lines < MOST_LINES; lines++) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        line_end = line_end ? line_end : end;
        put_line(j, at, (size_t)(line_end - at));
        at = line_end + 1;
    }
}

static void put_counts(struct gt_json *j, const GArray *counts)
{
    for (guint i = 0; counts && i < counts->len && i < MOST_LINES; i++) {
        const struct gt_view_source_count *c =
            &g_array_index(counts, struct gt_view_source_count, i);
        gt_json_u64(j, c->line);
        gt_json_u64(j, c->count);
    }
}

/* function: one whose file it is. "why": the reason that there are no lines. */
int gt_view_source(struct gt_view *v, const struct gt_view_query *q, struct gt_json *j,
                   struct gt_error *err)
{
    const size_t n = gt_calls_n_functions(v->calls);
    uint64_t function = n;
    char *text = NULL;
    size_t size = 0;
    struct gt_error why = {0};
    int status = gt_view_number(q, "function", n ? n - 1 : 0, &function, err);
    if (status < 0)
        return status;
    if (!v->sources)
        return gt_error_set(err, GT_E_NOT_FOUND, "there are no source files");
    const char *file = function < n ? gt_calls_function(v->calls, (uint32_t)function)->file : NULL;
    if (!file)
        return gt_error_set(err, GT_E_NOT_FOUND, "the function has no source file");
    status = gt_view_sources_read(v->sources, file, &text, &size, &why);
    gt_json_resume(j);
    gt_json_begin_object(j);
    gt_view_put_text(j, "file", file);
    gt_view_put_text(j, "why", status < 0 ? why.text : "");
    gt_json_key(j, "lines");
    gt_json_begin_array(j);
    if (status == 0)
        put_text(j, text, size);
    gt_json_end_array(j);
    gt_json_key(j, "counts"); /* line, count */
    gt_json_begin_array(j);
    put_counts(j, gt_view_sources_counts(v->sources, file));
    gt_json_end_array(j);
    gt_json_end_object(j);
    gt_json_commit(j);
    free(text);
    return 0;
}
