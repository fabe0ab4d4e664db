/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages of code: see pages.h. */
#include "plugin/pages.h"

enum { BATCH = 64 }; /* pages */

void gt_pages_clear(struct gt_pages *p)
{
    if (!p->all)
        return;
    g_hash_table_destroy(p->all);
    g_slist_free_full(p->batches, g_free);
    *p = (struct gt_pages){0};
}

/* On a thread other than the first one malloc() asks the kernel for each 4 KiB. */
static void *take(struct gt_pages *p, size_t size)
{
    if (p->left == 0) {
        p->batches = g_slist_prepend(p->batches, g_malloc0_n(BATCH, size));
        p->left = BATCH;
    }
    return (char *)p->batches->data + --p->left * size;
}

void *gt_pages_find(struct gt_pages *p, uint64_t number, size_t size)
{
    void *key = (void *)(uintptr_t)number;
    if (!p->all)
        p->all = g_hash_table_new(NULL, NULL);
    void *page = g_hash_table_lookup(p->all, key);
    if (!page) {
        page = take(p, size);
        g_hash_table_insert(p->all, key, page);
    }
    return page;
}
