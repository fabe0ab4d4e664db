/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of calls that are kept: see call_values.h. */
#include "calls/read/call_values.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

struct gt_value_list *gt_call_values_copy(const struct gt_value_list *list)
{
    size_t bytes = 0;
    for (size_t i = 0; list && i < list->n; i++)
        bytes += list->value[i].size;
    struct gt_value_list *copy = list ? malloc(sizeof *copy + bytes) : NULL;
    if (!copy)
        return NULL;
    *copy = *list;
    uint8_t *to = (uint8_t *)(copy + 1);
    for (size_t i = 0; i < copy->n; i++) {
        struct gt_value *v = &copy->value[i];
        if (v->size == 0)
            continue;
        memcpy(to, v->bytes, v->size);
        v->bytes = to;
        to += v->size;
    }
    return copy;
}

/* Room for that depth. */
static bool make_room(struct gt_call_values *v, size_t depth)
{
    return GT_ARRAY_GROW_CLEAR(&v->at, &v->n, depth + 1);
}

void gt_call_values_set(struct gt_call_values *v, size_t depth, const struct gt_value_list *list)
{
    if (depth >= v->n && (!list || !make_room(v, depth)))
        return;
    free(v->at[depth]);
    v->at[depth] = gt_call_values_copy(list);
}

void gt_call_values_finish(struct gt_call_values *v)
{
    for (size_t i = 0; i < v->n; i++)
        free(v->at[i]);
    free(v->at);
    *v = (struct gt_call_values){0};
}
