/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions, tasks and times of exports: see frames.h. */
#include "calls/export/frames.h"

#include "base/text.h"
#include "recording/texts/files.h"
#include "recording/texts/stats.h"

#include <inttypes.h>
#include <string.h>

static guint hash_text(const char *text)
{
    return text ? g_str_hash(text) : 0;
}

static guint hash_frame(const void *p)
{
    const struct gt_export_frame *f = p;
    return (hash_text(f->name) * 31 + hash_text(f->function->module)) * 31 +
           hash_text(f->function->file);
}

static gboolean equal_frames(const void *a, const void *b)
{
    const struct gt_export_frame *x = a, *y = b;
    return strcmp(x->name, y->name) == 0 && strcmp(x->function->module, y->function->module) == 0 &&
           g_strcmp0(x->function->file, y->function->file) == 0;
}

/* `frame` has room after its n frames. */
static uint32_t number_of(struct gt_export_frames *f, GHashTable *known,
                          const struct gt_calls_function *function)
{
    struct gt_export_frame *next = &f->frame[f->n];
    void *before;
    next->function = function;
    next->name = *function->name ? gt_image_demangle(f->demangler, function->name) : "?";
    if (g_hash_table_lookup_extended(known, next, NULL, &before))
        return GPOINTER_TO_UINT(before);
    g_hash_table_insert(known, next, GUINT_TO_POINTER(f->n));
    return f->n++;
}

void gt_export_frames_make(const struct gt_calls *c, const struct gt_profile_tree *t,
                           struct gt_export_frames *out)
{
    size_t n = gt_calls_n_functions(c);
    GHashTable *known = g_hash_table_new(hash_frame, equal_frames);
    *out = (struct gt_export_frames){g_new(struct gt_export_frame, n + 1), 0,
                                     g_new(uint32_t, n + 1), gt_image_demangler_create()};
    for (size_t i = 0; i < n; i++)
        out->number[i] = GT_TREE_NONE;
    for (size_t i = 0; i < t->n; i++) {
        uint32_t index = t->node[i].function;
        if (index != GT_TREE_NONE && out->number[index] == GT_TREE_NONE)
            out->number[index] = number_of(out, known, gt_calls_function(c, index));
    }
    g_hash_table_destroy(known);
}

void gt_export_frames_clear(struct gt_export_frames *f)
{
    g_free(f->number);
    g_free(f->frame);
    gt_image_demangler_destroy(f->demangler);
    *f = (struct gt_export_frames){0};
}

char *gt_export_frames_task_name(const struct gt_calls *c, uint32_t task)
{
    const struct gt_calls_task *t = gt_calls_task(c, task);
    return *t->name ? g_strdup(t->name) : g_strdup_printf("task %" PRIu32, t->id);
}

char *gt_export_frames_process_name(const struct gt_calls *c, uint32_t process)
{
    const struct gt_calls_process *p = gt_calls_process(c, process);
    return *p->exename ? g_path_get_basename(p->exename)
                       : g_strdup_printf("process %" PRIu32, p->pid);
}

char *gt_export_frames_task_title(const struct gt_calls *c, uint32_t task)
{
    const struct gt_calls_task *t = gt_calls_task(c, task);
    g_autofree char *name = gt_export_frames_task_name(c, task);
    return *t->name ? g_strdup_printf("%s (%" PRIu32 ")", name, t->id) : g_steal_pointer(&name);
}

void gt_export_frames_add_clean(GString *out, const char *text, char but, char instead)
{
    for (size_t left = strlen(text), n; left; text += n, left -= n) {
        unsigned char first = (unsigned char)*text;
        n = gt_text_utf8_length(text, left);
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

bool gt_export_frames_in_instructions(const struct gt_calls *c)
{
    size_t size;
    struct gt_recording_stats stats;
    char *text = gt_calls_text(c, GT_STATS_FILE, &size);
    if (!text || gt_recording_stats_parse(&stats, text) < 0)
        return false;
    const char *host = gt_recording_stats_text(&stats, GT_STATS_HOST_CLOCK);
    bool all = host && strcmp(host, "0") == 0;
    gt_recording_stats_clear(&stats);
    return all;
}
