/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Source files, and counts of their lines: see sources.h. */
#include "calls/view/sources.h"

#include "base/cursor.h"
#include "base/file.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_TEXT = 8 << 20,
    MOST_TRACEFILE = 256 << 20,
};

struct gt_view_sources {
    char *folder;        /* without symbolic links; NULL: none */
    GHashTable *by_path; /* GArray of struct gt_view_source_count */
    GHashTable *by_name; /* the same by base name; NULL where there are several */
};

/* ---- texts --------------------------------------------------------------------------------- */

/* The file at a path below the folder, if it does not lead out of it; NULL: none. */
static char *inside(const struct gt_view_sources *s, const char *path)
{
    g_autofree char *joined = g_build_filename(s->folder, path, NULL);
    char *real = realpath(joined, NULL);
    const size_t n = strlen(s->folder);
    const bool is_root = strcmp(s->folder, "/") == 0;
    if (real && g_file_test(real, G_FILE_TEST_IS_REGULAR) &&
        (is_root || (strncmp(real, s->folder, n) == 0 && real[n] == '/')))
        return real;
    free(real);
    return NULL;
}

int gt_view_sources_read(const struct gt_view_sources *s, const char *file, char **text,
                         size_t *size, struct gt_error *err)
{
    if (!s->folder)
        return gt_error_set(err, GT_E_USAGE, "no folder with sources is given");
    g_autofree char *whole = g_canonicalize_filename(file, "/");
    for (const char *at = whole; at; at = strchr(at, '/')) {
        while (*at == '/')
            at++;
        char *path = strlen(at) < PATH_MAX ? inside(s, at) : NULL;
        if (!path)
            continue;
        int status = gt_file_read(path, MOST_TEXT, text, size, err);
        free(path);
        return status;
    }
    return gt_error_set(err, GT_E_NOT_FOUND, "%.200s is not below the folder with sources", file);
}

/* ---- counts -------------------------------------------------------------------------------- */

static void free_counts(gpointer counts)
{
    if (counts)
        g_array_unref(counts);
}

static gint compare_lines(gconstpointer a, gconstpointer b)
{
    const struct gt_view_source_count *x = a, *y = b;
    return x->line < y->line ? -1 : x->line > y->line;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static GArray *file_named(struct gt_view_sources *s, const struct gt_text_cursor *path)
{
    g_autofree char *raw = g_strndup(path->at, path->left);
    char *whole = g_canonicalize_filename(raw, "/");
    GArray *counts = g_hash_table_lookup(s->by_path, whole);
    if (counts) {
        g_free(whole);
        return counts;
    }
    const bool again = g_hash_table_contains(s->by_name, name_of(whole));
    counts = g_array_new(FALSE, FALSE, sizeof(struct gt_view_source_count));
    g_hash_table_insert(s->by_name, g_strdup(name_of(whole)), again ? NULL : g_array_ref(counts));
    g_hash_table_insert(s->by_path, whole, counts);
    return counts;
}

/* "DA:LINE,COUNT", and a checksum may follow. */
static bool take_count(struct gt_text_cursor line, struct gt_view_source_count *out)
{
    uint64_t n;
    if (!gt_text_take_dec(&line, UINT32_MAX, &n) || !gt_text_take(&line, ",") ||
        !gt_text_take_dec(&line, UINT64_MAX, &out->count) || (line.left && *line.at != ','))
        return false;
    out->line = (uint32_t)n;
    return true;
}

/* Lines of other kinds are left out. */
static int read_counts(struct gt_view_sources *s, const char *path, struct gt_text_cursor text,
                       struct gt_error *err)
{
    struct gt_text_cursor line;
    GArray *file = NULL;
    bool whole, any = false;
    for (uint64_t number = 1; gt_text_take_line(&text, &line, &whole); number++) {
        struct gt_view_source_count count;
        char shown[64];
        if (gt_text_take(&line, "SF:")) {
            file = file_named(s, &line);
            any = true;
        } else if (gt_text_take(&line, "DA:")) {
            if (!file || !take_count(line, &count))
                return gt_error_set(err, GT_E_FORMAT,
                                    "%s: line %" PRIu64 ": 'DA:%s': expected a line's number and "
                                    "count, after an SF line",
                                    path, number, gt_text_cursor_show(&line, shown));
            g_array_append_val(file, count);
        } else if (line.left == strlen("end_of_record") && gt_text_take(&line, "end_of_record")) {
            file = NULL;
        }
    }
    return any ? 0
               : gt_error_set(
                     err, GT_E_FORMAT,
                     "%s: it has no SF line; expected what guesttrace etrace coverage --format "
                     "lcov writes",
                     path);
}

static int load_counts(struct gt_view_sources *s, const char *path, struct gt_error *err)
{
    char *data;
    size_t size;
    int status = gt_file_read(path, MOST_TRACEFILE, &data, &size, err);
    if (status < 0)
        return status;
    status = read_counts(s, path, (struct gt_text_cursor){data, size}, err);
    free(data);
    GHashTableIter it;
    gpointer counts;
    g_hash_table_iter_init(&it, s->by_path);
    while (g_hash_table_iter_next(&it, NULL, &counts))
        g_array_sort(counts, compare_lines);
    return status;
}

const GArray *gt_view_sources_counts(const struct gt_view_sources *s, const char *file)
{
    g_autofree char *whole = g_canonicalize_filename(file, "/");
    const GArray *counts = g_hash_table_lookup(s->by_path, whole);
    return counts ? counts : g_hash_table_lookup(s->by_name, name_of(whole));
}

/* ---- opening ------------------------------------------------------------------------------- */

int gt_view_sources_open(const char *folder, const char *tracefile, struct gt_view_sources **out,
                         struct gt_error *err)
{
    struct gt_view_sources *s = g_new0(struct gt_view_sources, 1);
    int status = 0;
    s->by_path = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_counts);
    s->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_counts);
    if (folder && !(s->folder = realpath(folder, NULL)))
        status = gt_error_errno(err, errno, "%s", folder);
    else if (folder && !g_file_test(s->folder, G_FILE_TEST_IS_DIR))
        status = gt_error_set(err, GT_E_IO, "%s: not a directory", folder);
    if (status == 0 && tracefile)
        status = load_counts(s, tracefile, err);
    *out = s;
    if (status < 0) {
        gt_view_sources_close(s);
        *out = NULL;
    }
    return status;
}

void gt_view_sources_close(struct gt_view_sources *s)
{
    if (!s)
        return;
    free(s->folder);
    g_hash_table_destroy(s->by_path);
    g_hash_table_destroy(s->by_name);
    g_free(s);
}
