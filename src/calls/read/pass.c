/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What scan and walk share: see pass.h. */
#include "calls/read/pass.h"

#include <inttypes.h>

void gt_calls_pass_rules(const struct gt_calls *c, const struct gt_calls_window *w,
                         struct gt_calls_rules *out)
{
    static const struct gt_calls_window all = {0};
    w = w ? w : &all;
    *out = (struct gt_calls_rules){
        .from = w->from,
        .to = w->to ? w->to : UINT64_MAX,
        .min_time = w->min_time,
        .depth = w->depth ? w->depth : UINT32_MAX,
        .plain = w->depth == 0 && w->min_time == 0,
        .wall = w->wall,
        .lost_event = c->lost_event,
        .n_vcpus = c->n_vcpus,
    };
}

bool gt_calls_pass_needs(const struct gt_calls *c, const struct gt_calls_part *p,
                         const struct gt_calls_rules *r)
{
    return p->first <= r->to && (p->last >= r->from || !gt_calls_is_file(c));
}

struct gt_calls_end gt_calls_pass_end(const struct gt_calls *c, const struct gt_calls_rules *r,
                                      uint64_t last)
{
    if (r->to < c->facts.last)
        return (struct gt_calls_end){r->to, r->to, GT_CALL_CLIPPED};
    last = last > r->from ? last : r->from;
    return (struct gt_calls_end){last, last > c->facts.last ? last : c->facts.last,
                                 GT_CALL_UNFINISHED};
}

void gt_calls_pass_report_damage(const struct gt_calls *c, const struct gt_calls_part *p,
                                 size_t next, const struct gt_error *err)
{
    uint64_t records = 0;
    for (size_t i = next - 1; i < p->n_blocks; i++)
        records += c->block[p->block + i].records;
    gt_error_notice(&c->notices,
                    "%s; it and what needs it are left out, at most %" PRIu64 " records", err->text,
                    records);
}

void gt_calls_pass_report(const struct gt_calls *c, uint64_t odd, uint64_t unknown)
{
    if (odd > 0)
        gt_error_notice(&c->notices, "%s: %" PRIu64 " records do not fit the calls before them",
                        c->path, odd);
    if (unknown > 0)
        gt_error_notice(&c->notices,
                        "%s: %" PRIu64
                        " records are of tasks that task.txt does not name; run guesttrace "
                        "repair",
                        c->path, unknown);
}
