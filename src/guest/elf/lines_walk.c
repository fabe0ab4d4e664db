/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Visits all lines and functions of a file: see lines.h. */
#include "guest/elf/die.h"
#include "guest/elf/lines_private.h"

#include <dwarf.h>
#include <string.h>

struct walk {
    const struct gt_lines *lines;
    const struct gt_lines_visitor *visitor;
    bool plain; /* the unit under way */
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

static int visit_function(Dwarf_Die *die, void *self)
{
    struct walk *w = self;
    Dwarf_Addr lo, hi;
    int line = 0;
    if (dwarf_lowpc(die, &lo) != 0 || dwarf_highpc(die, &hi) != 0 || lo >= hi)
        return DWARF_CB_OK;
    const char *file = dwarf_decl_file(die);
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

/* One row of libdw's table, up to the next one. */
static void visit_row(struct walk *w, Dwarf_Line *row, Dwarf_Line *next)
{
    Dwarf_Addr lo, hi;
    bool end;
    int line;
    if (dwarf_lineendsequence(row, &end) != 0 || end || dwarf_lineaddr(row, &lo) != 0 ||
        dwarf_lineaddr(next, &hi) != 0 || lo >= hi || dwarf_lineno(row, &line) != 0 || line <= 0)
        return;
    const char *file = dwarf_linesrc(row, NULL, NULL);
    const struct gt_line_row r = {lo - w->lines->load_base, hi - w->lines->load_base, file,
                                  (unsigned)line};
    if (file)
        w->stopped = !w->visitor->row(w->visitor->self, &r);
}

int gt_lines_walk(struct gt_lines *l, const struct gt_lines_visitor *visitor)
{
    struct walk w = {l, visitor, false, false};
    Dwarf_CU *cu = NULL;
    Dwarf_Lines *lines;
    Dwarf_Die die;
    uint8_t type;
    size_t n;

    while (!w.stopped && dwarf_get_units(l->dwarf, cu, &cu, NULL, &type, &die, NULL) == 0) {
        if (type != DW_UT_compile)
            continue;
        w.plain = is_plain(&die);
        if (visitor->function)
            dwarf_getfuncs(&die, visit_function, &w, 0);
        if (!visitor->row || w.stopped || dwarf_getsrclines(&die, &lines, &n) != 0)
            continue;
        for (size_t i = 0; i + 1 < n && !w.stopped; i++)
            visit_row(&w, dwarf_onesrcline(lines, i), dwarf_onesrcline(lines, i + 1));
    }
    return w.stopped ? GT_E_NOMEM : GT_OK;
}
