/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions, tasks and times of exports: see frames.h. */
#include "analysis/export/frames.h"

#include "base/utf8.h"
#include "format/recording/files.h"
#include "format/recording/stats.h"

#include <inttypes.h>
#include <string.h>

static guint hash_text(const char *text)
{
    return text ? g_str_hash(text) : 0;
}

static guint hash_function(const void *p)
{
    const struct gt_calls_function *f = p;
    return (hash_text(f->name) * 31 + hash_text(f->module)) * 31 + hash_text(f->file);
}

static gboolean equal_functions(const void *a, const void *b)
{
    const struct gt_calls_function *x = a, *y = b;
    return strcmp(x->name, y->name) == 0 && strcmp(x->module, y->module) == 0 &&
           g_strcmp0(x->file, y->file) == 0;
}

void gt_frames_make(const struct gt_calls *c, const struct gt_tree *t, struct gt_frames *out)
{
    size_t n = gt_calls_n_functions(c);
    GHashTable *known = g_hash_table_new(hash_function, equal_functions);
    GPtrArray *functions = g_ptr_array_new();
    uint32_t *number = g_new(uint32_t, n + 1);
    for (size_t i = 0; i < n; i++)
        number[i] = GT_TREE_NONE;
    for (size_t i = 0; i < t->n; i++) {
        uint32_t index = t->node[i].function;
        if (index == GT_TREE_NONE || number[index] != GT_TREE_NONE)
            continue;
        const struct gt_calls_function *f = gt_calls_function(c, index);
        void *before;
        if (!g_hash_table_lookup_extended(known, f, NULL, &before)) {
            before = GUINT_TO_POINTER(functions->len);
            g_hash_table_insert(known, (void *)(uintptr_t)f, before);
            g_ptr_array_add(functions, (void *)(uintptr_t)f);
        }
        number[index] = GPOINTER_TO_UINT(before);
    }
    g_hash_table_destroy(known);
    out->n = functions->len;
    out->number = number;
    out->function = (const struct gt_calls_function **)g_ptr_array_free(functions, FALSE);
}

void gt_frames_clear(struct gt_frames *f)
{
    g_free(f->number);
    g_free(f->function);
    *f = (struct gt_frames){0};
}

char *gt_frames_task_name(const struct gt_calls *c, uint32_t task)
{
    const struct gt_calls_task *t = gt_calls_task(c, task);
    return *t->name ? g_strdup(t->name) : g_strdup_printf("task %" PRIu32, t->id);
}

char *gt_frames_process_name(const struct gt_calls *c, uint32_t process)
{
    const struct gt_calls_process *p = gt_calls_process(c, process);
    return *p->exename ? g_path_get_basename(p->exename)
                       : g_strdup_printf("process %" PRIu32, p->pid);
}

char *gt_frames_task_title(const struct gt_calls *c, uint32_t task)
{
    const struct gt_calls_task *t = gt_calls_task(c, task);
    g_autofree char *name = gt_frames_task_name(c, task);
    return *t->name ? g_strdup_printf("%s (%" PRIu32 ")", name, t->id) : g_steal_pointer(&name);
}

const char *gt_frames_name(const struct gt_calls_function *f)
{
    return *f->name ? f->name : "?";
}

void gt_frames_add_clean(GString *out, const char *text, char but, char instead)
{
    for (size_t left = strlen(text), n; left; text += n, left -= n) {
        unsigned char first = (unsigned char)*text;
        n = gt_utf8_length(text, left);
        if (n == 1)
            g_string_append_c(out, first < ' ' || first == 0x7f ? '?'
                                   : *text == but               ? instead
                                                                : *text);
        else if (n)
            g_string_append_len(out, text, (gssize)n);
        else
            g_string_append(out, "\xef\xbf\xbd");
        n += n == 0;
    }
}

bool gt_frames_in_instructions(const struct gt_calls *c)
{
    size_t size;
    struct gt_stats stats;
    char *text = gt_calls_text(c, GT_STATS_FILE, &size);
    if (!text || gt_stats_parse(&stats, text) < 0)
        return false;
    const char *host = gt_stats_text(&stats, GT_STATS_HOST_CLOCK);
    bool all = host && strcmp(host, "0") == 0;
    gt_stats_clear(&stats);
    return all;
}
