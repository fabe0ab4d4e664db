/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages of code: see pages.h. */
#include "plugin/pages.h"

void gt_pages_clear(struct gt_pages *p, void (*free_page)(void *page))
{
    GHashTableIter i;
    gpointer page;
    if (!p->all)
        return;
    g_hash_table_iter_init(&i, p->all);
    while (g_hash_table_iter_next(&i, NULL, &page))
        free_page(page);
    g_hash_table_destroy(p->all);
    *p = (struct gt_pages){0};
}

void *gt_pages_find(struct gt_pages *p, uint64_t number, size_t size)
{
    void *key = (void *)(uintptr_t)number;
    if (!p->all)
        p->all = g_hash_table_new(NULL, NULL);
    void *page = g_hash_table_lookup(p->all, key);
    if (!page) {
        page = g_malloc0(size);
        g_hash_table_insert(p->all, key, page);
    }
    return page;
}
