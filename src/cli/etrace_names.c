/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions' names for the addresses of an etrace stream: see etrace_names.h. */
#include "cli/etrace_names.h"

#include "cli/symbol_source.h"
#include "guest/symbols.h"

#include <glib.h>
#include <string.h>

int gt_etrace_names_load(struct gt_etrace_names *out, size_t n, const char *const *arguments,
                         struct gt_error *err)
{
    *out = (struct gt_etrace_names){0};
    if (!n)
        return 0;
    out->file = g_new0(struct gt_etrace_names_file, n);
    out->cache = g_new0(struct gt_etrace_name, GT_ETRACE_NAMES_CACHE);
    for (size_t i = 0; i < n; i++) {
        g_autofree char *path = NULL;
        bool has_offset;
        uint64_t offset;
        gt_symbol_source_split(arguments[i], &path, &has_offset, &offset);
        int status = gt_symbols_load(path, &out->file[i].symbols, err);
        if (status < 0)
            return status;
        out->file[i].base = out->file[i].symbols->load_base + offset;
        out->n++;
    }
    return 0;
}

void gt_etrace_names_free(struct gt_etrace_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        gt_symbols_free(names->file[i].symbols);
    g_free(names->file);
    g_free(names->cache);
    *names = (struct gt_etrace_names){0};
}

void gt_etrace_names_look(const struct gt_etrace_names *names, uint64_t addr,
                          struct gt_etrace_name *kept)
{
    const struct gt_symbol *found = NULL;
    for (size_t i = 0; i < names->n && !found; i++) {
        uint64_t rel = addr - names->file[i].base;
        if (rel < names->file[i].symbols->load_size)
            found = gt_symbols_find(names->file[i].symbols, rel);
    }
    *kept =
        (struct gt_etrace_name){addr, found ? found->name : "", found ? strlen(found->name) : 0};
}
