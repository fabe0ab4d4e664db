/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions' names for the addresses of an etrace stream: see names.h. */
#include "etrace/dump/names.h"

#include <glib.h>
#include <string.h>

int gt_etrace_names_load(struct gt_etrace_names *out, const GPtrArray *arguments, bool demangle,
                         struct gt_error *err)
{
    const guint n = arguments ? arguments->len : 0;
    *out = (struct gt_etrace_names){0};
    if (!n)
        return 0;
    out->source = g_new0(struct gt_symbol_source, n);
    out->demangler = demangle ? gt_demangler_create() : NULL;
    out->cache = g_new0(struct gt_etrace_name, GT_ETRACE_NAMES_CACHE);
    for (guint i = 0; i < n; i++) {
        int status = gt_symbol_source_load(arguments->pdata[i], &out->source[i], err);
        if (status < 0)
            return status;
        out->n++;
    }
    return 0;
}

int gt_etrace_names_locate(struct gt_etrace_names *names, const struct gt_notices *notices,
                           struct gt_input *in, bool live, struct gt_error *err)
{
    int status =
        gt_etrace_places_find(notices, in, live, names->source, names->n, &names->places, err);
    if (status < 0)
        return status;
    names->missing = (size_t)status;
    if (names->n && names->missing == names->n)
        return gt_error_set(err, GT_E_NOT_FOUND, "%s: the programs' load offsets are not known",
                            in->name);
    return 0;
}

void gt_etrace_names_note(struct gt_etrace_names *names, const struct gt_notices *notices,
                          const struct gt_etrace_note *note)
{
    struct gt_etrace_mapping m;
    if (!names->n || !gt_etrace_mapping_get(note->text, note->len, &m))
        return;
    for (size_t i = 0; i < names->n; i++) {
        if (!gt_etrace_place_mapped(&names->places, &names->source[i], &m))
            continue;
        gt_etrace_place_report(notices, &names->places.place[names->places.n - 1]);
        memset(names->cache, 0, GT_ETRACE_NAMES_CACHE * sizeof *names->cache);
    }
}

int gt_etrace_names_check(const struct gt_etrace_names *names, const char *stream,
                          struct gt_error *err)
{
    if (!names->n || names->any)
        return 0;
    return gt_error_set(err, GT_E_NOT_FOUND,
                        "%s: no function of the files of --elf ran: give the files that ran, or "
                        "their load offsets with ELF:OFFSET",
                        stream);
}

void gt_etrace_names_free(struct gt_etrace_names *names)
{
    gt_places_free(&names->places);
    for (size_t i = 0; i < names->n; i++)
        gt_symbol_source_clear(&names->source[i]);
    g_free(names->source);
    gt_demangler_destroy(names->demangler);
    g_free(names->cache);
    *names = (struct gt_etrace_names){0};
}

const char *gt_etrace_names_find(struct gt_etrace_names *names, uint64_t addr, bool *begins)
{
    for (size_t i = 0; i < names->places.n; i++) {
        const struct gt_place *p = &names->places.place[i];
        const uint64_t linked = addr - p->offset;
        if (linked < p->lo || linked >= p->hi)
            continue;
        const struct gt_source_function *f = gt_source_part_find(p->part, linked);
        if (!f)
            continue;
        *begins = f->addr == linked;
        names->any = true;
        return gt_demangle(names->demangler, f->name);
    }
    return NULL;
}

void gt_etrace_names_look(struct gt_etrace_names *names, uint64_t addr, struct gt_etrace_name *kept)
{
    bool begins;
    const char *name = gt_etrace_names_find(names, addr, &begins);
    *kept = (struct gt_etrace_name){addr, name ? name : "", name ? strlen(name) : 0};
}
