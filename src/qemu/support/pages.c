/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages of code: see pages.h. */
#include "qemu/support/pages.h"

#include <stdint.h>
#include <stdlib.h>

void gt_support_pages_clear(struct gt_support_pages *p)
{
    if (!p->all)
        return;
    g_hash_table_destroy(p->all);
    gt_support_arena_clear(&p->arena);
    *p = (struct gt_support_pages){0};
}

static void *make_page(struct gt_support_pages *p, size_t size)
{
    void *page = gt_support_arena_take(&p->arena, size);
    return page ? page : g_malloc0(size); /* which, as all of GLib, ends without memory */
}

void *gt_support_pages_find(struct gt_support_pages *p, uint64_t number, size_t size)
{
    void *key = (void *)(uintptr_t)number;
    if (!p->all)
        p->all = g_hash_table_new(NULL, NULL);
    void *page = g_hash_table_lookup(p->all, key);
    if (!page) {
        page = make_page(p, size);
        g_hash_table_insert(p->all, key, page);
    }
    return page;
}

struct gt_support_batch {
    struct gt_support_batch *next;
    uint64_t room[];
};
enum { BATCH = (64 << 10) - sizeof(struct gt_support_batch) - 16 /* malloc's own */ };

static void *begin(struct gt_support_arena *b, size_t size)
{
    struct gt_support_batch *new = calloc(1, sizeof *new + size);
    if (!new)
        return NULL;
    new->next = b->first;
    *b = (struct gt_support_arena){new, (char *)new->room, size};
    return new;
}

void *gt_support_arena_take(struct gt_support_arena *b, size_t size)
{
    size = (size + sizeof(uint64_t) - 1) & ~(sizeof(uint64_t) - 1);
    if (size > b->left && !begin(b, size > BATCH ? size : BATCH))
        return NULL;
    void *piece = b->at;
    b->at += size;
    b->left -= size;
    return piece;
}

void gt_support_arena_clear(struct gt_support_arena *b)
{
    for (struct gt_support_batch *next; b->first; b->first = next) {
        next = b->first->next;
        free(b->first);
    }
    *b = (struct gt_support_arena){0};
}
