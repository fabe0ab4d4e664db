/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports in the formats of other programs: see write.h. */
#include "etrace/coverage/write.h"
#include "etrace/coverage/summary.h"

#include <inttypes.h>
#include <string.h>

static const struct gt_coverage_format formats[] = {
    {"lcov", true, gt_coverage_write_lcov},
    {"lcov2", true, gt_coverage_write_lcov2},
    {"cachegrind", false, gt_coverage_write_cachegrind},
    {"callgrind", false, gt_coverage_write_callgrind},
    {"qcov", true, gt_coverage_write_qcov},
    {"json", true, gt_coverage_write_json},
    {"text", false, gt_coverage_write_text},
};

const struct gt_coverage_format *gt_coverage_format_at(size_t index)
{
    return index < G_N_ELEMENTS(formats) ? &formats[index] : NULL;
}

/* ---- lcov ---------------------------------------------------------------------------------- */

static void write_lcov_functions(const GArray *functions, bool ends, struct gt_text *out)
{
    guint hit = 0;
    for (guint i = 0; i < functions->len; i++) {
        const struct gt_coverage_function *f =
            &g_array_index(functions, struct gt_coverage_function, i);
        gt_text_printf(out, "FN:%" PRIu32 ",", f->line);
        if (ends && f->end)
            gt_text_printf(out, "%" PRIu32 ",", f->end);
        gt_text_printf(out, "%s\n", f->name);
    }
    for (guint i = 0; i < functions->len; i++) {
        const struct gt_coverage_function *f =
            &g_array_index(functions, struct gt_coverage_function, i);
        gt_text_printf(out, "FNDA:%" PRIu64 ",%s\n", f->calls, f->name);
        hit += f->calls != 0;
    }
    gt_text_printf(out, "FNF:%u\nFNH:%u\n", functions->len, hit);
}

static void write_lcov(const struct gt_coverage_report *r, bool ends, struct gt_text *out)
{
    guint at = 0;
    gt_text_printf(out, "TN:\n");
    for (uint32_t file = 1; file < r->files->len; file++) {
        GArray *totals = gt_coverage_totals(r, file, &at);
        GArray *functions = gt_coverage_functions_of(r, file, totals);
        guint hit = 0;
        if (totals->len) {
            gt_text_printf(out, "SF:%s\n", (const char *)r->files->pdata[file]);
            write_lcov_functions(functions, ends, out);
        }
        for (guint i = 0; i < totals->len; i++) {
            const struct gt_coverage_total *t = &g_array_index(totals, struct gt_coverage_total, i);
            gt_text_printf(out, "DA:%" PRIu32 ",%" PRIu64 "\n", t->line, t->count);
            hit += t->count != 0;
        }
        if (totals->len)
            gt_text_printf(out, "LF:%u\nLH:%u\nend_of_record\n", totals->len, hit);
        g_array_unref(functions);
        g_array_unref(totals);
    }
}

void gt_coverage_write_lcov(const struct gt_coverage_report *r, struct gt_text *out)
{
    write_lcov(r, false, out);
}

/* lcov 1 takes the end for the function's name, so that this is another format. */
void gt_coverage_write_lcov2(const struct gt_coverage_report *r, struct gt_text *out)
{
    write_lcov(r, true, out);
}

/* ---- cachegrind, callgrind ----------------------------------------------------------------- */

static int compare_costs(const void *a, const void *b)
{
    const struct gt_coverage_line *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* "KEY=NAME"; where names have numbers, "KEY=(NUMBER) NAME" the first time and "KEY=(NUMBER)" from
 * then on: a name may look like a number itself. */
static void write_name(struct gt_text *out, const char *key, const char *name, uint32_t index,
                       bool *said)
{
    if (!said) {
        gt_text_printf(out, "%s=%s\n", key, name);
        return;
    }
    gt_text_printf(out, "%s=(%" PRIu32 ")%s%s\n", key, index + 1, said[index] ? "" : " ",
                   said[index] ? "" : name);
    said[index] = true;
}

/* What costs something, a function's lines together. Returns the sum. */
static uint64_t write_costs(const struct gt_coverage_report *r, bool numbered, struct gt_text *out)
{
    g_autofree bool *said_file = numbered ? g_new0(bool, r->files->len + 1) : NULL;
    g_autofree bool *said = numbered ? g_new0(bool, r->functions->len + 1) : NULL;
    GArray *lines = g_array_sized_new(FALSE, FALSE, sizeof(struct gt_coverage_line), r->lines->len);
    uint32_t file = UINT32_MAX, function = UINT32_MAX;
    uint64_t sum = 0;
    g_array_append_vals(lines, r->lines->data, r->lines->len);
    g_array_sort(lines, compare_costs);
    for (guint i = 0; i < lines->len; i++) {
        const struct gt_coverage_line *line = &g_array_index(lines, struct gt_coverage_line, i);
        if (line->cost == 0)
            continue;
        if (line->file != file)
            write_name(out, "fl", r->files->pdata[line->file], line->file, said_file);
        if (line->file != file || line->function != function)
            write_name(
                out, "fn",
                g_array_index(r->functions, struct gt_coverage_function, line->function).name,
                line->function, said);
        gt_text_printf(out, "%" PRIu32 " %" PRIu64 "\n", line->line, line->cost);
        file = line->file;
        function = line->function;
        sum += line->cost;
    }
    g_array_unref(lines);
    return sum;
}

/* The event: instructions that ran, as both tools call them. */
static const char *event_name(const struct gt_coverage_report *r)
{
    return r->in_bytes ? "Bytes" : "Ir";
}

void gt_coverage_write_cachegrind(const struct gt_coverage_report *r, struct gt_text *out)
{
    gt_text_printf(out, "desc: guesttrace " GT_VERSION "\ncmd: guest\nevents: %s\n", event_name(r));
    uint64_t sum = write_costs(r, false, out);
    gt_text_printf(out, "summary: %" PRIu64 "\n", sum);
}

void gt_coverage_write_callgrind(const struct gt_coverage_report *r, struct gt_text *out)
{
    gt_text_printf(out,
                   "# callgrind format\nversion: 1\ncreator: guesttrace " GT_VERSION
                   "\npid: 1\ncmd: guest\npart: 1\n\npositions: line\nevents: %s\n\n",
                   event_name(r));
    uint64_t sum = write_costs(r, true, out);
    gt_text_printf(out, "\ntotals: %" PRIu64 "\n", sum);
}
