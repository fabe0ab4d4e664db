/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the vCPU of lines, and its sequence: see compare.h. */
#include "execlog/compare/compare.h"
#include "execlog/compare/lines.h"

struct gt_diff_sequence *gt_diff_sequence_of(struct gt_diff *d, int64_t vcpu)
{
    if (d->newest && d->newest->vcpu == vcpu)
        return d->newest;
    struct gt_diff_sequence *q = g_hash_table_lookup(d->by_vcpu, &vcpu);
    if (!q) {
        q = gt_diff_sequence_new(vcpu, (d->context + 1) * 1024);
        g_hash_table_insert(d->by_vcpu, &q->vcpu, q);
        g_ptr_array_add(d->sequences, q);
    }
    d->newest = q;
    return q;
}

/* The number that the line begins with, and how many bytes it has with ", "; else -1 and 0. */
static int64_t vcpu_of(const char *line, const char *end, size_t *prefix)
{
    const char *p = line;
    int64_t vcpu = 0;
    while (p < end && p < line + 9 && *p >= '0' && *p <= '9')
        vcpu = 10 * vcpu + (*p++ - '0');
    bool good = p > line && end - p >= 2 && p[0] == ',' && p[1] == ' ';
    *prefix = good ? (size_t)(p + 2 - line) : 0;
    return good ? vcpu : -1;
}

/* The lines from *at on that are of one vCPU. */
int64_t gt_diff_next_run(const char **at, const char *end)
{
    size_t prefix, other;
    int64_t vcpu = vcpu_of(*at, end, &prefix);
    do
        *at += gt_diff_lines_alike(*at, (size_t)(end - *at), prefix);
    while (*at < end && !prefix && vcpu_of(*at, end, &other) < 0);
    return vcpu;
}

void gt_diff_pass(struct gt_diff *d, const char *text, size_t n)
{
    for (const char *at = text, *begin = text, *end = text + n; at < end; begin = at) {
        struct gt_diff_sequence *q = gt_diff_sequence_of(d, gt_diff_next_run(&at, end));
        if (!q->reported)
            gt_diff_sequence_pass(q, begin, (size_t)(at - begin));
    }
}
