/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A vCPU's lines in two logs: see sequence.h. */
#include "execlog/compare/sequence.h"

#include "execlog/compare/source.h"

#include <string.h>

struct gt_diff_sequence *gt_diff_sequence_new(int64_t vcpu, size_t keep)
{
    struct gt_diff_sequence *q = g_new0(struct gt_diff_sequence, 1);
    q->vcpu = vcpu;
    q->keep = keep;
    q->before = g_string_new(NULL);
    for (int i = 0; i < 2; i++)
        q->side[i].last = &q->side[i].first;
    return q;
}

static void drop_first(struct gt_diff_waiting *w)
{
    struct gt_diff_piece *p = w->first;
    w->first = p->next;
    if (!w->first)
        w->last = &w->first;
    w->bytes -= p->n - p->at;
    g_free(p);
}

void gt_diff_sequence_drop(struct gt_diff_sequence *q)
{
    for (int i = 0; i < 2; i++)
        while (q->side[i].first)
            drop_first(&q->side[i]);
}

void gt_diff_sequence_free(struct gt_diff_sequence *q)
{
    gt_diff_sequence_drop(q);
    g_string_free(q->before, TRUE);
    if (q->events)
        g_byte_array_free(q->events, TRUE);
    g_free(q);
}

void gt_diff_sequence_add(struct gt_diff_sequence *q, int side, const char *text, size_t n,
                          uint64_t line)
{
    struct gt_diff_waiting *w = &q->side[side];
    struct gt_diff_piece *p = g_malloc(sizeof *p + n);
    *p = (struct gt_diff_piece){.line = line, .n = n};
    memcpy(p->text, text, n);
    *w->last = p;
    w->last = &p->next;
    w->bytes += n;
}

void gt_diff_sequence_pass(struct gt_diff_sequence *q, const char *text, size_t n)
{
    size_t some = n < q->keep ? n : q->keep;
    if (q->before->len > q->keep)
        g_string_erase(q->before, 0, (gssize)(q->before->len - q->keep));
    if (some == q->keep)
        g_string_truncate(q->before, 0);
    g_string_append_len(q->before, text + n - some, (gssize)some);
}

/* Whole lines that are the same go; of them the newest are kept. */
static void let_go(struct gt_diff_sequence *q, size_t n)
{
    const struct gt_diff_piece *p = q->side[0].first;
    gt_diff_sequence_pass(q, p->text + p->at, n);
    for (int i = 0; i < 2; i++) {
        q->side[i].first->at += n;
        q->side[i].bytes -= n;
        if (q->side[i].first->at == q->side[i].first->n)
            drop_first(&q->side[i]);
    }
}

/* How many bytes are the same, up to the end of a line. */
static size_t same_lines(const char *a, const char *b, size_t n)
{
    size_t at = 0;
    while (at + 4096 <= n && memcmp(a + at, b + at, 4096) == 0)
        at += 4096;
    while (at < n && a[at] == b[at])
        at++;
    while (at && a[at - 1] != '\n')
        at--;
    return at;
}

void gt_diff_sequence_compare(struct gt_diff_sequence *q)
{
    while (!q->parted && q->side[0].first && q->side[1].first) {
        const struct gt_diff_piece *a = q->side[0].first, *b = q->side[1].first;
        size_t left_a = a->n - a->at, left_b = b->n - b->at, n = MIN(left_a, left_b);
        if (memcmp(a->text + a->at, b->text + b->at, n) == 0 &&
            (left_a == left_b || a->text[a->at + n - 1] == '\n')) {
            let_go(q, n);
            continue;
        }
        let_go(q, same_lines(a->text + a->at, b->text + b->at, n));
        q->parted = true;
    }
}

uint64_t gt_diff_sequence_line(const struct gt_diff_sequence *q, int side, size_t i)
{
    for (const struct gt_diff_piece *p = q->side[side].first; p; p = p->next) {
        uint64_t before = gt_diff_lines_count(p->text, p->at);
        uint64_t lines = gt_diff_lines_count(p->text, p->n) - before;
        lines += p->text[p->n - 1] != '\n';
        if (i < lines)
            return p->line + before + i;
        i -= lines;
    }
    return 0;
}

GString *gt_diff_sequence_next(const struct gt_diff_sequence *q, int side, size_t n, size_t *of)
{
    GString *out = g_string_new(NULL);
    *of = 0;
    for (const struct gt_diff_piece *p = q->side[side].first; p && *of < n; p = p->next) {
        const char *at = p->text + p->at, *end = p->text + p->n;
        while (at < end && *of < n) {
            const char *newline = memchr(at, '\n', (size_t)(end - at));
            const char *after = newline ? newline + 1 : end;
            g_string_append_len(out, at, after - at);
            at = after;
            ++*of;
        }
    }
    return out;
}

bool gt_diff_sequence_has(const struct gt_diff_sequence *q, int side, size_t n)
{
    size_t of;
    g_string_free(gt_diff_sequence_next(q, side, n, &of), TRUE);
    return of == n;
}
