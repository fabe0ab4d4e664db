/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers that were given: see cache.h. */
#include "cli/view/cache.h"

enum { MOST_BYTES = 16 << 20, MOST_OF_ONE = MOST_BYTES / 4 };

struct entry {
    char *question;
    const char *type;
    GBytes *bytes;
    GList link; /* in order of use, the oldest first */
};

struct gt_cli_view_answers {
    GMutex lock;
    GHashTable *entries;
    GQueue order;
    gsize bytes;
};

static gsize size_of(const struct entry *e)
{
    return g_bytes_get_size(e->bytes) + strlen(e->question) + sizeof *e;
}

static void forget(struct gt_cli_view_answers *a, struct entry *e)
{
    g_queue_unlink(&a->order, &e->link);
    g_hash_table_remove(a->entries, e->question);
    a->bytes -= size_of(e);
    g_bytes_unref(e->bytes);
    g_free(e->question);
    g_free(e);
}

struct gt_cli_view_answers *gt_cli_view_answers_create(void)
{
    struct gt_cli_view_answers *a = g_new0(struct gt_cli_view_answers, 1);
    g_mutex_init(&a->lock);
    g_queue_init(&a->order);
    a->entries = g_hash_table_new(g_str_hash, g_str_equal);
    return a;
}

void gt_cli_view_answers_destroy(struct gt_cli_view_answers *a)
{
    while (a->order.head)
        forget(a, a->order.head->data);
    g_hash_table_destroy(a->entries);
    g_mutex_clear(&a->lock);
    g_free(a);
}

GBytes *gt_cli_view_answers_get(struct gt_cli_view_answers *a, const char *question,
                                const char **type)
{
    GBytes *bytes = NULL;
    g_mutex_lock(&a->lock);
    struct entry *e = g_hash_table_lookup(a->entries, question);
    if (e) {
        g_queue_unlink(&a->order, &e->link);
        g_queue_push_tail_link(&a->order, &e->link);
        bytes = g_bytes_ref(e->bytes);
        *type = e->type;
    }
    g_mutex_unlock(&a->lock);
    return bytes;
}

void gt_cli_view_answers_put(struct gt_cli_view_answers *a, const char *question, const char *type,
                             GBytes *bytes)
{
    if (g_bytes_get_size(bytes) > MOST_OF_ONE)
        return;
    struct entry *e = g_new0(struct entry, 1);
    e->question = g_strdup(question);
    e->type = type;
    e->bytes = g_bytes_ref(bytes);
    e->link.data = e;
    g_mutex_lock(&a->lock);
    struct entry *before = g_hash_table_lookup(a->entries, question);
    if (before)
        forget(a, before);
    a->bytes += size_of(e);
    g_hash_table_insert(a->entries, e->question, e);
    g_queue_push_tail_link(&a->order, &e->link);
    while (a->bytes > MOST_BYTES && a->order.head != &e->link)
        forget(a, a->order.head->data);
    g_mutex_unlock(&a->lock);
}
