/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Symbols by address and by name: see symbols.h. */
#include "base/search.h"
#include "guest/elf/symbols_private.h"

#include <string.h>

size_t gt_elf_sym_count_to(const struct gt_elf_symbols *s, uint64_t rel)
{
    return GT_SEARCH_UP_TO(s->sym, s->n_sym, addr, rel);
}

const struct gt_elf_symbol *gt_elf_symbols_find(const struct gt_elf_symbols *s, uint64_t rel)
{
    size_t n = gt_elf_sym_count_to(s, rel);

    return n && rel - s->sym[n - 1].addr < s->sym[n - 1].size ? &s->sym[n - 1] : NULL;
}

bool gt_elf_symbols_in_plt(const struct gt_elf_symbols *s, uint64_t rel)
{
    for (size_t i = 0; i < sizeof s->plt_lo / sizeof s->plt_lo[0]; i++)
        if (rel >= s->plt_lo[i] && rel < s->plt_hi[i])
            return true;
    return false;
}

/* Of the types, the one that a name should mean first. */
static int type_order(char type)
{
    const char *order = "Twt";
    const char *at = strchr(order, type);

    return at ? (int)(at - order) : 3;
}

static const struct gt_elf_symbol *best_of(const struct gt_elf_symbol *list, size_t n,
                                           const char *name, const struct gt_elf_symbol *best)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].name, name) == 0 &&
            (!best || type_order(list[i].type) < type_order(best->type)))
            best = &list[i];
    return best;
}

bool gt_elf_symbols_by_name(const struct gt_elf_symbols *s, const char *name, uint64_t *rel)
{
    const struct gt_elf_symbol *best = best_of(s->sym, s->n_sym, name, NULL);

    best = best_of(s->alias, s->n_alias, name, best);
    if (best)
        *rel = best->addr;
    return best != NULL;
}
