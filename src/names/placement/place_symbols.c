/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Symbols of a place: see place_symbols.h. */
#include "names/placement/place_symbols.h"

#include "names/image/source_lines.h"

#include <glib.h>
#include <inttypes.h>

struct gt_place_symbols {
    struct gt_place place;
    char *base;       /* the file's name */
    GArray *sym;      /* struct gt_uftrace_symbol */
    GPtrArray *names; /* those that were made here */
};

static int compare_addr(const void *a, const void *b)
{
    const struct gt_uftrace_symbol *x = a, *y = b;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* A function that was called there and has no name in the file. One whose size is a guess ends
 * where another was called. */
static bool is_nameless(const struct gt_source_part *part, uint64_t addr)
{
    const struct gt_source_function *f = gt_source_part_find(part, addr);
    return !f || (f->guessed && f->addr != addr);
}

static const char *keep(struct gt_place_symbols *s, char *name)
{
    g_ptr_array_add(s->names, name);
    return name;
}

struct gt_place_symbols *gt_place_symbols_new(const struct gt_place *place, bool prefix)
{
    struct gt_place_symbols *s = g_new0(struct gt_place_symbols, 1);
    s->place = *place;
    s->base = g_path_get_basename(place->part->path);
    s->sym = g_array_new(FALSE, FALSE, sizeof(struct gt_uftrace_symbol));
    s->names = g_ptr_array_new_with_free_func(g_free);
    for (size_t i = 0; i < place->part->n; i++) {
        const struct gt_source_function *from = &place->part->function[i];
        if (from->addr < place->lo || from->addr >= place->hi)
            continue;
        struct gt_uftrace_symbol to = {from->addr - place->lo, from->size, from->name, from->type};
        if (prefix && !from->unnamed)
            to.name = keep(s, g_strconcat(s->base, ":", from->name, NULL));
        g_array_append_val(s->sym, to);
    }
    return s;
}

void gt_place_symbols_add(struct gt_place_symbols *s, uint64_t linked,
                          const struct gt_uftrace_symbol *sym)
{
    if (linked < s->place.lo || linked >= s->place.hi || !is_nameless(s->place.part, linked))
        return;
    struct gt_uftrace_symbol to = {linked - s->place.lo, 0, NULL, sym ? sym->type : 't'};
    if (sym && !g_str_has_prefix(sym->name, "0x"))
        to.name = sym->name;
    else
        to.name = keep(s, g_strdup_printf("%s+0x%" PRIx64, s->base, linked - s->place.part->lo));
    g_array_append_val(s->sym, to);
}

int gt_place_symbols_put(struct gt_place_symbols *s, const struct gt_uftrace_dir *dir,
                         const struct gt_uftrace_module *module, struct gt_error *err)
{
    g_array_sort(s->sym, compare_addr);
    int status = gt_uftrace_dir_put_symbols(
        dir, module, (const struct gt_uftrace_symbol *)(const void *)s->sym->data, s->sym->len,
        err);
    return status < 0 ? status : gt_source_lines_put(dir, module, &s->place, err);
}

const char *gt_place_symbols_name(const struct gt_place_symbols *s, uint64_t linked)
{
    const char *name = NULL;
    for (guint i = 0; i < s->sym->len; i++) {
        const struct gt_uftrace_symbol *sym = &g_array_index(s->sym, struct gt_uftrace_symbol, i);
        if (sym->addr > linked - s->place.lo)
            break;
        name = sym->name;
    }
    return name;
}

void gt_place_symbols_free(struct gt_place_symbols *s)
{
    if (!s)
        return;
    g_array_free(s->sym, TRUE);
    g_ptr_array_free(s->names, TRUE);
    g_free(s->base);
    g_free(s);
}
