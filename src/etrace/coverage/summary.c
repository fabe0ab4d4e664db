/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of a report that concerns one source file: see summary.h. */
#include "etrace/coverage/summary.h"

#include <string.h>

/* What functions have of a line. */
struct sum {
    uint64_t apart; /* that begin in a line with others: gcov counts each for itself */
    uint64_t ends;  /* of the others: whose blocks end in it */
    uint64_t has;   /* and all of the others */
    bool any_ends;
    uint64_t declared; /* calls of functions of optimised code that begin there */
};

static uint64_t add_to_sum(struct sum *s, const struct gt_coverage_report *r,
                           const struct gt_coverage_line *line)
{
    if (line->declares) {
        s->declared += line->count;
    } else if (g_array_index(r->functions, struct gt_coverage_function, line->function)
                   .shares_line) {
        s->apart += line->count;
    } else {
        s->has += line->count;
        s->ends += line->ends ? line->count : 0;
        s->any_ends |= line->ends;
    }
    const uint64_t all = s->apart + (s->any_ends ? s->ends : s->has);
    return MAX(all, s->declared); /* the copies of a function are parts of others */
}

GArray *gt_coverage_totals(const struct gt_coverage_report *r, uint32_t file, guint *at)
{
    GArray *totals = g_array_new(FALSE, FALSE, sizeof(struct gt_coverage_total));
    struct sum sum = {0};
    for (; *at < r->lines->len; ++*at) {
        const struct gt_coverage_line *line =
            &g_array_index(r->lines, struct gt_coverage_line, *at);
        if (line->file > file)
            break;
        if (line->file < file || line->line == 0 || !line->listed)
            continue;
        struct gt_coverage_total *last =
            totals->len ? &g_array_index(totals, struct gt_coverage_total, totals->len - 1) : NULL;
        const struct gt_coverage_total total = {.line = line->line};
        if (!last || last->line != line->line) {
            g_array_append_val(totals, total);
            sum = (struct sum){0};
            last = &g_array_index(totals, struct gt_coverage_total, totals->len - 1);
        }
        last->count = add_to_sum(&sum, r, line);
    }
    return totals;
}

static int compare_functions(const void *a, const void *b)
{
    const struct gt_coverage_function *x = a, *y = b;
    return x->line != y->line ? (x->line < y->line ? -1 : 1) : strcmp(x->name, y->name);
}

/* What begins in one line is one function under several names for lcov 2: it ends in one line. */
static void same_ends(GArray *of)
{
    struct gt_coverage_function *f = (struct gt_coverage_function *)(void *)of->data;
    for (guint i = 0, next; i < of->len; i = next) {
        uint32_t end = f[i].end;
        for (next = i + 1; next < of->len && f[next].line == f[i].line; next++)
            end = f[next].end == end ? end : 0;
        for (guint k = i; k < next; k++)
            f[k].end = end;
    }
}

/* What the lines say of a function, or several that begin in one line. Of optimised code a copy may
 * have left no trace but its lines. Where the code does not say the end, it is the last line before
 * the next function; of one that never ran, before what ran: that is not the function's. */
static void fit_to_lines(struct gt_coverage_function *f, guint n, uint32_t next,
                         const GArray *totals, guint *at)
{
    const struct gt_coverage_total *t =
        (const struct gt_coverage_total *)(const void *)totals->data;
    uint32_t end = 0;
    bool ran = false;
    while (*at < totals->len && t[*at].line < f->line)
        ++*at;
    if (n == 1 && f->is_placed && !f->calls && *at < totals->len && t[*at].line == f->line &&
        !strstr(f->name, "{lambda"))
        f->calls = t[*at].count;
    for (guint i = 0; i < n; i++)
        ran |= f[i].calls != 0;
    for (; *at < totals->len && t[*at].line < next; ++*at) {
        if (t[*at].count && !ran)
            break;
        end = t[*at].line;
    }
    for (guint i = 0; i < n; i++)
        f[i].end = f[i].end ? f[i].end : end;
}

static void fit_all_to_lines(GArray *of, const GArray *totals)
{
    struct gt_coverage_function *f = (struct gt_coverage_function *)(void *)of->data;
    guint at = 0;
    for (guint i = 0, next; i < of->len; i = next) {
        for (next = i + 1; next < of->len && f[next].line == f[i].line;)
            next++;
        fit_to_lines(&f[i], next - i, next < of->len ? f[next].line : UINT32_MAX, totals, &at);
    }
}

GArray *gt_coverage_functions_of(const struct gt_coverage_report *r, uint32_t file,
                                 const GArray *totals)
{
    GArray *of = g_array_new(FALSE, FALSE, sizeof(struct gt_coverage_function));
    for (guint i = 0; i < r->functions->len; i++) {
        const struct gt_coverage_function *f =
            &g_array_index(r->functions, struct gt_coverage_function, i);
        if (f->file == file && f->line)
            g_array_append_val(of, *f);
    }
    g_array_sort(of, compare_functions);
    same_ends(of);
    guint n = 0;
    struct gt_coverage_function *f = (struct gt_coverage_function *)(void *)of->data;
    for (guint i = 0; i < of->len; i++) {
        if (n && compare_functions(&f[n - 1], &f[i]) == 0)
            f[n - 1].calls += f[i].calls;
        else
            f[n++] = f[i];
    }
    g_array_set_size(of, n);
    fit_all_to_lines(of, totals);
    return of;
}
