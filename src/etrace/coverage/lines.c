/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts by line and function: see lines.h. */
#include "etrace/coverage/lines.h"

#include "base/page.h"
#include "etrace/coverage/rows.h"
#include "guest/arch/insn_size.h"

#include <string.h>

#define NO_FUNCTION UINT32_MAX

struct sweep {
    struct gt_coverage_report *out;
    const struct gt_coverage_program *p;
    const struct gt_coverage *c;
    const GArray *declared; /* struct gt_coverage_declared */
    uint32_t *function;     /* of each symbol: index into out->functions, or NO_FUNCTION */
    uint64_t done;          /* costs are counted up to here */
};

/* ---- functions ----------------------------------------------------------------------------- */

static uint32_t add_function(struct sweep *s, const char *name, uint64_t calls)
{
    const struct gt_covered_function f = {.name = name, .calls = calls};
    g_array_append_val(s->out->functions, f);
    return s->out->functions->len - 1;
}

/* A function is where the source declares it: the first row of optimised code is often that of what
 * was inlined there. As in gcov, its line is listed, with its calls. */
static void declare(struct sweep *s, uint64_t entry, uint32_t function)
{
    const struct gt_coverage_declared *d = gt_coverage_declared_at(s->declared, entry);
    struct gt_covered_function *f =
        &g_array_index(s->out->functions, struct gt_covered_function, function);
    if (!d || !d->optimised)
        return;
    f->is_placed = true;
    if (d->artificial)
        return;
    f->file = d->file;
    f->line = d->line;
    const struct gt_covered_line line = {d->file, d->line, function, true, true, f->calls, 0};
    g_array_append_val(s->out->lines, line);
}

/* What GCC moved out of a function is the function: NAME.cold. */
static const struct gt_symbol *whole_function(const struct gt_symbols *symbols,
                                              const struct gt_symbol *symbol)
{
    uint64_t rel;
    if (!g_str_has_suffix(symbol->name, ".cold"))
        return symbol;
    g_autofree char *name = g_strndup(symbol->name, strlen(symbol->name) - strlen(".cold"));
    const struct gt_symbol *whole =
        gt_symbols_by_name(symbols, name, &rel) ? gt_symbols_find(symbols, rel) : NULL;
    return whole ? whole : symbol;
}

/* The function that has addr, and where its code ends. */
static uint32_t function_at(struct sweep *s, uint64_t addr, uint64_t *end)
{
    const struct gt_symbols *symbols = s->p->symbols;
    const struct gt_symbol *at = gt_symbols_find(symbols, addr - s->p->base);
    if (!at) {
        *end = addr + 1;
        while (*end < addr + GT_PAGE && !gt_symbols_find(symbols, *end - s->p->base))
            ++*end;
        return 0;
    }
    *end = at->addr + at->size + s->p->base;
    at = whole_function(symbols, at);
    uint32_t *number = &s->function[at - symbols->sym];
    if (*number == NO_FUNCTION) {
        *number = add_function(s, at->name, gt_coverage_at(s->c, at->addr + s->p->base));
        declare(s, at->addr + s->p->base, *number);
    }
    return *number;
}

static bool is_entry(const struct sweep *s, uint64_t addr)
{
    const struct gt_symbol *at = gt_symbols_find(s->p->symbols, addr - s->p->base);
    return at && at->addr == addr - s->p->base;
}

/* ---- lines --------------------------------------------------------------------------------- */

/* Instructions that ran in [lo, hi), or bytes of them. */
static uint64_t cost_of(struct sweep *s, uint64_t lo, uint64_t hi)
{
    uint64_t cost = 0;
    size_t left;
    lo = MAX(lo, s->done);
    if (lo >= hi)
        return 0;
    s->done = hi;
    if (gt_coverage_most(s->c, lo, hi) == 0)
        return 0;
    const uint8_t *bytes = gt_coverage_program_bytes(s->p, lo, &left);
    for (uint64_t at = lo; bytes && at < hi;) {
        size_t size = 1;
        if (!s->out->in_bytes)
            size = gt_arch_insn_size(s->p->arch, bytes + (at - lo), hi - at);
        cost += gt_coverage_at(s->c, at);
        at += size;
    }
    return cost;
}

static void add_piece(struct sweep *s, const struct gt_coverage_row *row, uint64_t lo, uint64_t hi,
                      uint32_t function)
{
    struct gt_covered_line line = {
        row->file,   row->line,  function,           .ends = row->ends || !row->counted,
        row->listed, row->count, cost_of(s, lo, hi),
    };
    struct gt_covered_function *f =
        &g_array_index(s->out->functions, struct gt_covered_function, function);
    if (row->listed && !row->counted)
        line.count = gt_coverage_most(s->c, lo, hi);
    if (row->line && row->listed && !f->line && !f->is_placed && is_entry(s, lo)) {
        f->file = row->file;
        f->line = row->line;
        f->end = row->lo == lo ? row->end : 0;
    }
    if (row->line || line.cost)
        g_array_append_val(s->out->lines, line);
}

static void add_row(struct sweep *s, const struct gt_coverage_row *row)
{
    for (uint64_t lo = row->lo, hi; lo < row->hi; lo = hi) {
        uint32_t function = function_at(s, lo, &hi);
        hi = MIN(hi, row->hi);
        add_piece(s, row, lo, hi, function);
    }
}

/* Code from `done` on that no row has. */
static void add_gap(struct sweep *s, uint64_t hi)
{
    const struct gt_coverage_row gap = {.lo = s->done, .hi = hi};
    if (s->done < hi && gt_coverage_most(s->c, s->done, hi))
        add_row(s, &gap);
    s->done = MAX(s->done, hi);
}

static void sweep_program(struct sweep *s, struct gt_coverage_names *names)
{
    GArray *declared, *rows = gt_coverage_rows(s->p, s->c, names, &declared);
    s->declared = declared;
    size_t n_sym = s->p->symbols->n_sym;
    s->function = g_new(uint32_t, n_sym + 1);
    for (size_t i = 0; i <= n_sym; i++)
        s->function[i] = NO_FUNCTION;
    guint at = 0;
    for (size_t i = 0; i < s->p->n; i++) {
        const struct gt_coverage_code *code = &s->p->code[i];
        s->done = code->lo;
        for (; at < rows->len; at++) {
            const struct gt_coverage_row *row = &g_array_index(rows, struct gt_coverage_row, at);
            if (row->lo - code->lo >= code->size)
                break;
            add_gap(s, row->lo);
            add_row(s, row);
        }
        add_gap(s, code->lo + code->size);
    }
    g_free(s->function);
    g_array_unref(declared);
    g_array_unref(rows);
}

/* ---- the report ---------------------------------------------------------------------------- */

static int compare_lines(const void *a, const void *b)
{
    const struct gt_covered_line *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->function < y->function ? -1 : x->function > y->function;
}

/* One item for what a function has of a line. */
static void merge_lines(GArray *lines)
{
    struct gt_covered_line *line = (struct gt_covered_line *)(void *)lines->data;
    guint n = 0;
    g_array_sort(lines, compare_lines);
    for (guint i = 0; i < lines->len; i++) {
        struct gt_covered_line *last = n ? &line[n - 1] : NULL;
        if (!last || compare_lines(last, &line[i]) != 0) {
            line[n++] = line[i];
            continue;
        }
        last->count = MAX(last->count, line[i].count);
        last->cost += line[i].cost;
        last->listed |= line[i].listed;
        last->ends |= line[i].ends;
    }
    g_array_set_size(lines, n);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Numbers the files by their names. */
static void sort_files(struct gt_coverage_names *names, struct gt_coverage_report *out)
{
    g_autofree uint32_t *number = g_new0(uint32_t, names->names->len);
    g_ptr_array_add(out->files, names->names->pdata[0]);
    for (guint i = 1; i < names->names->len; i++)
        g_ptr_array_add(out->files, names->names->pdata[i]);
    qsort(out->files->pdata + 1, out->files->len - 1, sizeof(void *), compare_names);
    for (guint i = 1; i < out->files->len; i++)
        number[GPOINTER_TO_UINT(g_hash_table_lookup(names->number, out->files->pdata[i]))] = i;
    for (guint i = 0; i < out->lines->len; i++) {
        struct gt_covered_line *line = &g_array_index(out->lines, struct gt_covered_line, i);
        line->file = number[line->file];
    }
    for (guint i = 0; i < out->functions->len; i++) {
        struct gt_covered_function *f =
            &g_array_index(out->functions, struct gt_covered_function, i);
        f->file = number[f->file];
    }
    g_ptr_array_set_free_func(names->names, NULL);
}

/* Tells which functions begin in the line of another. */
static void find_shared_lines(GArray *functions)
{
    struct gt_covered_function *f = (struct gt_covered_function *)(void *)functions->data;
    g_autoptr(GHashTable) first = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    for (guint i = 0; i < functions->len; i++) {
        const gint64 key = (gint64)((uint64_t)f[i].file << 32 | f[i].line);
        if (!f[i].line)
            continue;
        struct gt_covered_function *other = g_hash_table_lookup(first, &key);
        if (other)
            other->shares_line = f[i].shares_line = true;
        else
            g_hash_table_insert(first, g_memdup2(&key, sizeof key), &f[i]);
    }
}

static bool is_excluded(const GArray *of, uint32_t line)
{
    for (guint i = 0; i < of->len; i++) {
        const struct gt_coverage_excluded *e = &g_array_index(of, struct gt_coverage_excluded, i);
        if (line >= e->first && line <= e->last)
            return true;
    }
    return false;
}

static void leave_out(struct gt_coverage_report *out, const struct gt_coverage_exclude *exclude)
{
    g_autofree GArray **of = g_new0(GArray *, out->files->len);
    guint n = 0;
    for (guint i = 0; i < out->files->len; i++)
        of[i] = gt_coverage_exclude_of(exclude, out->files->pdata[i]);
    for (guint i = 0; i < out->lines->len; i++) {
        const struct gt_covered_line *line = &g_array_index(out->lines, struct gt_covered_line, i);
        if (!is_excluded(of[line->file], line->line))
            g_array_index(out->lines, struct gt_covered_line, n++) = *line;
    }
    g_array_set_size(out->lines, n);
    for (guint i = 0; i < out->functions->len; i++) {
        struct gt_covered_function *f =
            &g_array_index(out->functions, struct gt_covered_function, i);
        if (f->line && is_excluded(of[f->file], f->line))
            f->file = f->line = f->end = 0;
    }
    for (guint i = 0; i < out->files->len; i++)
        g_array_unref(of[i]);
}

void gt_coverage_report_make(struct gt_coverage_program *program, size_t n,
                             const struct gt_coverage *c, const struct gt_coverage_exclude *exclude,
                             struct gt_coverage_report *out)
{
    struct gt_coverage_names names;
    gt_coverage_names_init(&names);
    *out = (struct gt_coverage_report){
        g_ptr_array_new_with_free_func(g_free),
        g_array_new(FALSE, FALSE, sizeof(struct gt_covered_function)),
        g_array_new(FALSE, FALSE, sizeof(struct gt_covered_line)),
        false,
    };
    for (size_t i = 0; i < n; i++)
        out->in_bytes |= !gt_arch_insn_size_known(program[i].arch);
    struct sweep s = {.out = out, .c = c};
    add_function(&s, "???", 0);
    for (size_t i = 0; i < n; i++) {
        s.p = &program[i];
        sweep_program(&s, &names);
    }
    sort_files(&names, out);
    gt_coverage_names_clear(&names);
    merge_lines(out->lines);
    find_shared_lines(out->functions);
    leave_out(out, exclude);
}

void gt_coverage_report_clear(struct gt_coverage_report *r)
{
    g_array_unref(r->lines);
    g_array_unref(r->functions);
    g_ptr_array_unref(r->files);
}
