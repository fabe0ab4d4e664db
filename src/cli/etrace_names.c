/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions' names for the addresses of an etrace stream: see etrace_names.h. */
#include "cli/etrace_names.h"

#include "cli/symbol_source.h"

#include <glib.h>
#include <string.h>

int gt_etrace_names_load(struct gt_etrace_names *out, size_t n, const char *const *arguments,
                         struct gt_error *err)
{
    *out = (struct gt_etrace_names){0};
    if (!n)
        return 0;
    out->source = g_new0(struct gt_symbol_source, n);
    out->cache = g_new0(struct gt_etrace_name, GT_ETRACE_NAMES_CACHE);
    for (size_t i = 0; i < n; i++) {
        struct gt_symbol_source *s = &out->source[i];
        int status = gt_symbol_source_load(arguments[i], s, err);
        if (status < 0)
            return status;
        out->n++;
        if (s->kind == GT_SOURCE_MODULE && !s->part[0].has_offset)
            return gt_error_set(err, GT_E_USAGE,
                                "%s: a kernel's module: say where it ran, FILE:OFFSET (its .text in"
                                " the guest's /sys/module/NAME/sections)",
                                arguments[i]);
    }
    return 0;
}

void gt_etrace_names_free(struct gt_etrace_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        gt_symbol_source_clear(&names->source[i]);
    g_free(names->source);
    g_free(names->cache);
    *names = (struct gt_etrace_names){0};
}

const char *gt_etrace_names_find(const struct gt_etrace_names *names, uint64_t addr, bool *begins)
{
    for (size_t i = 0; i < names->n; i++) {
        const struct gt_symbol_source *s = &names->source[i];
        for (size_t k = 0; k < s->n_parts; k++) {
            const struct gt_source_part *p = &s->part[k];
            /* where a module's code of its start was is not said */
            const struct gt_source_function *f =
                p->init ? NULL : gt_source_part_find(p, addr - p->offset);
            if (!f)
                continue;
            *begins = f->addr == addr - p->offset;
            return f->name;
        }
    }
    return NULL;
}

void gt_etrace_names_look(const struct gt_etrace_names *names, uint64_t addr,
                          struct gt_etrace_name *kept)
{
    bool begins;
    const char *name = gt_etrace_names_find(names, addr, &begins);
    *kept = (struct gt_etrace_name){addr, name ? name : "", name ? strlen(name) : 0};
}
