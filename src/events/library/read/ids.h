/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The events of the ids in a trace: a hash table of the mappings read so far. */
#ifndef GT_EVENTS_LIBRARY_READ_IDS_H
#define GT_EVENTS_LIBRARY_READ_IDS_H

#include <guesttrace/simpletrace.h>

struct gt_events_id {
    uint64_t id;
    const struct gt_trace_declaration *event; /* NULL: not declared */
    char *name;                               /* the name of an event that is not declared */
    bool used, reported; /* reported: a problem with its records was reported */
};

struct gt_events_ids {
    struct gt_events_id *slots; /* mask + 1 slots, a power of two, at most three quarters used */
    size_t mask, used;
    uint64_t seed; /* random, so that a trace cannot make all ids collide */
};

static inline size_t gt_events_ids_place(const struct gt_events_ids *ids, uint64_t id)
{
    uint64_t x = (id ^ ids->seed) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return (size_t)(x >> 32) & ids->mask;
}

/* Returns the slot of an id; NULL: never mapped. */
static inline struct gt_events_id *gt_events_ids_find(const struct gt_events_ids *ids, uint64_t id)
{
    if (!ids->slots)
        return NULL;
    size_t at = gt_events_ids_place(ids, id);
    while (ids->slots[at].used && ids->slots[at].id != id)
        at = (at + 1) & ids->mask;
    return ids->slots[at].used ? &ids->slots[at] : NULL;
}

/* Maps an id, or maps it again. The name has n bytes and is copied if `event` is NULL.
 * GT_TRACE_E_NOMEM. */
int gt_events_ids_map(struct gt_events_ids *ids, uint64_t id,
                      const struct gt_trace_declaration *event, const char *name, size_t n);
void gt_events_ids_free(struct gt_events_ids *ids);

#endif
