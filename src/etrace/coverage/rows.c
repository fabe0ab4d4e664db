/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Line tables that match gcov: see rows.h. */
#include "base/search.h"
#include "etrace/coverage/flow.h"
#include "guest/arch/insn_size.h"

#include <string.h>

struct function {
    uint64_t lo, hi;
    uint32_t file, line; /* line 0: where its first row is */
    const char *name;
    bool plain, artificial, returns;
};

struct collection {
    const struct gt_coverage_program *program;
    struct gt_coverage_names *names;
    struct gt_coverage_table *out;
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

static bool visit_row(void *self, const struct gt_elf_line_row *row)
{
    struct collection *c = self;
    uint64_t lo = row->lo + c->program->base;
    size_t left;
    /* the linker leaves rows of code that it discarded */
    if (!gt_coverage_program_bytes(c->program, lo, &left))
        return true;
    const uint64_t size = MIN(row->hi - row->lo, left);
    const uint32_t file = number_of(c, row->file);
    if (size == 0) {
        const struct gt_coverage_point point = {lo, file, row->line, row->column,
                                                c->out->statements->len};
        g_array_append_val(c->out->statements, point);
        return true;
    }
    const struct gt_coverage_row r = {lo,
                                      lo + size,
                                      file,
                                      row->line,
                                      row->column,
                                      .listed = true,
                                      .statement = row->plain || row->statement};
    g_array_append_val(c->out->rows, r);
    return true;
}

static bool visit_inlined(void *self, const struct gt_elf_line_inlined *inlined)
{
    struct collection *c = self;
    size_t left;
    if (!gt_coverage_program_bytes(c->program, inlined->entry + c->program->base, &left))
        return true;
    const struct gt_coverage_point point = {
        inlined->entry + c->program->base,
        number_of(c, inlined->file),
        inlined->line,
        0,
        c->out->inlined->len,
        inlined->name,
        inlined->call_file ? number_of(c, inlined->call_file) : 0,
        inlined->call_file ? inlined->call_line : 0,
    };
    g_array_append_val(c->out->inlined, point);
    return true;
}

static bool visit_function(void *self, const struct gt_elf_line_function *function)
{
    struct collection *c = self;
    uint64_t base = c->program->base, hi = function->hi;
    if (hi == function->lo) {
        const struct gt_elf_symbol *symbol = gt_elf_symbols_find(c->program->symbols, hi);
        if (!symbol || symbol->addr != hi)
            return true;
        hi += symbol->size;
    }
    const struct function f = {
        function->lo + base,  hi + base,        function->file ? number_of(c, function->file) : 0,
        function->line,       function->name,   function->plain,
        function->artificial, function->returns};
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
    struct gt_arch_insn insn;
    for (size_t size = arch->insn_min; size <= 4 && size <= n; size += arch->insn_min) {
        arch->classify(end - size, size, 0, &insn);
        if (insn.kind == GT_INSN_RETURN)
            return true;
    }
    return false;
}

/* A call that the compiler puts there by itself (-fstack-protector). */
static bool checks_stack(const struct gt_coverage_program *p, const struct gt_arch_insn *call)
{
    const struct gt_elf_symbol *to = gt_elf_symbols_find(p->symbols, call->target - p->base);
    return call->target && to && strcmp(to->name, "__stack_chk_fail") == 0;
}

/* Whether the row has an instruction of the kind; false where instructions are not known. */
static bool has_kind(const struct gt_coverage_program *p, const struct gt_coverage_row *row,
                     enum gt_arch_insn_kind kind)
{
    size_t left;
    const uint8_t *bytes = gt_coverage_program_bytes(p, row->lo, &left);
    for (uint64_t at = row->lo; at < row->hi && gt_arch_insn_size_known(p->arch);) {
        struct gt_arch_insn insn;
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

/* ---- optimised code ------------------------------------------------------------------------ */

static int compare_points(const void *a, const void *b)
{
    const struct gt_coverage_point *x = a, *y = b;
    if (x->lo != y->lo)
        return x->lo < y->lo ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int compare_places(const void *a, const void *b)
{
    const struct function *x = *(struct function *const *)a, *y = *(struct function *const *)b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* Functions of optimised code by file and line. */
static GPtrArray *places_of(GArray *functions)
{
    GPtrArray *places = g_ptr_array_new();
    for (guint i = 0; i < functions->len; i++) {
        struct function *f = &g_array_index(functions, struct function, i);
        if (!f->plain && f->line)
            g_ptr_array_add(places, f);
    }
    qsort(places->pdata, places->len, sizeof(void *), compare_places);
    return places;
}

/* The line is behind f's first one, and no other function begins between. */
static bool is_line_of(const GPtrArray *places, const struct function *f, uint32_t file,
                       uint32_t line)
{
    guint lo = 0, hi = places->len;
    if (file != f->file || line < f->line)
        return false;
    const struct function wanted = {.file = file, .line = line}, *at = &wanted;
    while (lo < hi) {
        const guint middle = lo + (hi - lo) / 2;
        if (compare_places(&places->pdata[middle], &at) <= 0)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo && ((const struct function *)places->pdata[lo - 1])->line == f->line;
}

/* The code that saves registers and the like is in the line of the '{'. */
static void leave_out_brace(const struct gt_coverage_table *t, const struct function *f,
                            uint32_t line)
{
    for (size_t i = first_row(t->rows, f->lo); i < t->rows->len; i++) {
        struct gt_coverage_row *row = &g_array_index(t->rows, struct gt_coverage_row, i);
        if (row->lo >= f->hi)
            return;
        if (row->file == f->file && row->line == line && line > f->line && !row->statement)
            row->listed = false;
    }
}

/* The row of a function's '{' is in the line that declares it. What stands before it at the same
 * address are statements without code at the end of the function before. */
static void fit_entry(const struct gt_coverage_table *t, const GPtrArray *places,
                      const struct function *f)
{
    struct gt_coverage_point *p = (struct gt_coverage_point *)(void *)t->statements->data;
    const size_t n = t->statements->len, first = GT_SEARCH_BELOW(p, n, lo, f->lo);
    size_t own = first;
    while (own < n && p[own].lo == f->lo && !is_line_of(places, f, p[own].file, p[own].line))
        own++;
    const size_t i = first_row(t->rows, f->lo);
    struct gt_coverage_row *row =
        i < t->rows->len ? &g_array_index(t->rows, struct gt_coverage_row, i) : NULL;
    uint32_t *line = NULL;
    if (own < n && p[own].lo == f->lo)
        line = &p[own].line;
    else if (row && row->lo == f->lo && is_line_of(places, f, row->file, row->line))
        line = &row->line;
    else
        return;
    leave_out_brace(t, f, *line);
    *line = f->line;
    for (size_t k = first; k < own; k++)
        p[k].line = 0;
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
        const struct gt_coverage_declared d = {f->lo,   f->file,       f->line,
                                               f->name, f->artificial, !f->plain};
        if (f->line || f->artificial)
            g_array_append_val(declared, d);
    }
    g_array_sort(declared, compare_declared);
    return declared;
}

void gt_coverage_table_make(const struct gt_coverage_program *p, const struct gt_coverage *c,
                            struct gt_coverage_names *names, struct gt_coverage_table *out)
{
    struct collection all = {
        .program = p,
        .names = names,
        .out = out,
        .functions = g_array_new(FALSE, FALSE, sizeof(struct function)),
    };
    const struct gt_elf_lines_visitor visitor = {&all, visit_row, visit_function, visit_inlined};
    out->rows = g_array_new(FALSE, FALSE, sizeof(struct gt_coverage_row));
    out->statements = g_array_new(FALSE, FALSE, sizeof(struct gt_coverage_point));
    out->inlined = g_array_new(FALSE, FALSE, sizeof(struct gt_coverage_point));
    if (p->lines)
        gt_elf_lines_walk(p->lines, &visitor);
    g_array_sort(out->rows, compare_rows);
    g_array_sort(out->statements, compare_points);
    out->declared = declared_of(all.functions);
    GPtrArray *places = places_of(all.functions);
    for (guint i = 0; i < all.functions->len; i++) {
        struct function *f = &g_array_index(all.functions, struct function, i);
        if (f->plain)
            fit_function(p, c, out->rows, f);
        else if (f->line)
            fit_entry(out, places, f);
    }
    g_ptr_array_unref(places);
    g_array_unref(all.functions);
}

void gt_coverage_table_clear(struct gt_coverage_table *t)
{
    g_array_unref(t->rows);
    g_array_unref(t->declared);
    g_array_unref(t->statements);
    g_array_unref(t->inlined);
}
