/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses to source lines. The index is ours, from the units' own ranges: .debug_aranges is
 * optional and some compilers leave it out.
 */
#include "guest/elf/lines.h"

#include "base/array.h"
#include "base/search.h"
#include "guest/elf/die.h"
#include "guest/elf/file.h"
#include "guest/elf/symbols.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct range {
    uint64_t lo, hi;
    Dwarf_Off unit; /* offset of the unit's DIE */
};

struct gt_elf_lines {
    struct gt_elf file, debug;
    Dwarf *dwarf;
    char *path, *debug_path;
    uint64_t load_base;
    struct range *ranges; /* sorted by lo */
    size_t n, cap;
    bool indexed;
};

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

/* ---- all lines and functions ---------------------------------------------------------------- */

enum {
    RANGES_MOST = 1 << 20,  /* of a unit, or of an inlined copy, that are read */
    DEPTH_MOST = 256,       /* of scopes in a function that are read */
    ENTRIES_MOST = 1 << 24, /* in the functions of a unit that are read */
};

struct code_range {
    Dwarf_Addr lo, hi;
};

struct walk {
    const struct gt_elf_lines *lines;
    const struct gt_elf_lines_visitor *visitor;
    Dwarf_Die *unit;          /* under way, and whether GCC made it without optimisation */
    bool plain, marks;        /* marks: each copy of a statement has one row that begins it */
    struct code_range *range; /* its code, by address; none: not known */
    size_t n_ranges;
    uint32_t entries; /* of its functions that were read */
    bool stopped;
};

/* GCC says its options in the producer's name: -O is there only if it was given. */
static bool is_plain(Dwarf_Die *unit)
{
    const char *text = gt_elf_die_string(unit, DW_AT_producer);
    if (!text || strncmp(text, "GNU ", 4) != 0)
        return false;
    for (const char *at = text; (at = strstr(at, " -O")); at += 3)
        if (at[3] != '0')
            return false;
    return true;
}

/* GCC from 8 on marks where a statement begins, and copies the mark with its code; before, and with
 * other compilers, any row of a statement may be marked. */
static bool marks_statements(Dwarf_Die *unit)
{
    const char *text = gt_elf_die_string(unit, DW_AT_producer);
    const char *version = text && strncmp(text, "GNU ", 4) == 0 ? strchr(text + 4, ' ') : NULL;
    return version && atoi(version + 1) >= 8 && !strstr(text, "-gno-statement-frontiers");
}

/* Compiler-generated code. GCC marks a lambda's function as well, and says no line of it. */
static bool is_artificial(Dwarf_Die *die)
{
    const char *name = gt_elf_die_string(die, DW_AT_name);
    return gt_elf_die_flag(die, DW_AT_artificial) &&
           !(name && strncmp(name, "operator()", 10) == 0);
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
static const char *file_of(const struct walk *w, Dwarf_Attribute *attr)
{
    Dwarf_Files *files;
    Dwarf_Word number;
    Dwarf_Half version;
    Dwarf_Die unit;
    size_t n;
    if (dwarf_formudata(attr, &number) != 0 ||
        !dwarf_cu_die(attr->cu, &unit, &version, NULL, NULL, NULL, NULL, NULL) ||
        (number == 0 && version < 5))
        return NULL;
    if (dwarf_getsrcfiles(&unit, &files, &n) != 0 && dwarf_getsrcfiles(w->unit, &files, &n) != 0)
        return NULL;
    return number < n ? dwarf_filesrc(files, number, NULL, NULL) : NULL;
}

/* Where the function is declared; false: unknown. */
static bool declaration(const struct walk *w, Dwarf_Die *die, const char **file, unsigned *line)
{
    Dwarf_Attribute attr;
    int number = 0;
    *file = dwarf_attr_integrate(die, DW_AT_decl_file, &attr) ? file_of(w, &attr) : NULL;
    if (dwarf_decl_line(die, &number) != 0 || number <= 0)
        *file = NULL;
    *line = *file ? (unsigned)number : 0;
    return *file != NULL;
}

static bool number_of(Dwarf_Attribute *attr, unsigned *number)
{
    Dwarf_Word word;
    if (!attr || dwarf_formudata(attr, &word) != 0 || word == 0 || word > INT_MAX)
        return false;
    *number = (unsigned)word;
    return true;
}

static void call_of(const struct walk *w, Dwarf_Die *die, struct gt_elf_line_inlined *of)
{
    Dwarf_Attribute file, line;
    if (dwarf_attr(die, DW_AT_call_file, &file) &&
        number_of(dwarf_attr(die, DW_AT_call_line, &line), &of->call_line))
        of->call_file = file_of(w, &file);
}

/* GCC has split the function in two, and inlined the rest as well: the call seems to be where the
 * function is declared. */
static bool is_rest(Dwarf_Die *die, const struct gt_elf_line_inlined *of)
{
    Dwarf_Attribute attr;
    unsigned call, own;
    return of->call_file == of->file && of->call_line == of->line &&
           number_of(dwarf_attr(die, DW_AT_call_column, &attr), &call) &&
           number_of(dwarf_attr_integrate(die, DW_AT_decl_column, &attr), &own) && call == own;
}

/* Reports are of lines, so that a name cannot have an end of one; its other bytes stay. */
static const char *name_of(Dwarf_Die *die)
{
    const char *name = gt_elf_die_string(die, DW_AT_linkage_name);
    if (!name)
        name = gt_elf_die_string(die, DW_AT_name);
    for (const char *at = name; at && *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            return NULL;
    return name && *name ? name : NULL;
}

/* Where an inlined copy begins; GCC does not say it of one that is in several pieces. */
static bool inlined_entry(Dwarf_Die *die, Dwarf_Addr *entry)
{
    Dwarf_Attribute attr;
    Dwarf_Addr base, lo, hi;
    ptrdiff_t at = 0;
    bool any = false;
    if (dwarf_attr(die, DW_AT_entry_pc, &attr) && dwarf_formaddr(&attr, entry) == 0)
        return true;
    for (int i = 0; i < RANGES_MOST && (at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0; i++) {
        if (lo < hi && (!any || lo < *entry))
            *entry = lo;
        any |= lo < hi;
    }
    return any;
}

static void visit_inlined(struct walk *w, Dwarf_Die *die)
{
    struct gt_elf_line_inlined of = {.name = name_of(die)};
    Dwarf_Addr entry;
    if (is_artificial(die) || !of.name || !inlined_entry(die, &entry) ||
        !declaration(w, die, &of.file, &of.line))
        return;
    of.entry = entry - w->lines->load_base;
    call_of(w, die, &of);
    if (is_rest(die, &of))
        return;
    w->stopped = !w->visitor->inlined(w->visitor->self, &of);
}

/* Inlined copies in a scope, and in one another. */
static void visit_scope(struct walk *w, Dwarf_Die *scope, int depth)
{
    Dwarf_Die die;
    Dwarf_Off last;
    if (depth >= DEPTH_MOST || dwarf_child(scope, &die) != 0)
        return;
    do {
        const int tag = dwarf_tag(&die);
        last = dwarf_dieoffset(&die);
        if (tag == DW_TAG_inlined_subroutine)
            visit_inlined(w, &die);
        if (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
            tag == DW_TAG_try_block || tag == DW_TAG_catch_block)
            visit_scope(w, &die, depth + 1);
    } while (!w->stopped && ++w->entries < ENTRIES_MOST && dwarf_siblingof(&die, &die) == 0 &&
             dwarf_dieoffset(&die) > last);
}

static int visit_function(Dwarf_Die *die, void *self)
{
    struct walk *w = self;
    Dwarf_Addr lo, hi;
    unsigned line;
    const char *file;
    if (!entry_range(die, &lo, &hi))
        return DWARF_CB_OK;
    declaration(w, die, &file, &line);
    const struct gt_elf_line_function f = {lo - w->lines->load_base,
                                           hi - w->lines->load_base,
                                           file,
                                           line,
                                           name_of(die),
                                           w->plain,
                                           is_artificial(die),
                                           dwarf_hasattr_integrate(die, DW_AT_type) == 1};
    if (w->visitor->function)
        w->stopped = !w->visitor->function(w->visitor->self, &f);
    if (w->visitor->inlined && !w->plain && !w->stopped)
        visit_scope(w, die, 0);
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

/* One row of libdw's table, up to the next one. */
static void visit_row(struct walk *w, Dwarf_Lines *lines, size_t i)
{
    Dwarf_Line *row = dwarf_onesrcline(lines, i), *next = dwarf_onesrcline(lines, i + 1);
    Dwarf_Addr lo, hi;
    bool end, statement;
    int line, column;
    if (dwarf_lineendsequence(row, &end) != 0 || end || dwarf_lineaddr(row, &lo) != 0 ||
        dwarf_lineaddr(next, &hi) != 0 || dwarf_lineno(row, &line) != 0 || line <= 0 ||
        dwarf_linebeginstatement(row, &statement) != 0 || dwarf_linecol(row, &column) != 0)
        return;
    const bool empty = lo == hi && statement && !w->plain;
    if (code_end(w, lo, UINT64_MAX) <= lo || (lo >= (hi = code_end(w, lo, hi)) && !empty))
        return;
    const char *file = dwarf_linesrc(row, NULL, NULL);
    const struct gt_elf_line_row r = {lo - w->lines->load_base,
                                      hi - w->lines->load_base,
                                      file,
                                      (unsigned)line,
                                      w->marks && statement && column > 0 ? (unsigned)column : 0,
                                      statement,
                                      w->plain};
    if (file)
        w->stopped = !w->visitor->row(w->visitor->self, &r);
}

/* Of a skeleton the functions are in its other half, where that is found and undamaged. */
static void visit_unit(struct walk *w, Dwarf_Die *unit, Dwarf_Die *split)
{
    struct gt_error err;
    const bool whole = dwarf_tag(split) == DW_TAG_compile_unit &&
                       gt_elf_die_check_strings(dwarf_cu_getdwarf(split->cu), "", &err) == GT_OK;
    Dwarf_Die *functions = whole ? split : unit;
    Dwarf_Lines *lines;
    size_t n;
    w->unit = unit;
    w->plain = is_plain(functions);
    w->marks = !w->plain && marks_statements(functions);
    w->entries = 0;
    if (w->visitor->function || w->visitor->inlined)
        dwarf_getfuncs(functions, visit_function, w, 0);
    if (!w->visitor->row || w->stopped || dwarf_getsrclines(unit, &lines, &n) != 0)
        return;
    read_ranges(w, unit);
    for (size_t i = 0; i + 1 < n && !w->stopped; i++)
        visit_row(w, lines, i);
}

int gt_elf_lines_walk(struct gt_elf_lines *l, const struct gt_elf_lines_visitor *visitor)
{
    struct walk w = {.lines = l, .visitor = visitor};
    Dwarf_CU *cu = NULL;
    Dwarf_Die die, split;
    uint8_t type;

    gt_elf_split_units_find(l->dwarf, l->debug_path ? l->debug_path : l->path);
    while (!w.stopped && dwarf_get_units(l->dwarf, cu, &cu, NULL, &type, &die, &split) == 0)
        if (type == DW_UT_compile || type == DW_UT_skeleton)
            visit_unit(&w, &die, &split);
    free(w.range);
    return w.stopped ? GT_E_NOMEM : GT_OK;
}
