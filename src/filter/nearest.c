/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Near names, by the number of letters to insert, remove, replace or swap: see nearest.h. */
#include "filter/nearest.h"

#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 64 }; /* of names, the bytes that are compared */

static bool joker(char c)
{
    return c == '*' || c == '?';
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* The row of wanted[k]: what name[0..i) costs for wanted[0..k]. A joker costs nothing. */
static void next_row(const char *wanted, size_t k, const char *name, size_t n, const size_t *before,
                     const size_t *last, size_t *row)
{
    bool free_of_cost = joker(wanted[k]);
    row[0] = last[0] + !free_of_cost;
    for (size_t i = 1; i <= n; i++) {
        size_t replaced = last[i - 1] + !(free_of_cost || same(wanted[k], name[i - 1]));
        size_t removed = last[i] + !free_of_cost, inserted = row[i - 1] + !free_of_cost;
        row[i] = least(replaced, least(removed, inserted));
        if (k && i > 1 && same(wanted[k], name[i - 2]) && same(wanted[k - 1], name[i - 1]))
            row[i] = least(row[i], before[i - 2] + 1);
    }
}

static size_t distance(const char *wanted, const char *name)
{
    size_t rows[3][LONGEST + 1], n = strnlen(name, LONGEST), k = 0;
    for (size_t i = 0; i <= n; i++)
        rows[2][i] = i;
    for (; k < LONGEST && wanted[k]; k++)
        next_row(wanted, k, name, n, rows[(k + 1) % 3], rows[(k + 2) % 3], rows[k % 3]);
    return rows[(k + 2) % 3][n];
}

void gt_filter_nearest_offer(struct gt_filter_nearest *l, const char *name)
{
    size_t length = strnlen(l->wanted, LONGEST), edits = distance(l->wanted, name);
    bool inside = length > 2 && strstr(name, l->wanted) != NULL;
    size_t rank = inside ? 1 : edits; /* a part of the name is near, however long the rest is */
    if (rank > (length + 2) / 3)
        return;
    size_t d = rank * (LONGEST + 1) + edits;
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->name[i], name) == 0)
            return;
    size_t at = l->n;
    while (at && (l->distance[at - 1] > d ||
                  (l->distance[at - 1] == d && strcmp(l->name[at - 1], name) > 0)))
        at--;
    if (at == GT_NEAREST)
        return;
    size_t after = (l->n < GT_NEAREST ? l->n : GT_NEAREST - 1) - at;
    memmove(l->name + at + 1, l->name + at, after * sizeof *l->name);
    memmove(l->distance + at + 1, l->distance + at, after * sizeof *l->distance);
    l->name[at] = name;
    l->distance[at] = d;
    l->n += l->n < GT_NEAREST;
}

char *gt_filter_nearest_wanted(const char *pattern)
{
    char *name = malloc(strlen(pattern) + 1), *to = name;
    for (; name && *pattern; pattern++)
        if (!strchr("^$\\()", *pattern))
            *to++ = *pattern;
    if (name)
        *to = '\0';
    return name;
}

char *gt_filter_nearest_text(const struct gt_filter_nearest *l)
{
    struct gt_text t = {0};
    gt_text_add(&t, "", 0);
    for (size_t i = 0; i < l->n; i++)
        gt_text_printf(&t, "%s%s", i ? ", " : "; near to it: ", l->name[i]);
    return t.data;
}
