/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace report --by initcall`: a row for each initcall of Linux that the recording has. */
#include "cli/report/report.h"

static void make_row(struct gt_cli_reading *r, const struct gtrace_initcall *i, uint64_t first,
                     GStringChunk *texts, struct gt_cli_report_row *row)
{
    const struct gtrace_function f = gt_cli_reading_function(r, i->function);
    struct gtrace_task task = {.size = sizeof task};
    gtrace_task(r->trace, i->task, &task);
    *row = (struct gt_cli_report_row){
        .name = f.name,
        .module = f.module,
        .file = f.file,
        .line = f.line,
        .total = i->end - i->begin - i->slept,
        .self = (uint64_t)i->self,
        .slept = i->slept,
        .wall = i->end - i->begin,
        .begin = i->begin > first ? i->begin - first : 0,
        .open = i->flags & GTRACE_OPEN ? 1 : 0,
        .tid = task.id,
        .result = i->result ? g_string_chunk_insert(texts, i->result) : NULL,
    };
}

int gt_cli_report_make_initcalls(struct gt_cli_reading *r, struct gt_cli_report_rows *out,
                                 struct gt_error *err)
{
    struct gtrace_error e = {.size = sizeof e};
    struct gtrace_facts facts = {.size = sizeof facts};
    struct gtrace_initcall *all;
    size_t stride;
    *out = (struct gt_cli_report_rows){0};
    const int64_t n = gtrace_initcalls(r->trace, &r->window.part, &all, &stride, &e);
    if (n < 0)
        return gt_cli_opened_fail(err, (int)n, &e);
    gtrace_facts(r->trace, &facts);
    out->row = g_new0(struct gt_cli_report_row, (size_t)n + 1);
    out->texts = g_string_chunk_new(1 << 10);
    for (; out->n < (size_t)n; out->n++)
        make_row(r, (const void *)((const char *)all + out->n * stride), facts.first, out->texts,
                 &out->row[out->n]);
    gtrace_free(all);
    return n ? 0
             : gt_error_set(err, GT_E_NOT_FOUND,
                            "--by initcall: no initcalls are there; they are what "
                            "do_one_initcall of a Linux kernel calls, which has to be recorded, "
                            "and named");
}
