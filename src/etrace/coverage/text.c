/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports for people: a summary, and annotated sources in the format of gcov. */
#include "etrace/coverage/summary.h"
#include "etrace/coverage/write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SOURCE_MAX (256 << 20)

/* ---- qcov ---------------------------------------------------------------------------------- */

static void write_source_line(struct gt_text *out, const struct gt_coverage_total *t, uint32_t line,
                              const char *text)
{
    if (!t)
        gt_text_printf(out, "%9s:%5" PRIu32 ":%s\n", "-", line, text);
    else if (t->count == 0)
        gt_text_printf(out, "%9s:%5" PRIu32 ":%s\n", "#####", line, text);
    else
        gt_text_printf(out, "%9" PRIu64 ":%5" PRIu32 ":%s\n", t->count, line, text);
}

/* Of a source that is absent the lines that have code. */
static void write_source(const char *path, const GArray *totals, struct gt_text *out)
{
    char *data = NULL;
    size_t size;
    const struct gt_coverage_total *t = (const struct gt_coverage_total *)(void *)totals->data;
    const struct gt_coverage_total *end = t + totals->len;
    uint32_t line = 1;
    gt_text_printf(out, "%9s:%5d:Source:%s\n", "-", 0, path);
    if (gt_file_read(path, SOURCE_MAX, &data, &size, NULL) == 0) {
        char *at = data;
        for (char *eol; at < data + size; at = eol + 1, line++) {
            eol = memchr(at, '\n', (size_t)(data + size - at));
            eol = eol ? eol : data + size;
            *eol = '\0';
            bool has = t < end && t->line == line;
            write_source_line(out, has ? t : NULL, line, at);
            t += has;
        }
    }
    free(data);
    for (; t < end; t++)
        write_source_line(out, t, t->line, "/*EOF*/");
}

void gt_coverage_write_qcov(const struct gt_coverage_report *r, struct gt_text *out)
{
    guint at = 0;
    for (uint32_t file = 1; file < r->files->len; file++) {
        GArray *totals = gt_coverage_totals(r, file, &at);
        if (totals->len)
            write_source(r->files->pdata[file], totals, out);
        g_array_unref(totals);
    }
}

/* ---- text ---------------------------------------------------------------------------------- */

static guint count_hit(const GArray *totals)
{
    guint hit = 0;
    for (guint i = 0; i < totals->len; i++)
        hit += g_array_index(totals, struct gt_coverage_total, i).count != 0;
    return hit;
}

static double percent(guint hit, guint all)
{
    return all ? 100.0 * hit / all : 0.0;
}

static void write_functions(const GArray *functions, struct gt_text *out)
{
    for (guint i = 0; i < functions->len; i++) {
        const struct gt_coverage_function *f =
            &g_array_index(functions, struct gt_coverage_function, i);
        gt_text_printf(out, "  %12" PRIu64 "  %s", f->calls, f->name);
        if (f->line)
            gt_text_printf(out, " (line %" PRIu32 ")", f->line);
        gt_text_printf(out, "\n");
    }
}

/* Runs of lines with code that never ran, as 3-5: nothing in between ran. */
static void write_missing(const GArray *totals, struct gt_text *out)
{
    const struct gt_coverage_total *t = (const struct gt_coverage_total *)(void *)totals->data;
    const char *before = "  lines that never ran: ";
    for (guint i = 0; i < totals->len; i++) {
        guint last = i;
        if (t[i].count)
            continue;
        while (last + 1 < totals->len && t[last + 1].count == 0)
            last++;
        gt_text_printf(out, last == i ? "%s%" PRIu32 : "%s%" PRIu32 "-", before, t[i].line);
        if (last > i)
            gt_text_printf(out, "%" PRIu32, t[last].line);
        before = ", ";
        i = last;
    }
    if (*before == ',')
        gt_text_printf(out, "\n");
}

/* Functions whose file is not known: those that ran. */
static void write_nowhere(const struct gt_coverage_report *r, struct gt_text *out)
{
    bool any = false;
    for (guint i = 1; i < r->functions->len; i++) {
        const struct gt_coverage_function *f =
            &g_array_index(r->functions, struct gt_coverage_function, i);
        if (f->line || f->calls == 0)
            continue;
        if (!any)
            gt_text_printf(out, "%s: functions without source lines\n",
                           (const char *)r->files->pdata[0]);
        gt_text_printf(out, "  %12" PRIu64 "  %s\n", f->calls, f->name);
        any = true;
    }
}

void gt_coverage_write_text(const struct gt_coverage_report *r, struct gt_text *out)
{
    guint at = 0, all = 0, hit = 0, files = 0;
    for (uint32_t file = 1; file < r->files->len; file++) {
        GArray *totals = gt_coverage_totals(r, file, &at);
        GArray *functions = gt_coverage_functions_of(r, file, totals);
        guint ran = count_hit(totals);
        if (totals->len) {
            gt_text_printf(out, "%s: %u of %u lines ran, %.1f%%\n",
                           (const char *)r->files->pdata[file], ran, totals->len,
                           percent(ran, totals->len));
            write_functions(functions, out);
            write_missing(totals, out);
            files++;
        }
        all += totals->len;
        hit += ran;
        g_array_unref(functions);
        g_array_unref(totals);
    }
    write_nowhere(r, out);
    gt_text_printf(out, "total: %u of %u lines ran, %.1f%%, in %u files\n", hit, all,
                   percent(hit, all), files);
}
