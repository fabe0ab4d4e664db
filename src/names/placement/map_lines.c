/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of a map: see map_lines.h. */
#include "names/placement/map_lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SYM_LIMIT (1u << 30)

static void clear_line(void *p)
{
    struct gt_place_map_line *m = p;
    g_free(m->path);
    g_free(m->build_id);
}

GArray *gt_place_map_lines_new(void)
{
    GArray *lines = g_array_new(FALSE, FALSE, sizeof(struct gt_place_map_line));
    g_array_set_clear_func(lines, clear_line);
    return lines;
}

void gt_place_map_lines_add(GArray *lines, uint64_t start, uint64_t end, const char *path,
                            const char *build_id)
{
    const struct gt_place_map_line m = {start, end, g_strdup(path), g_strdup(build_id)};
    g_array_append_val(lines, m);
}

int gt_place_map_lines_put(const GArray *lines, const struct gt_uftrace_dir *dir, const char *sid,
                           const char *ending, struct gt_error *err)
{
    g_autofree struct gt_uftrace_mapping *map = g_new0(struct gt_uftrace_mapping, lines->len + 1);
    g_autofree char *path = g_strdup_printf("%s/sid-%s.map%s", dir->path, sid, ending);
    struct gt_text text = {0};
    for (guint i = 0; i < lines->len; i++) {
        const struct gt_place_map_line *m = &g_array_index(lines, struct gt_place_map_line, i);
        map[i] = (struct gt_uftrace_mapping){m->start, m->end, m->path, m->build_id};
    }
    int status = gt_uftrace_map_write(&text, map, lines->len, err);
    if (status == 0)
        status = gt_file_replace_text(path, &text, err);
    gt_text_free(&text);
    return status;
}

/* ---- the rest of a line -------------------------------------------------------------------- */

static int put_piece(GArray *lines, const struct gt_uftrace_mapping *line,
                     const struct gt_uftrace_symtab *tab, uint64_t start, uint64_t end,
                     const struct gt_uftrace_dir *dir, struct gt_error *err)
{
    const uint64_t offset = start - line->start;
    if (offset == 0) { /* its symbol file serves as it is */
        gt_place_map_lines_add(lines, start, end, line->path, line->build_id);
        return 0;
    }
    size_t first = 0, n = 0;
    while (first < tab->n && tab->sym[first].addr < offset)
        first++;
    while (first + n < tab->n && tab->sym[first + n].addr < end - line->start)
        n++;
    if (n == 0)
        return 0; /* nothing was ever called there */
    g_autofree struct gt_uftrace_symbol *sym = g_new(struct gt_uftrace_symbol, n);
    for (size_t i = 0; i < n; i++) {
        sym[i] = tab->sym[first + i];
        sym[i].addr -= offset;
    }
    g_autofree char *rest =
        end == line->end ? g_strdup("") : g_strdup_printf("-0x%" PRIx64, end - line->start);
    g_autofree char *path = g_strdup_printf("%s+0x%" PRIx64 "%s", line->path, offset, rest);
    gt_place_map_lines_add(lines, start, end, path, NULL);
    const struct gt_uftrace_module module = {path, NULL};
    return gt_uftrace_dir_put_symbols(dir, &module, sym, n, err);
}

/* Walks the line from its start: the next cut is the lowest module that reaches beyond `at`. */
int gt_place_map_lines_cut(GArray *lines, guint n_cuts, const struct gt_uftrace_mapping *line,
                           const struct gt_uftrace_symtab *tab, const struct gt_uftrace_dir *dir,
                           struct gt_error *err)
{
    int status = 0;
    for (uint64_t at = line->start; at < line->end && status == 0;) {
        uint64_t stop = line->end, next = line->end;
        for (guint i = 0; i < n_cuts; i++) {
            const struct gt_place_map_line *m = &g_array_index(lines, struct gt_place_map_line, i);
            if (m->end <= at || m->start >= stop)
                continue;
            stop = m->start > at ? m->start : at;
            next = m->end;
        }
        if (stop > at)
            status = put_piece(lines, line, tab, at, stop, dir, err);
        at = stop == line->end ? line->end : next;
    }
    return status;
}

/* ---- reading ------------------------------------------------------------------------------- */

int gt_place_map_read(const char *path, struct gt_uftrace_map *out, struct gt_error *err)
{
    char *text;
    size_t size;
    int status = gt_file_read(path, GT_MAP_LIMIT, &text, &size, err);
    if (status < 0)
        return status;
    struct gt_error inner = {0};
    status = gt_uftrace_map_read(text, size, out, &inner);
    free(text);
    if (status < 0)
        return gt_error_set(err, status, "%s: %s", path, inner.text);
    if (out->n <= GT_MAP_LINES_MAX)
        return 0;
    gt_uftrace_map_free(out);
    return gt_error_set(err, GT_E_RANGE, "%s: more than %d lines", path, GT_MAP_LINES_MAX);
}

/* True where the file is that module's symbols. */
static bool read_symbols(const char *path, const char *module, struct gt_uftrace_symtab *out)
{
    char *text;
    size_t size;
    if (gt_file_read(path, SYM_LIMIT, &text, &size, NULL) < 0)
        return false;
    int status = gt_uftrace_sym_read(text, size, out, NULL);
    free(text);
    if (status < 0)
        return false;
    if (strcmp(out->path, module) == 0)
        return true;
    gt_uftrace_symtab_free(out);
    *out = (struct gt_uftrace_symtab){0};
    return false;
}

void gt_place_map_find_symbols(const struct gt_uftrace_dir *dir, const char *module,
                               struct gt_uftrace_symtab *out)
{
    g_autofree char *base = g_path_get_basename(module);
    GDir *list = g_dir_open(dir->path, 0, NULL);
    bool found = false;
    for (const char *name; list && !found && (name = g_dir_read_name(list));) {
        if (!g_str_has_prefix(name, base) || !g_str_has_suffix(name, ".sym"))
            continue;
        g_autofree char *path = g_build_filename(dir->path, name, NULL);
        found = read_symbols(path, module, out);
    }
    if (list)
        g_dir_close(list);
}
