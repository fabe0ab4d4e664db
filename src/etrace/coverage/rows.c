/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Line tables that match gcov: see rows.h. */
#include "base/search.h"
#include "etrace/coverage/flow.h"
#include "guest/arch/insn_size.h"

#include <string.h>

struct function {
    uint64_t lo, hi;
    uint32_t file, line; /* line 0: where its first row is */
    bool plain, artificial, returns;
};

struct collection {
    const struct gt_coverage_program *program;
    struct gt_coverage_names *names;
    GArray *rows;
    GArray *functions; /* struct function */
    const char *last_text;
    uint32_t last_number;
};

void gt_coverage_names_init(struct gt_coverage_names *n)
{
    n->names = g_ptr_array_new_with_free_func(g_free);
    n->number = g_hash_table_new(g_str_hash, g_str_equal);
    g_ptr_array_add(n->names, g_strdup("???"));
}

void gt_coverage_names_clear(struct gt_coverage_names *n)
{
    g_hash_table_unref(n->number);
    g_ptr_array_unref(n->names);
}

/* A name with a newline would end a line of the reports. */
static char *clean_name(const char *text)
{
    char *name = g_path_is_absolute(text) ? g_canonicalize_filename(text, "/") : g_strdup(text);
    for (char *at = name; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    return name;
}

static uint32_t number_of(struct collection *c, const char *text)
{
    if (text == c->last_text)
        return c->last_number;
    g_autofree char *name = clean_name(text);
    void *number = g_hash_table_lookup(c->names->number, name);
    if (!number) {
        number = GUINT_TO_POINTER(c->names->names->len);
        g_ptr_array_add(c->names->names, name);
        g_hash_table_insert(c->names->number, g_steal_pointer(&name), number);
    }
    c->last_text = text;
    return c->last_number = GPOINTER_TO_UINT(number);
}

static bool visit_row(void *self, const struct gt_line_row *row)
{
    struct collection *c = self;
    uint64_t lo = row->lo + c->program->base;
    size_t left;
    /* the linker leaves rows of code that it discarded */
    if (!gt_coverage_program_bytes(c->program, lo, &left))
        return true;
    uint64_t size = MIN(row->hi - row->lo, left);
    const struct gt_coverage_row r = {lo,        lo + size,      number_of(c, row->file),
                                      row->line, .listed = true, .first = row->first};
    g_array_append_val(c->rows, r);
    return true;
}

static bool visit_function(void *self, const struct gt_line_function *function)
{
    struct collection *c = self;
    uint64_t base = c->program->base, hi = function->hi;
    if (hi == function->lo) {
        const struct gt_symbol *symbol = gt_symbols_find(c->program->symbols, hi);
        if (!symbol || symbol->addr != hi)
            return true;
        hi += symbol->size;
    }
    const struct function f = {
        function->lo + base, hi + base,       function->file ? number_of(c, function->file) : 0,
        function->line,      function->plain, function->artificial,
        function->returns};
    g_array_append_val(c->functions, f);
    return true;
}

static int compare_rows(const void *a, const void *b)
{
    const struct gt_coverage_row *x = a, *y = b;
    if (x->lo != y->lo)
        return x->lo < y->lo ? -1 : 1;
    return x->hi != y->hi ? (x->hi < y->hi ? -1 : 1) : x->line < y->line ? -1 : x->line > y->line;
}

static size_t first_row(const GArray *rows, uint64_t addr)
{
    return GT_SEARCH_BELOW((struct gt_coverage_row *)(void *)rows->data, rows->len, lo, addr);
}

static bool is_nop(const struct gt_coverage_program *p, const uint8_t *at, size_t n)
{
    static const uint8_t aarch64[] = {0x1f, 0x20, 0x03, 0xd5}, riscv[] = {0x13, 0, 0, 0};
    switch (p->symbols->e_machine) {
    case EM_X86_64:
    case EM_386:
        return n >= 1 && at[0] == 0x90;
    case EM_AARCH64:
        return n >= 4 && memcmp(at, aarch64, 4) == 0;
    case EM_RISCV:
        return n >= 2 && ((at[0] == 1 && at[1] == 0) || (n >= 4 && memcmp(at, riscv, 4) == 0));
    default:
        return true; /* unknown: such lines are listed */
    }
}

static bool is_return(const struct gt_arch *arch, const uint8_t *end, size_t n)
{
    struct gt_insn insn;
    for (size_t size = arch->insn_min; size <= 4 && size <= n; size += arch->insn_min) {
        arch->classify(end - size, size, 0, &insn);
        if (insn.kind == GT_INSN_RETURN)
            return true;
    }
    return false;
}

/* A call that the compiler puts there by itself (-fstack-protector). */
static bool checks_stack(const struct gt_coverage_program *p, const struct gt_insn *call)
{
    const struct gt_symbol *to = gt_symbols_find(p->symbols, call->target - p->base);
    return call->target && to && strcmp(to->name, "__stack_chk_fail") == 0;
}

/* Whether the row has an instruction of the kind; false where instructions are not known. */
static bool has_kind(const struct gt_coverage_program *p, const struct gt_coverage_row *row,
                     enum gt_insn_kind kind)
{
    size_t left;
    const uint8_t *bytes = gt_coverage_program_bytes(p, row->lo, &left);
    for (uint64_t at = row->lo; at < row->hi && gt_arch_insn_size_known(p->arch);) {
        struct gt_insn insn;
        size_t size = gt_arch_insn_size(p->arch, bytes + (at - row->lo), row->hi - at);
        p->arch->classify(bytes + (at - row->lo), size, at, &insn);
        if (insn.kind == kind && !checks_stack(p, &insn))
            return true;
        at += size;
    }
    return false;
}

/* The last row of a function leaves it: that is all it does, no object is destroyed. */
static bool is_closing(const struct gt_coverage_program *p, const struct gt_coverage_row *last)
{
    size_t left, size = last->hi - last->lo;
    const uint8_t *bytes = gt_coverage_program_bytes(p, last->lo, &left);
    return p->arch && !is_nop(p, bytes, size) && is_return(p->arch, bytes + size, size) &&
           !has_kind(p, last, GT_INSN_CALL);
}

/* The line of the '}': code without optimisation returns there, whatever `return` it came from; 0
 * where it does not return, or in several lines. */
static uint32_t last_line(const struct gt_coverage_program *p, const struct gt_coverage_row *first,
                          const struct gt_coverage_row *end, const struct function *f)
{
    uint32_t line = 0;
    if (!gt_arch_insn_size_known(p->arch))
        return 0;
    for (const struct gt_coverage_row *r = first; r < end; r++) {
        if (!has_kind(p, r, GT_INSN_RETURN))
            continue;
        if (r->file != f->file || r->line < f->line || (line && r->line != line))
            return 0;
        line = r->line;
    }
    return line;
}

static void fit_function(const struct gt_coverage_program *p, const struct gt_coverage *c,
                         GArray *rows, struct function *f)
{
    size_t from = first_row(rows, f->lo), to = first_row(rows, f->hi);
    if (from >= to)
        return;
    struct gt_coverage_row *first = &g_array_index(rows, struct gt_coverage_row, from);
    struct gt_coverage_row *last = &g_array_index(rows, struct gt_coverage_row, to - 1);
    if (last->hi > f->hi)
        last->hi = f->hi; /* padding */
    if (f->artificial)
        for (struct gt_coverage_row *r = first; r <= last; r++)
            r->listed = false;
    if (first != last && last->hi == f->hi && is_closing(p, last))
        last->listed = false;
    if (!f->line) {
        f->file = first->file;
        f->line = first->line;
    }
    if (first->lo == f->lo) {
        first->file = f->file;
        first->line = f->line;
        first->end = last_line(p, first, last + 1, f);
    }
    if (!f->artificial)
        gt_coverage_flow(p, c, first, last + 1, f->lo, f->hi, f->returns);
}

/* Of optimised code: a first row that is the function's own, for its '{', is in the line that
 * declares it. */
static void fit_entry(GArray *rows, const struct function *f)
{
    const size_t i = first_row(rows, f->lo);
    if (i == rows->len)
        return;
    struct gt_coverage_row *row = &g_array_index(rows, struct gt_coverage_row, i);
    if (row->lo == f->lo && row->first && row->file == f->file && row->line > f->line && f->line)
        row->line = f->line;
}

static int compare_declared(const void *a, const void *b)
{
    const struct gt_coverage_declared *x = a, *y = b;
    return x->lo < y->lo ? -1 : x->lo > y->lo;
}

const struct gt_coverage_declared *gt_coverage_declared_at(const GArray *declared, uint64_t addr)
{
    const struct gt_coverage_declared *of = (const void *)declared->data;
    const size_t i = GT_SEARCH_BELOW(of, declared->len, lo, addr);
    return i < declared->len && of[i].lo == addr ? &of[i] : NULL;
}

static GArray *declared_of(const GArray *functions)
{
    GArray *declared = g_array_new(FALSE, FALSE, sizeof(struct gt_coverage_declared));
    for (guint i = 0; i < functions->len; i++) {
        const struct function *f = &g_array_index(functions, struct function, i);
        const struct gt_coverage_declared d = {f->lo, f->file, f->line, f->artificial, !f->plain};
        if (f->line || f->artificial)
            g_array_append_val(declared, d);
    }
    g_array_sort(declared, compare_declared);
    return declared;
}

GArray *gt_coverage_rows(const struct gt_coverage_program *p, const struct gt_coverage *c,
                         struct gt_coverage_names *names, GArray **declared)
{
    struct collection all = {
        .program = p,
        .names = names,
        .rows = g_array_new(FALSE, FALSE, sizeof(struct gt_coverage_row)),
        .functions = g_array_new(FALSE, FALSE, sizeof(struct function)),
    };
    const struct gt_lines_visitor visitor = {&all, visit_row, visit_function};
    if (p->lines)
        gt_lines_walk(p->lines, &visitor);
    g_array_sort(all.rows, compare_rows);
    *declared = declared_of(all.functions);
    for (guint i = 0; i < all.functions->len; i++) {
        struct function *f = &g_array_index(all.functions, struct function, i);
        if (f->plain)
            fit_function(p, c, all.rows, f);
        else
            fit_entry(all.rows, f);
    }
    g_array_unref(all.functions);
    return all.rows;
}
