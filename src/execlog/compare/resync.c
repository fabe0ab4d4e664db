/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds where two logs of a vCPU are the same again after a difference: the nearest place with
 * ALIKE equal lines; fewer, if both logs end with them.
 */
#include "execlog/compare/compare.h"

#include <inttypes.h>
#include <string.h>

enum { ALIKE = 5 };

/* Lines that wait on a side. */
struct lines {
    GString *text;
    GArray *hashes; /* guint */
    size_t n;
    bool all; /* the log has no others */
};

static struct lines take(const struct gt_diff *d, const struct gt_diff_sequence *q, int side)
{
    struct lines l = {.hashes = g_array_new(FALSE, FALSE, sizeof(guint))};
    l.text = gt_diff_sequence_next(q, side, GT_DIFF_AHEAD, &l.n);
    l.all = d->side[side].ended && l.n < GT_DIFF_AHEAD;
    for (char *at = l.text->str, *end = at + l.text->len; at < end;) {
        char *newline = memchr(at, '\n', (size_t)(end - at));
        if (newline)
            *newline = '\0';
        guint hash = g_str_hash(at);
        g_array_append_val(l.hashes, hash);
        at = newline ? newline + 1 : end;
    }
    return l;
}

static bool are_alike(const struct lines *a, size_t i, const struct lines *b, size_t j)
{
    size_t n = MIN(ALIKE, MIN(a->n - i, b->n - j));
    bool enough = n == ALIKE || (n && a->all && b->all && a->n - i == b->n - j);
    return enough && memcmp(&g_array_index(a->hashes, guint, i),
                            &g_array_index(b->hashes, guint, j), n * sizeof(guint)) == 0;
}

/* The fewest lines of both together that are left out. */
static bool find(const struct lines *a, const struct lines *b, size_t *i, size_t *j)
{
    for (size_t left_out = 1; left_out < a->n + b->n; left_out++)
        for (*i = left_out < b->n ? 0 : left_out - b->n + 1; *i <= left_out && *i < a->n; ++*i) {
            *j = left_out - *i;
            if (are_alike(a, *i, b, *j))
                return true;
        }
    return false;
}

void gt_diff_put_again(const struct gt_diff *d, const struct gt_diff_sequence *q, GString *out)
{
    struct lines l[2] = {take(d, q, 0), take(d, q, 1)};
    size_t i, j;
    if (find(&l[0], &l[1], &i, &j))
        g_string_append_printf(out, "the same again: %s line %" PRIu64 ", %s line %" PRIu64 "\n",
                               d->names[0], gt_diff_sequence_line(q, 0, i), d->names[1],
                               gt_diff_sequence_line(q, 1, j));
    else if (l[0].n && l[1].n)
        g_string_append_printf(out, "not the same again within %zu lines\n", MAX(l[0].n, l[1].n));
    for (int side = 0; side < 2; side++) {
        g_string_free(l[side].text, TRUE);
        g_array_free(l[side].hashes, TRUE);
    }
}
