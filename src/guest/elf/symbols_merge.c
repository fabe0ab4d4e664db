/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Merges candidates into symbols: one an address, sorted, not overlapping. */
#include "guest/elf/symbols_private.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    const struct sym_cand *x = a, *y = b;
    size_t lx, ly;

    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->name == y->name)
        return x->size > y->size ? -1 : x->size < y->size;
    lx = strlen(x->name);
    ly = strlen(y->name);
    return lx != ly ? (lx < ly ? -1 : 1) : strcmp(x->name, y->name);
}

void gt_elf_sym_sort(struct sym_list *list)
{
    if (list->n)
        qsort(list->at, list->n, sizeof list->at[0], compare);
}

static struct gt_elf_symbol *put(struct gt_elf_symbol *at, size_t *n, const struct sym_cand *c)
{
    at[*n] = (struct gt_elf_symbol){.addr = c->addr, .name = c->name, .type = c->type};
    return &at[(*n)++];
}

/* The size that the winner or, if it says none, another name of its address or .eh_frame says. */
static uint64_t size_of_group(const struct sym_cand *first, const struct sym_cand *end)
{
    for (const struct sym_cand *c = first; c < end; c++)
        if (c->size && (c->typed == first->typed || c->type == 'e'))
            return c->size;
    return 0;
}

static void put_aliases(struct gt_elf_symbols *s, const struct sym_cand *first,
                        const struct sym_cand *end, const char *winner)
{
    const char *last = winner;

    for (const struct sym_cand *c = first; c < end; c++) {
        if (!c->name || strcmp(c->name, last) == 0)
            continue;
        put(s->alias, &s->n_alias, c);
        last = c->name;
    }
}

static uint64_t end_of(const struct sym_cand *c, uint64_t size)
{
    return size && size < c->limit - c->addr ? c->addr + size : c->limit;
}

/* Sizes are ends here until trim() knows the next symbol. */
static void put_groups(struct gt_elf_symbols *s, const struct sym_list *list)
{
    const struct sym_cand *end = list->at + list->n, *next;
    uint64_t sized_end = 0;   /* of the functions so far */
    uint64_t covered_end = 0; /* of the symbols so far that say their size */

    for (const struct sym_cand *c = list->at; c < end; c = next) {
        uint64_t size;
        for (next = c + 1; next < end && next->addr == c->addr;)
            next++;
        if (c->type == 'e' && c->addr < covered_end)
            continue;
        if (!c->typed && c->addr < sized_end) {
            put_aliases(s, c, next, "");
            continue;
        }
        size = size_of_group(c, next);
        struct gt_elf_symbol *sym = put(s->sym, &s->n_sym, c);
        sym->size = end_of(c, size);
        sym->guessed = size == 0;
        put_aliases(s, c + 1, next, c->name);
        if (size && c->type != 'e' && end_of(c, size) > covered_end)
            covered_end = end_of(c, size);
        if (c->typed && size && end_of(c, size) > sized_end)
            sized_end = end_of(c, size);
    }
}

static void trim(struct gt_elf_symbols *s)
{
    for (size_t i = 0; i < s->n_sym; i++) {
        struct gt_elf_symbol *sym = &s->sym[i];
        uint64_t end = sym->size;
        if (i + 1 < s->n_sym && s->sym[i + 1].addr < end)
            end = s->sym[i + 1].addr;
        sym->size = end - sym->addr;
    }
}

int gt_elf_sym_merge(struct sym_reader *r)
{
    struct gt_elf_symbols *s = r->s;

    gt_elf_sym_sort(&r->list);
    s->sym = calloc(r->list.n + 1, sizeof *s->sym);
    s->alias = calloc(r->list.n + 1, sizeof *s->alias);
    if (!s->sym || !s->alias)
        return GT_E_NOMEM;
    if (r->list.n)
        put_groups(s, &r->list);
    trim(s);
    struct gt_elf_symbol *fit = realloc(s->sym, (s->n_sym + 1) * sizeof *fit);
    s->sym = fit ? fit : s->sym;
    fit = realloc(s->alias, (s->n_alias + 1) * sizeof *fit);
    s->alias = fit ? fit : s->alias;
    return GT_OK;
}
