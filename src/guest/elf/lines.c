/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses to source lines. The index is ours, from the units' own ranges: .debug_aranges is
 * optional and some compilers leave it out.
 */
#include "guest/elf/lines.h"

#include "base/array.h"
#include "base/search.h"

#include "guest/elf/die.h"
#include "guest/elf/lines_private.h"
#include "guest/elf/symbols.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* More ranges than that in one unit are not read. */
#define MAX_RANGES 1000000

static int open_dwarf(struct gt_elf_lines *l, const char *path, const char *const *roots)
{
    Dwarf_Off next;
    size_t header;
    int r;

    l->dwarf = dwarf_begin_elf(l->file.elf, DWARF_C_READ, NULL);
    if (l->dwarf && dwarf_nextcu(l->dwarf, 0, &next, &header, NULL, NULL, NULL) == 0)
        return 1;
    dwarf_end(l->dwarf);
    l->dwarf = NULL;
    r = gt_elf_open_debug(path, l->file.elf, roots, &l->debug, &l->debug_path);
    if (r == 1)
        l->dwarf = dwarf_begin_elf(l->debug.elf, DWARF_C_READ, NULL);
    return l->dwarf ? 1 : r < 0 ? r : 0;
}

int gt_elf_lines_open(const char *path, const char *const *debug_roots, struct gt_elf_lines **out,
                      struct gt_error *err)
{
    struct gt_elf_lines *l = calloc(1, sizeof *l);
    int r;

    *out = NULL;
    if (!l || !(l->path = strdup(path))) {
        free(l);
        return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", path);
    }
    l->debug.fd = -1;
    r = gt_elf_open(path, &l->file, err);
    if (r == GT_OK) {
        r = open_dwarf(l, path, debug_roots ? debug_roots : gt_elf_debug_roots_default);
        if (r == 0 || (r == 1 && !gt_elf_load_base(l->file.elf, &l->load_base)))
            r = gt_error_set(err, GT_E_NOT_FOUND, "%s: no line table and no debug file", path);
        else if (r == 1)
            r = gt_elf_die_check_strings(l->dwarf, l->debug_path ? l->debug_path : path, err);
        else if (r < 0)
            gt_error_set(err, r, "%s: out of memory", path);
    }
    if (r < 0) {
        gt_elf_lines_close(l);
        return r;
    }
    *out = l;
    return GT_OK;
}

void gt_elf_lines_close(struct gt_elf_lines *l)
{
    if (!l)
        return;
    dwarf_end(l->dwarf);
    gt_elf_close(&l->debug);
    gt_elf_close(&l->file);
    free(l->debug_path);
    free(l->path);
    free(l->ranges);
    free(l);
}

static bool add_range(struct gt_elf_lines *l, uint64_t lo, uint64_t hi, Dwarf_Off unit)
{
    if (!GT_ARRAY_GROW(&l->ranges, &l->cap, l->n + 1))
        return false;
    if (lo < hi)
        l->ranges[l->n++] = (struct range){lo, hi, unit};
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct range *x = a, *y = b;

    return x->lo != y->lo ? (x->lo < y->lo ? -1 : 1) : x->unit < y->unit ? -1 : x->unit > y->unit;
}

static void index_units(struct gt_elf_lines *l)
{
    Dwarf_CU *cu = NULL;
    Dwarf_Die die;
    Dwarf_Addr base, lo, hi;
    uint8_t type;

    l->indexed = true;
    while (dwarf_get_units(l->dwarf, cu, &cu, NULL, &type, &die, NULL) == 0) {
        ptrdiff_t at = 0;
        if (type != DW_UT_compile && type != DW_UT_skeleton)
            continue;
        for (int i = 0; i < MAX_RANGES && (at = dwarf_ranges(&die, at, &base, &lo, &hi)) > 0; i++)
            if (!add_range(l, lo, hi, dwarf_dieoffset(&die)))
                return;
    }
    if (l->n)
        qsort(l->ranges, l->n, sizeof *l->ranges, compare);
}

static const struct range *find_range(const struct gt_elf_lines *l, uint64_t addr)
{
    size_t lo = GT_SEARCH_UP_TO(l->ranges, l->n, lo, addr);

    return lo && addr < l->ranges[lo - 1].hi ? &l->ranges[lo - 1] : NULL;
}

int gt_elf_lines_at(struct gt_elf_lines *l, uint64_t rel, const char **file, unsigned *line)
{
    const struct range *range;
    Dwarf_Line *entry;
    Dwarf_Die die;
    int number;

    if (!l->indexed)
        index_units(l);
    range = find_range(l, rel + l->load_base);
    if (!range || !dwarf_offdie(l->dwarf, range->unit, &die))
        return 0;
    entry = dwarf_getsrc_die(&die, rel + l->load_base);
    if (!entry || dwarf_lineno(entry, &number) != 0 || number <= 0)
        return 0;
    *file = dwarf_linesrc(entry, NULL, NULL);
    *line = (unsigned)number;
    return *file ? 1 : 0;
}
