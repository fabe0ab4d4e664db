/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Visits all lines and functions of a file: see lines.h. */
#include "base/array.h"
#include "base/search.h"
#include "guest/elf/die.h"
#include "guest/elf/lines_private.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { RANGES_MOST = 1 << 20 }; /* of a unit that are read */

struct code_range {
    Dwarf_Addr lo, hi;
};

struct walk {
    const struct gt_lines *lines;
    const struct gt_lines_visitor *visitor;
    Dwarf_Die *unit; /* under way, and whether GCC made it without optimisation */
    bool plain;
    struct code_range *range; /* its code, by address; none: not known */
    size_t n_ranges;
    bool stopped;
};

/* GCC says its options in the producer's name: -O is there only if it was given. */
static bool is_plain(Dwarf_Die *unit)
{
    const char *text = gt_die_string(unit, DW_AT_producer);
    if (!text || strncmp(text, "GNU ", 4) != 0)
        return false;
    for (const char *at = text; (at = strstr(at, " -O")); at += 3)
        if (at[3] != '0')
            return false;
    return true;
}

/* What nobody wrote. GCC marks a lambda's function as well, and says no line of it. */
static bool is_artificial(Dwarf_Die *die)
{
    const char *name = gt_die_string(die, DW_AT_name);
    return gt_die_flag(die, DW_AT_artificial) && !(name && strncmp(name, "operator()", 10) == 0);
}

/* The part of a function that has its entry: the first one, where it has several. */
static bool entry_range(Dwarf_Die *die, Dwarf_Addr *lo, Dwarf_Addr *hi)
{
    Dwarf_Addr base;
    if (dwarf_lowpc(die, lo) != 0 || dwarf_highpc(die, hi) != 0)
        return dwarf_ranges(die, 0, &base, lo, hi) > 0 && *lo < *hi;
    return *lo <= *hi;
}

/* dwarf_decl_file (libdw 0.188) takes file 0 for none, which from DWARF 5 on is the unit's own, and
 * ends the process for a split unit without files. Those have the skeleton's. */
static const char *decl_file(const struct walk *w, Dwarf_Die *die)
{
    Dwarf_Attribute attr;
    Dwarf_Files *files;
    Dwarf_Word number;
    Dwarf_Half version;
    Dwarf_Die unit;
    size_t n;
    if (!dwarf_attr_integrate(die, DW_AT_decl_file, &attr) ||
        dwarf_formudata(&attr, &number) != 0 ||
        !dwarf_cu_die(attr.cu, &unit, &version, NULL, NULL, NULL, NULL, NULL) ||
        (number == 0 && version < 5))
        return NULL;
    if (dwarf_getsrcfiles(&unit, &files, &n) != 0 && dwarf_getsrcfiles(w->unit, &files, &n) != 0)
        return NULL;
    return number < n ? dwarf_filesrc(files, number, NULL, NULL) : NULL;
}

static int visit_function(Dwarf_Die *die, void *self)
{
    struct walk *w = self;
    Dwarf_Addr lo, hi;
    int line = 0;
    if (!entry_range(die, &lo, &hi))
        return DWARF_CB_OK;
    const char *file = decl_file(w, die);
    if (dwarf_decl_line(die, &line) != 0 || line <= 0)
        file = NULL;
    const struct gt_line_function f = {lo - w->lines->load_base,
                                       hi - w->lines->load_base,
                                       file,
                                       file ? (unsigned)line : 0,
                                       w->plain,
                                       is_artificial(die),
                                       dwarf_hasattr_integrate(die, DW_AT_type) == 1};
    w->stopped = !w->visitor->function(w->visitor->self, &f);
    return w->stopped ? DWARF_CB_ABORT : DWARF_CB_OK;
}

static int compare_ranges(const void *a, const void *b)
{
    const struct code_range *x = a, *y = b;
    return x->lo < y->lo ? -1 : x->lo > y->lo;
}

static void read_ranges(struct walk *w, Dwarf_Die *unit)
{
    struct code_range r;
    Dwarf_Addr base;
    ptrdiff_t at = 0;
    size_t room = 0;
    w->n_ranges = 0;
    while (w->n_ranges < RANGES_MOST && (at = dwarf_ranges(unit, at, &base, &r.lo, &r.hi)) > 0) {
        if (!GT_ARRAY_GROW(&w->range, &room, w->n_ranges + 1))
            return;
        if (r.lo < r.hi)
            w->range[w->n_ranges++] = r;
    }
    if (w->n_ranges)
        qsort(w->range, w->n_ranges, sizeof *w->range, compare_ranges);
}

/* What of a row from `lo` on is the unit's code. A row at the end of a sequence has none: libdw
 * sorts it behind the mark of the end, so that it seems to go on up to the next sequence. */
static Dwarf_Addr code_end(const struct walk *w, Dwarf_Addr lo, Dwarf_Addr hi)
{
    const size_t n = GT_SEARCH_UP_TO(w->range, w->n_ranges, lo, lo);
    if (w->n_ranges == 0)
        return hi;
    const Dwarf_Addr end = n ? w->range[n - 1].hi : 0;
    return end < hi ? end : hi;
}

static bool begins_at(Dwarf_Line *row, Dwarf_Addr at)
{
    Dwarf_Addr lo;
    bool end;
    return dwarf_lineaddr(row, &lo) == 0 && lo == at && dwarf_lineendsequence(row, &end) == 0 &&
           !end;
}

/* One row of libdw's table, up to the next one. */
static void visit_row(struct walk *w, Dwarf_Lines *lines, size_t i)
{
    Dwarf_Line *row = dwarf_onesrcline(lines, i), *next = dwarf_onesrcline(lines, i + 1);
    Dwarf_Addr lo, hi;
    bool end;
    int line;
    if (dwarf_lineendsequence(row, &end) != 0 || end || dwarf_lineaddr(row, &lo) != 0 ||
        dwarf_lineaddr(next, &hi) != 0 || dwarf_lineno(row, &line) != 0 || line <= 0 ||
        lo >= (hi = code_end(w, lo, hi)))
        return;
    const char *file = dwarf_linesrc(row, NULL, NULL);
    const bool first = i == 0 || !begins_at(dwarf_onesrcline(lines, i - 1), lo);
    const struct gt_line_row r = {lo - w->lines->load_base, hi - w->lines->load_base, file,
                                  (unsigned)line, first};
    if (file)
        w->stopped = !w->visitor->row(w->visitor->self, &r);
}

/* Of a skeleton the functions are in its other half, where that is found and undamaged. */
static void visit_unit(struct walk *w, Dwarf_Die *unit, Dwarf_Die *split)
{
    struct gt_error err;
    const bool whole = dwarf_tag(split) == DW_TAG_compile_unit &&
                       gt_die_check_strings(dwarf_cu_getdwarf(split->cu), "", &err) == GT_OK;
    Dwarf_Die *functions = whole ? split : unit;
    Dwarf_Lines *lines;
    size_t n;
    w->unit = unit;
    w->plain = is_plain(functions);
    if (w->visitor->function)
        dwarf_getfuncs(functions, visit_function, w, 0);
    if (!w->visitor->row || w->stopped || dwarf_getsrclines(unit, &lines, &n) != 0)
        return;
    read_ranges(w, unit);
    for (size_t i = 0; i + 1 < n && !w->stopped; i++)
        visit_row(w, lines, i);
}

int gt_lines_walk(struct gt_lines *l, const struct gt_lines_visitor *visitor)
{
    struct walk w = {.lines = l, .visitor = visitor};
    Dwarf_CU *cu = NULL;
    Dwarf_Die die, split;
    uint8_t type;

    while (!w.stopped && dwarf_get_units(l->dwarf, cu, &cu, NULL, &type, &die, &split) == 0)
        if (type == DW_UT_compile || type == DW_UT_skeleton)
            visit_unit(&w, &die, &split);
    free(w.range);
    return w.stopped ? GT_E_NOMEM : GT_OK;
}
