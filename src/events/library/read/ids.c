/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The events of ids: see ids.h. */
#include "events/library/read/ids.h"

#include <stdlib.h>
#include <string.h>

static struct gt_events_id *slot_of(const struct gt_events_ids *ids, uint64_t id)
{
    size_t at = gt_events_ids_place(ids, id);
    while (ids->slots[at].used && ids->slots[at].id != id)
        at = (at + 1) & ids->mask;
    return &ids->slots[at];
}

static bool grow(struct gt_events_ids *ids)
{
    size_t old = ids->slots ? ids->mask + 1 : 0, room = old ? 2 * old : 256;
    struct gt_events_ids bigger = {calloc(room, sizeof *ids->slots), room - 1, ids->used, 0};
    if (!bigger.slots)
        return false;
    bigger.seed = (uint64_t)(uintptr_t)bigger.slots;
    for (size_t i = 0; i < old; i++)
        if (ids->slots[i].used)
            *slot_of(&bigger, ids->slots[i].id) = ids->slots[i];
    free(ids->slots);
    *ids = bigger;
    return true;
}

static bool means(const struct gt_events_id *slot, const struct gt_trace_declaration *event,
                  const char *name, size_t n)
{
    if (!slot->used || slot->event || event)
        return slot->used && slot->event && slot->event == event;
    return strlen(slot->name) == n && memcmp(slot->name, name, n) == 0;
}

int gt_events_ids_map(struct gt_events_ids *ids, uint64_t id,
                      const struct gt_trace_declaration *event, const char *name, size_t n)
{
    if ((!ids->slots || ids->used >= (ids->mask + 1) / 4 * 3) && !grow(ids))
        return GT_TRACE_E_NOMEM;
    struct gt_events_id *slot = slot_of(ids, id);
    if (means(slot, event, name, n))
        return 0;
    char *copy = event ? NULL : strndup(name, n);
    if (!event && !copy)
        return GT_TRACE_E_NOMEM;
    ids->used += !slot->used;
    free(slot->name);
    *slot = (struct gt_events_id){.id = id, .event = event, .name = copy, .used = true};
    return 0;
}

void gt_events_ids_free(struct gt_events_ids *ids)
{
    for (size_t i = 0; ids->slots && i <= ids->mask; i++)
        free(ids->slots[i].name);
    free(ids->slots);
    *ids = (struct gt_events_ids){0};
}
