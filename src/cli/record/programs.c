/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of executed programs: see programs.h. */
#include "cli/record/programs.h"

#include <string.h>

enum { NAMED = 8 };

static bool is_numbers(const char *ending)
{
    size_t pid = strspn(ending, "0123456789");
    size_t n = ending[pid] == '.' ? strspn(ending + pid + 1, "0123456789") : 0;
    return pid && n && !ending[pid + 1 + n];
}

/* Calls for each file OUTPUT.PID.N that is there. */
static void each(const struct gt_record_recording *r, void (*call)(void *, char *, const char *),
                 void *data)
{
    g_autofree char *folder = g_path_get_dirname(r->output);
    g_autofree char *base = g_path_get_basename(r->output);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const size_t n = strlen(base);
    for (const char *name; dir && (name = g_dir_read_name(dir));)
        if (strncmp(name, base, n) == 0 && name[n] == '.' && is_numbers(name + n + 1))
            call(data, g_strdup(name), folder);
}

static void remember(void *before, char *name, const char *folder)
{
    struct gt_repair_mark *mark = g_new0(struct gt_repair_mark, 1);
    gt_repair_mark(folder, name, mark);
    g_hash_table_insert(before, name, mark);
}

void gt_record_programs_mark(struct gt_record_recording *r)
{
    r->programs_before = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    each(r, remember, r->programs_before);
}

struct made {
    GHashTable *before;
    GPtrArray *names;
};

static void add_if_made(void *data, char *name, const char *folder)
{
    const struct made *made = data;
    struct gt_repair_mark now;
    const struct gt_repair_mark *before = g_hash_table_lookup(made->before, name);
    gt_repair_mark(folder, name, &now);
    if (before && gt_repair_mark_same(before, &now))
        g_free(name);
    else
        g_ptr_array_add(made->names, name);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void gt_record_programs_report(const struct gt_record_recording *r)
{
    if (!r->programs_before)
        return;
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    struct made made = {r->programs_before, names};
    each(r, add_if_made, &made);
    if (!names->len)
        return;
    g_ptr_array_sort(names, by_name);
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < names->len && i < NAMED; i++)
        g_string_append_printf(text, "%s%s", i ? ", " : "", (char *)names->pdata[i]);
    gt_record_say("%u program%s that the guest executed %s recorded beside it: %s%s", names->len,
                  names->len == 1 ? "" : "s", names->len == 1 ? "is" : "are", text->str,
                  names->len > NAMED ? ", ..." : "");
}

void gt_record_programs_clear(struct gt_record_recording *r)
{
    if (r->programs_before)
        g_hash_table_unref(r->programs_before);
    r->programs_before = NULL;
}
