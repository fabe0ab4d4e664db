/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Source lines: see source_lines.h. */
#include "analysis/image/source_lines.h"

#include "guest/elf/lines.h"

#include <glib.h>
#include <string.h>

/* The load base that guest/elf/lines.h counts from; false where the file has no lines that can be
 * read: images and modules, which are no ELF programs. */
static bool load_base(const struct gt_symbol_source *s, uint64_t *base)
{
    if (s->symbols) {
        *base = s->symbols->load_base;
        return true;
    }
    struct gt_symbols *symbols = NULL;
    if (s->kind != GT_SOURCE_KERNEL || strncmp(s->kernel->form, "ELF", 3) != 0 ||
        gt_symbols_load_with(s->opened, (const char *const[]){NULL}, &symbols, NULL) < 0)
        return false;
    *base = symbols->load_base;
    gt_symbols_free(symbols);
    return true;
}

static void add_items(GArray *items, struct gt_lines *lines, const struct gt_place *p,
                      uint64_t base)
{
    for (size_t i = 0; i < p->part->n; i++) {
        const struct gt_source_function *f = &p->part->function[i];
        const char *file;
        unsigned line;
        if (f->addr < p->lo || f->addr >= p->hi || f->unnamed ||
            gt_lines_at(lines, f->addr - base, &file, &line) != 1)
            continue;
        const struct gt_uftrace_dbg item[] = {
            {GT_UFTRACE_DBG_FUNC, f->addr - p->lo, 0, f->name},
            {GT_UFTRACE_DBG_LINE, 0, line, file},
        };
        g_array_append_vals(items, item, 2);
    }
}

/* Lines of an earlier call, whose addresses may be no symbols any more: readers would refuse them.
 */
static bool has_old_lines(const struct gt_uftrace_dir *dir, const struct gt_uftrace_module *module)
{
    g_autofree char *base = g_path_get_basename(module->path);
    g_autofree char *path = g_strconcat(dir->path, "/", base, ".dbg", NULL);
    return g_file_test(path, G_FILE_TEST_EXISTS);
}

int gt_source_lines_put(const struct gt_uftrace_dir *dir, const struct gt_uftrace_module *module,
                        const struct gt_place *place, struct gt_error *err)
{
    struct gt_lines *lines = NULL;
    uint64_t base;
    int status = 0;
    GArray *items = g_array_new(FALSE, FALSE, sizeof(struct gt_uftrace_dbg));
    if (load_base(place->source, &base) &&
        gt_lines_open(place->source->opened, NULL, &lines, NULL) == 0)
        add_items(items, lines, place, base);
    if (items->len || has_old_lines(dir, module))
        status = gt_uftrace_dir_put_debug(
            dir, module, (const struct gt_uftrace_dbg *)(const void *)items->data, items->len, err);
    g_array_free(items, TRUE);
    gt_lines_close(lines);
    return status;
}
