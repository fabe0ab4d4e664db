/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arguments of open calls under filters: see filtered_values.h. */
#include "calls/recorder/select/filtered_values.h"

#include <stdlib.h>
#include <string.h>

void gt_select_filtered_values_trim(struct gt_select_filtered_values *v, uint32_t depth)
{
    while (v->n && v->call[v->n - 1].depth >= depth)
        v->used = v->call[--v->n].at;
}

/* Room for `need` of `size` bytes. */
static bool make_room(void **at, uint32_t *room, uint64_t need, uint64_t most, size_t size)
{
    enum { FIRST = 64 };
    uint64_t n = *room ? *room : FIRST;
    if (need <= *room)
        return true;
    if (need > most)
        return false;
    while (n < need)
        n *= 2;
    void *larger = realloc(*at, n * size);
    if (!larger)
        return false;
    *at = larger;
    *room = (uint32_t)n;
    return true;
}

void gt_select_filtered_values_push(struct gt_select_filtered_values *v, uint32_t depth,
                                    const struct gt_recorder_argument_slot *slot)
{
    const uint64_t most = GT_FILTERED_VALUES_MOST;
    gt_select_filtered_values_trim(v, depth);
    if (!make_room((void **)&v->call, &v->room_calls, v->n + UINT64_C(1), most, sizeof *v->call) ||
        !make_room((void **)&v->words, &v->room_words, v->used + (uint64_t)slot->n, most,
                   sizeof *v->words)) {
        v->dropped++;
        return;
    }
    v->call[v->n++] = (struct gt_select_filtered_call){depth, v->used, (uint32_t)slot->n, slot->of};
    memcpy(v->words + v->used, slot->words, slot->n * sizeof *v->words);
    v->used += (uint32_t)slot->n;
}

const struct gt_select_filtered_call *
gt_select_filtered_values_find(const struct gt_select_filtered_values *v, uint32_t depth)
{
    uint32_t from = 0, to = v->n;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (v->call[middle].depth < depth)
            from = middle + 1;
        else
            to = middle;
    }
    return from < v->n && v->call[from].depth == depth ? &v->call[from] : NULL;
}

void gt_select_filtered_values_free(struct gt_select_filtered_values *v)
{
    free(v->call);
    free(v->words);
    *v = (struct gt_select_filtered_values){0};
}
