/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which functions of two recordings are the same: see match.h. */
#include "calls/profile/match.h"

#include <string.h>

static const char *file_of(const struct gt_calls_function *f)
{
    const char *slash = strrchr(f->module, '/');
    return slash ? slash + 1 : f->module;
}

/* Where a "0x..." that ends at `end` begins, with the letter before it, one of `before`; NULL:
 * there is none. */
static const char *number_before(const char *text, const char *end, const char *before)
{
    const char *at = end;
    while (at > text && g_ascii_isxdigit(at[-1]))
        at--;
    if (at == end || at - text < 3 || at[-1] != 'x' || at[-2] != '0' || !strchr(before, at[-3]))
        return NULL;
    return at - 3;
}

/* The length of a file's name without where it lies: code that is in a recording twice, or in part,
 * is NAME@0xADDRESS, NAME+0xOFFSET or NAME+0xOFFSET-0xOFFSET, in another boot another one. */
static size_t plain_length(const char *file)
{
    const char *end = file + strlen(file), *last = number_before(file, end, "-");
    const char *at = number_before(file, last ? last : end, last ? "+" : "@+");
    return at && at > file ? (size_t)(at - file) : strlen(file);
}

static int compare_files(const char *a, const char *b)
{
    const size_t n = plain_length(a), m = plain_length(b);
    const int order = strncmp(a, b, MIN(n, m));
    return order ? order : n < m ? -1 : n > m;
}

struct side_function {
    const struct gt_calls_function *function;
    uint32_t index;
    int side;
};

/* Equal: of the same number. */
static int compare_names(const struct gt_calls_function *a, const struct gt_calls_function *b)
{
    const int order = strcmp(a->name, b->name);
    return order ? order : compare_files(file_of(a), file_of(b));
}

static gint compare_functions(gconstpointer pa, gconstpointer pb)
{
    const struct side_function *a = pa, *b = pb;
    const int order = compare_names(a->function, b->function);
    return order ? order : a->side - b->side;
}

/* In order of names: indexes of functions depend on the order in which calls were read. */
void gt_profile_function_match_make(struct gt_profile_function_match *m,
                                    struct gt_calls *const side[GT_MATCH_SIDES])
{
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(struct side_function));
    const struct gt_calls_function *last = NULL;
    *m = (struct gt_profile_function_match){
        .names = g_array_new(FALSE, FALSE, sizeof(const struct gt_calls_function *))};
    for (int k = 0; k < GT_MATCH_SIDES; k++) {
        m->n[k] = gt_calls_n_functions(side[k]);
        m->id[k] = g_new(uint32_t, m->n[k] + 1);
        for (uint32_t i = 0; i < m->n[k]; i++) {
            const struct side_function f = {gt_calls_function(side[k], i), i, k};
            g_array_append_val(all, f);
        }
    }
    g_array_sort(all, compare_functions);
    for (guint i = 0; i < all->len; i++) {
        const struct side_function *f = &g_array_index(all, struct side_function, i);
        if (!last || compare_names(last, f->function) != 0)
            g_array_append_val(m->names, f->function);
        last = f->function;
        m->id[f->side][f->index] = m->names->len - 1;
    }
}

void gt_profile_function_match_clear(struct gt_profile_function_match *m)
{
    for (int k = 0; k < GT_MATCH_SIDES; k++)
        g_free(m->id[k]);
    if (m->names)
        g_array_free(m->names, TRUE);
    *m = (struct gt_profile_function_match){0};
}

const char *gt_profile_function_match_file(const struct gt_calls_function *f, size_t *n)
{
    const char *file = file_of(f);
    *n = plain_length(file);
    return file;
}

void gt_profile_changes_add(struct gt_profile_change *of, const struct gt_profile_function_match *m,
                            int which, const struct gt_profile_function_table *f)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct gt_profile_function_sums *s = &f->row[i].sums;
        if (f->row[i].function >= m->n[which])
            continue;
        struct gt_profile_change *to = &of[m->id[which][f->row[i].function]];
        to->calls[which] += s->calls;
        to->open[which] += s->open;
        to->total[which] += s->total;
        to->self[which] += (uint64_t)MAX(s->self, 0);
    }
}
