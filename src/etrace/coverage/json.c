/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A report as JSON, a line a source file:
 *   {"files":[{"file":,"lines":,"ran":,"functions":[{"name":,"line":,"calls":}...],
 *   "counts":[[LINE,COUNT]...]}...],"lines":,"ran":}
 * `lines` counts lines with code, `ran` the ones that ran.
 */
#include "etrace/coverage/summary.h"
#include "etrace/coverage/write.h"

#include <inttypes.h>

/* Bytes that are not UTF-8 become U+FFFD. */
static void put_string(struct gt_text *out, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    gt_text_add(out, "\"", 1);
    for (const char *c = valid; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            gt_text_printf(out, "\\u%04x", (unsigned)*c);
        else
            gt_text_printf(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    }
    gt_text_add(out, "\"", 1);
}

static void put_functions(struct gt_text *out, const GArray *functions)
{
    gt_text_printf(out, ",\"functions\":[");
    for (guint i = 0; i < functions->len; i++) {
        const struct gt_coverage_function *f =
            &g_array_index(functions, struct gt_coverage_function, i);
        gt_text_printf(out, "%s{\"name\":", i ? "," : "");
        put_string(out, f->name);
        gt_text_printf(out, ",\"line\":%" PRIu32 ",\"calls\":%" PRIu64 "}", f->line, f->calls);
    }
    gt_text_printf(out, "],\"counts\":[");
}

/* Returns how many of the lines ran. */
static guint put_file(struct gt_text *out, const char *name, const GArray *totals,
                      const GArray *functions)
{
    guint ran = 0;
    for (guint i = 0; i < totals->len; i++)
        ran += g_array_index(totals, struct gt_coverage_total, i).count != 0;
    gt_text_printf(out, "\n{\"file\":");
    put_string(out, name);
    gt_text_printf(out, ",\"lines\":%u,\"ran\":%u", totals->len, ran);
    put_functions(out, functions);
    for (guint i = 0; i < totals->len; i++) {
        const struct gt_coverage_total *t = &g_array_index(totals, struct gt_coverage_total, i);
        gt_text_printf(out, "%s[%" PRIu32 ",%" PRIu64 "]", i ? "," : "", t->line, t->count);
    }
    gt_text_printf(out, "]}");
    return ran;
}

void gt_coverage_write_json(const struct gt_coverage_report *r, struct gt_text *out)
{
    guint at = 0, lines = 0, ran = 0;
    const char *between = "";
    gt_text_printf(out, "{\"files\":[");
    for (uint32_t file = 1; file < r->files->len; file++) {
        GArray *totals = gt_coverage_totals(r, file, &at);
        GArray *functions = gt_coverage_functions_of(r, file, totals);
        if (totals->len) {
            gt_text_printf(out, "%s", between);
            ran += put_file(out, r->files->pdata[file], totals, functions);
            lines += totals->len;
            between = ",";
        }
        g_array_unref(functions);
        g_array_unref(totals);
    }
    gt_text_printf(out, "\n],\"lines\":%u,\"ran\":%u}\n", lines, ran);
}
