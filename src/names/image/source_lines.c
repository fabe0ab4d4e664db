/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Source lines: see source_lines.h. */
#include "names/image/source_lines.h"

#include "base/file.h"

#include <glib.h>
#include <string.h>

struct gt_elf_function_lines *
gt_image_source_lines_load(const struct gt_image_symbol_source *source,
                           const struct gt_image_source_part *part)
{
    struct gt_elf_function_lines *lines = NULL;
    if (source->kind == GT_SOURCE_MODULE)
        return NULL; /* not linked */
    g_autofree struct gt_elf_code_span *span = g_new(struct gt_elf_code_span, part->n + 1);
    for (size_t i = 0; i < part->n; i++) {
        const struct gt_image_source_function *f = &part->function[i];
        span[i] =
            (struct gt_elf_code_span){f->addr, f->addr + f->size, strstr(f->name, ".cold") != NULL};
    }
    gt_elf_function_lines_load(source->opened, NULL, span, part->n, &lines, NULL);
    return lines;
}

static void add_items(GArray *items, const struct gt_elf_function_lines *lines,
                      const struct gt_place *p)
{
    for (size_t i = 0; i < p->part->n; i++) {
        const struct gt_image_source_function *f = &p->part->function[i];
        const struct gt_elf_function_line *line = &lines->of[i];
        if (f->addr < p->lo || f->addr >= p->hi || f->unnamed || !line->file)
            continue;
        const struct gt_uftrace_dbg item[] = {
            {GT_UFTRACE_DBG_FUNC, f->addr - p->lo, 0, f->name, NULL},
            {GT_UFTRACE_DBG_LINE, 0, line->line, line->file, line->all},
        };
        g_array_append_vals(items, item, 2);
    }
}

/* What an earlier call, or the recorder, has written. Lines whose addresses may be no symbols any
 * more are not kept: readers would refuse them. False: nothing. */
static bool read_old(const struct gt_uftrace_dir *dir, const struct gt_uftrace_module *module,
                     struct gt_uftrace_dbginfo *out)
{
    g_autofree char *base = g_path_get_basename(module->path);
    g_autofree char *path = g_strconcat(dir->path, "/", base, ".dbg", NULL);
    char *text;
    size_t size;
    *out = (struct gt_uftrace_dbginfo){0};
    if (gt_file_read(path, 64 << 20, &text, &size, NULL) < 0)
        return false;
    gt_uftrace_dbg_read(text, size, out, NULL);
    free(text);
    return true;
}

/* The recorder's functions with values: readers need each of them. */
static void keep_values(GArray *items, const struct gt_uftrace_dbginfo *old)
{
    const struct gt_uftrace_dbg *function = NULL;
    for (size_t i = 0; i < old->n; i++) {
        const struct gt_uftrace_dbg *item = &old->item[i];
        if (item->kind == GT_UFTRACE_DBG_FUNC) {
            function = item;
        } else if (item->kind == GT_UFTRACE_DBG_ARGS || item->kind == GT_UFTRACE_DBG_RET) {
            if (function)
                g_array_append_val(items, *function);
            function = NULL;
            g_array_append_val(items, *item);
        }
    }
}

int gt_image_source_lines_put(const struct gt_uftrace_dir *dir,
                              const struct gt_uftrace_module *module, const struct gt_place *place,
                              struct gt_error *err)
{
    struct gt_elf_function_lines *lines = gt_image_source_lines_load(place->source, place->part);
    int status = 0;
    struct gt_uftrace_dbginfo old;
    bool was_there = read_old(dir, module, &old);
    GArray *items = g_array_new(FALSE, FALSE, sizeof(struct gt_uftrace_dbg));
    if (lines)
        add_items(items, lines, place);
    keep_values(items, &old);
    if (items->len || was_there)
        status = gt_uftrace_dir_put_debug(
            dir, module, (const struct gt_uftrace_dbg *)(const void *)items->data, items->len, err);
    g_array_free(items, TRUE);
    gt_uftrace_dbginfo_free(&old);
    gt_elf_function_lines_free(lines);
    return status;
}
