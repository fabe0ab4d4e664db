/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of one name: see functions.h. */
#include "calls/profile/functions.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *pa, const void *pb, void *arg)
{
    const struct gt_calls_function *a = gt_calls_function(arg, *(const uint32_t *)pa);
    const struct gt_calls_function *b = gt_calls_function(arg, *(const uint32_t *)pb);
    int order = strcmp(a->name, b->name);
    if (order == 0)
        order = strcmp(a->module, b->module);
    if (order == 0)
        order = a->address < b->address ? -1 : a->address > b->address;
    return order;
}

static bool same(const struct gt_calls *c, uint32_t a, uint32_t b)
{
    const struct gt_calls_function *fa = gt_calls_function(c, a), *fb = gt_calls_function(c, b);
    return strcmp(fa->name, fb->name) == 0 && strcmp(fa->module, fb->module) == 0;
}

int gt_profile_same_names(const struct gt_calls *c, uint32_t **first, bool *any)
{
    size_t n = gt_calls_n_functions(c);
    uint32_t *sorted = malloc((n + 1) * sizeof *sorted);
    *first = malloc((n + 1) * sizeof **first);
    *any = false;
    if (!sorted || !*first) {
        free(sorted);
        free(*first);
        *first = NULL;
        return GT_E_NOMEM;
    }
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = i;
    qsort_r(sorted, n, sizeof *sorted, compare, (void *)(uintptr_t)c);
    for (size_t i = 0; i < n; i++) {
        bool again = i && same(c, sorted[i], sorted[i - 1]);
        (*first)[sorted[i]] = again ? (*first)[sorted[i - 1]] : sorted[i];
        *any |= again;
    }
    free(sorted);
    return 0;
}
