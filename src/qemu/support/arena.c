/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory in small pieces: see arena.h. */
#include "qemu/support/arena.h"

#include <stdint.h>
#include <stdlib.h>

struct gt_batch {
    struct gt_batch *next;
    uint64_t room[];
};
enum { BATCH = (64 << 10) - sizeof(struct gt_batch) - 16 /* malloc's own */ };

static void *begin(struct gt_arena *b, size_t size)
{
    struct gt_batch *new = calloc(1, sizeof *new + size);
    if (!new)
        return NULL;
    new->next = b->first;
    *b = (struct gt_arena){new, (char *)new->room, size};
    return new;
}

void *gt_arena_take(struct gt_arena *b, size_t size)
{
    size = (size + sizeof(uint64_t) - 1) & ~(sizeof(uint64_t) - 1);
    if (size > b->left && !begin(b, size > BATCH ? size : BATCH))
        return NULL;
    void *piece = b->at;
    b->at += size;
    b->left -= size;
    return piece;
}

void gt_arena_clear(struct gt_arena *b)
{
    for (struct gt_batch *next; b->first; b->first = next) {
        next = b->first->next;
        free(b->first);
    }
    *b = (struct gt_arena){0};
}
