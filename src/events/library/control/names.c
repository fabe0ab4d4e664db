/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The lock of the control functions, and names of events and their ids. A name keeps its id for the
 * life of the process, so that records in a buffer stay valid when the shared object of their event
 * is unloaded.
 */
#include "events/library/control/registry.h"

#include <pthread.h>
#include <stdlib.h>

enum { SLOTS_FIRST = 1024 };

static struct gt_events_name **names; /* by id */
static uint32_t count, capacity;
static uint32_t *slots; /* open addressing: id + 1, or 0 */
static uint32_t slot_count;
/* Those that have ever been on, in that order; read without the lock. */
static struct gt_events_name *_Atomic used_first, *used_last;

static uint32_t hash(const char *name)
{
    uint32_t h = 2166136261u;
    for (; *name; name++)
        h = (h ^ (uint8_t)*name) * 16777619u;
    return h;
}

static uint32_t *slot_of(const char *name)
{
    uint32_t at = hash(name) & (slot_count - 1);
    while (slots[at] && strcmp(names[slots[at] - 1]->text, name) != 0)
        at = (at + 1) & (slot_count - 1);
    return &slots[at];
}

static bool grow_slots(void)
{
    uint32_t wanted = slot_count ? slot_count * 2 : SLOTS_FIRST;
    uint32_t *bigger = calloc(wanted, sizeof *bigger);
    if (!bigger)
        return false;
    free(slots);
    slots = bigger;
    slot_count = wanted;
    for (uint32_t id = 0; id < count; id++)
        *slot_of(names[id]->text) = id + 1;
    return true;
}

static bool grow_names(void)
{
    uint32_t wanted = capacity ? capacity * 2 : SLOTS_FIRST / 2;
    struct gt_events_name **bigger = realloc(names, wanted * sizeof *bigger);
    if (!bigger)
        return false;
    names = bigger;
    capacity = wanted;
    return true;
}

int64_t gt_events_names_find(const char *name)
{
    return slot_count ? (int64_t)*slot_of(name) - 1 : -1;
}

int64_t gt_events_names_add(const char *name)
{
    int64_t id = gt_events_names_find(name);
    if (id >= 0)
        return id;
    if ((count + 1) * 2 > slot_count && !grow_slots())
        return -1;
    if (count == capacity && !grow_names())
        return -1;
    struct gt_events_name *n = calloc(1, sizeof *n);
    if (!n || !(n->text = strdup(name))) {
        free(n);
        return -1;
    }
    n->id = count;
    names[count] = n;
    *slot_of(name) = ++count;
    return count - 1;
}

struct gt_events_name *gt_events_names_at(uint32_t id)
{
    return names[id];
}

void gt_events_names_use(struct gt_events_name *name)
{
    if (name->used)
        return;
    name->used = true;
    atomic_store_explicit(used_last ? &used_last->next_used : &used_first, name,
                          memory_order_release);
    used_last = name;
}

struct gt_events_name *gt_events_names_used_after(struct gt_events_name *name)
{
    return atomic_load_explicit(name ? &name->next_used : &used_first, memory_order_acquire);
}

/* The lock of the control functions' state: see registry.h. */

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void gt_events_lock(void)
{
    pthread_mutex_lock(&lock);
}

void gt_events_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void gt_events_unlock_child(void)
{
    lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; /* its owner has another id */
}
