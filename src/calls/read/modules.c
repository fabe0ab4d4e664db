/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Modules of a recording: see modules.h. A module's symbols are in BASE.sym, or where that is
 * another module's of the same base name in BASE-XXXX.sym: see recording/directory/dir.h. */
#include "calls/read/modules.h"

#include "base/search.h"

#include <stdlib.h>
#include <string.h>

static void free_module(gpointer data)
{
    struct gt_calls_module *m = data;
    gt_uftrace_symtab_free(&m->symbols);
    gt_uftrace_dbginfo_free(&m->lines);
    g_free(m->line);
    g_free(m->path);
    g_free(m->build_id);
    g_free(m);
}

void gt_calls_modules_init(struct gt_calls_modules *m, const struct gt_calls_texts *texts,
                           const struct gt_error_notices *notices)
{
    *m = (struct gt_calls_modules){.texts = texts, .notices = *notices};
    m->list = g_ptr_array_new_with_free_func(free_module);
    m->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

void gt_calls_modules_finish(struct gt_calls_modules *m)
{
    g_hash_table_destroy(m->by_name);
    g_ptr_array_free(m->list, TRUE);
}

struct gt_calls_module *gt_calls_modules_get(struct gt_calls_modules *m, const char *path,
                                             const char *build_id)
{
    char *name = g_strconcat(path, " ", build_id ? build_id : "", NULL);
    struct gt_calls_module *of = g_hash_table_lookup(m->by_name, name);
    if (of) {
        g_free(name);
        return of;
    }
    of = g_new0(struct gt_calls_module, 1);
    of->path = g_strdup(path);
    of->build_id = g_strdup(build_id ? build_id : "");
    of->number = m->list->len;
    g_ptr_array_add(m->list, of);
    g_hash_table_insert(m->by_name, name, of);
    return of;
}

/* ---- files --------------------------------------------------------------------------------- */

/* True where a file that names this path and build-id is the module's. A file that names neither
 * may be; a path that is not absolute is as it was given to dlopen(). */
static bool is_own(const struct gt_calls_module *of, const char *path, const char *build_id)
{
    if (*build_id && *of->build_id && strcmp(build_id, of->build_id) != 0)
        return false;
    return !*path || *of->path != '/' || strcmp(path, of->path) == 0;
}

/* The names that the file may have; the second is that of a module whose base name is another's. */
static void name_files(const struct gt_calls_module *of, const char *extension, char *name[2])
{
    g_autofree char *base = g_path_get_basename(of->path);
    uint16_t sum = 0;
    for (const char *p = of->path; *p; p++)
        sum = (uint16_t)(sum + (signed char)*p);
    name[0] = g_strconcat(base, extension, NULL);
    name[1] = *of->build_id ? g_strdup_printf("%s-%.4s%s", base, of->build_id, extension)
                            : g_strdup_printf("%s-%04x%s", base, sum, extension);
}

/* True: the text was read and is the module's. */
typedef bool take_file(struct gt_calls_modules *m, struct gt_calls_module *of, const char *name,
                       const char *text, size_t size);

static void read_file(struct gt_calls_modules *m, struct gt_calls_module *of, const char *extension,
                      take_file *take)
{
    char *name[2];
    bool found = false;
    name_files(of, extension, name);
    for (int i = 0; i < 2; i++) {
        char *text;
        size_t size;
        struct gt_error err;
        int status =
            found ? GT_E_NOT_FOUND : gt_calls_texts_read(m->texts, name[i], &text, &size, &err);
        if (status == 0) {
            found = take(m, of, name[i], text, size);
            free(text);
        } else if (status != GT_E_NOT_FOUND) {
            gt_error_notice(&m->notices, "%s; its functions have no names", err.text);
        }
        g_free(name[i]);
    }
}

/* ---- symbols ------------------------------------------------------------------------------- */

static bool take_symbols(struct gt_calls_modules *m, struct gt_calls_module *of, const char *name,
                         const char *text, size_t size)
{
    struct gt_uftrace_symtab tab;
    struct gt_error err;
    if (gt_uftrace_sym_read(text, size, &tab, &err) < 0) {
        g_autofree char *place = gt_calls_texts_place(m->texts, name);
        gt_error_notice(&m->notices, "%s: %s; its functions have no names", place, err.text);
        return false;
    }
    bool own = is_own(of, tab.path, tab.build_id);
    if (own)
        of->symbols = tab;
    else
        gt_uftrace_symtab_free(&tab);
    return own;
}

const struct gt_uftrace_symbol *
gt_calls_modules_symbol(struct gt_calls_modules *m, struct gt_calls_module *of, uint64_t address)
{
    if (!of->symbols_read) {
        of->symbols_read = true;
        read_file(m, of, ".sym", take_symbols);
    }
    return gt_uftrace_symtab_find(&of->symbols, address);
}

/* ---- source lines -------------------------------------------------------------------------- */

static gint compare_lines(gconstpointer a, gconstpointer b)
{
    const struct gt_calls_line *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

static void collect_lines(struct gt_calls_module *of)
{
    const struct gt_uftrace_dbginfo *d = &of->lines;
    uint64_t address = 0;
    of->line = g_new(struct gt_calls_line, d->n + 1);
    for (size_t i = 0; i < d->n; i++) {
        if (d->item[i].kind == GT_UFTRACE_DBG_FUNC)
            address = d->item[i].addr;
        else if (d->item[i].kind == GT_UFTRACE_DBG_LINE)
            of->line[of->n_lines++] =
                (struct gt_calls_line){address, d->item[i].text, d->item[i].line, d->item[i].lines};
    }
    qsort(of->line, of->n_lines, sizeof *of->line, compare_lines);
}

static bool take_lines(struct gt_calls_modules *m, struct gt_calls_module *of, const char *name,
                       const char *text, size_t size)
{
    struct gt_uftrace_dbginfo info;
    struct gt_error err;
    if (gt_uftrace_dbg_read(text, size, &info, &err) < 0) {
        g_autofree char *place = gt_calls_texts_place(m->texts, name);
        gt_error_notice(&m->notices, "%s: %s; its functions have no source lines", place, err.text);
        return false;
    }
    if (!is_own(of, info.path, info.build_id)) {
        gt_uftrace_dbginfo_free(&info);
        return false;
    }
    of->lines = info;
    collect_lines(of);
    return true;
}

const struct gt_calls_line *gt_calls_modules_line(struct gt_calls_modules *m,
                                                  struct gt_calls_module *of, uint64_t address)
{
    if (!of->lines_read) {
        of->lines_read = true;
        read_file(m, of, ".dbg", take_lines);
    }
    size_t i = GT_SEARCH_BELOW(of->line, of->n_lines, address, address);
    return i < of->n_lines && of->line[i].address == address ? &of->line[i] : NULL;
}
