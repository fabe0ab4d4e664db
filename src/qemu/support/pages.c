/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages of code: see pages.h. */
#include "qemu/support/pages.h"

void gt_pages_clear(struct gt_pages *p)
{
    if (!p->all)
        return;
    g_hash_table_destroy(p->all);
    gt_arena_clear(&p->arena);
    *p = (struct gt_pages){0};
}

static void *make_page(struct gt_pages *p, size_t size)
{
    void *page = gt_arena_take(&p->arena, size);
    return page ? page : g_malloc0(size); /* which, as all of GLib, ends without memory */
}

void *gt_pages_find(struct gt_pages *p, uint64_t number, size_t size)
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
