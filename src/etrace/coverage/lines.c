/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts by line and function: see lines.h. */
#include "etrace/coverage/lines.h"

#include "base/page.h"
#include "etrace/coverage/rows.h"
#include "guest/arch/insn_size.h"

#include <inttypes.h>
#include <string.h>

#define NO_FUNCTION UINT32_MAX

struct sweep {
    struct gt_coverage_report *out;
    const struct gt_coverage_program *p;
    const struct gt_coverage *c;
    struct gt_coverage_table table;
    uint32_t *function; /* of each symbol: index into out->functions, or NO_FUNCTION */
    GHashTable *placed; /* functions by their declaration: "FILE:LINE:NAME" to their index */
    uint64_t done;      /* costs are counted up to here */
};

/* ---- functions ----------------------------------------------------------------------------- */

static uint32_t add_function(struct sweep *s, const char *name, uint64_t calls)
{
    const struct gt_coverage_function f = {.name = name, .calls = calls};
    g_array_append_val(s->out->functions, f);
    return s->out->functions->len - 1;
}

/* GCC names a copy of a function NAME.constprop.0, one that it has changed NAME.isra.0, and so on.
 */
static const char *copied_name(const char *symbol, const char *name)
{
    const size_t n = strcspn(symbol, ".");
    const bool same =
        g_str_has_prefix(symbol, "_Z") || (name && strncmp(symbol, name, n) == 0 && !name[n]);
    if (!symbol[n] || n == 0 || !same)
        return symbol;
    g_autofree char *whole = g_strndup(symbol, n);
    return g_intern_string(whole);
}

static char *key_of(const char *name, uint32_t file, uint32_t line)
{
    return g_strdup_printf("%" PRIu32 ":%" PRIu32 ":%s", file, line, name);
}

/* A function of optimised code is where the source declares it: its first row is often of a
 * function that is inlined there. */
static struct gt_coverage_function *placed_function(struct sweep *s, const char *name,
                                                    uint32_t file, uint32_t line, uint32_t *number)
{
    char *key = key_of(name, file, line);
    void *known;
    if (g_hash_table_lookup_extended(s->placed, key, NULL, &known)) {
        g_free(key);
        *number = GPOINTER_TO_UINT(known);
    } else {
        *number = add_function(s, name, 0);
        g_hash_table_insert(s->placed, key, GUINT_TO_POINTER(*number));
    }
    struct gt_coverage_function *f =
        &g_array_index(s->out->functions, struct gt_coverage_function, *number);
    f->is_placed = true;
    f->file = file;
    f->line = line;
    return f;
}

/* All copies of a function are one. GCC does not say the mangled name of a static function: inlined
 * copies are found by the name that it says. */
static uint32_t function_of(struct sweep *s, const struct gt_elf_symbol *symbol)
{
    const uint64_t entry = symbol->addr + s->p->base, calls = gt_coverage_at(s->c, entry);
    const struct gt_coverage_declared *d = gt_coverage_declared_at(s->table.declared, entry);
    uint32_t number;
    if (!d || !d->optimised || d->artificial) {
        number = add_function(s, symbol->name, calls);
        g_array_index(s->out->functions, struct gt_coverage_function, number).is_placed =
            d && d->optimised;
        return number;
    }
    const char *name = copied_name(symbol->name, d->name);
    struct gt_coverage_function *f = placed_function(s, name, d->file, d->line, &number);
    char *key = d->name ? key_of(d->name, d->file, d->line) : NULL;
    if (key && !g_hash_table_contains(s->placed, key))
        g_hash_table_insert(s->placed, g_steal_pointer(&key), GUINT_TO_POINTER(number));
    g_free(key);
    /* the rest of a function whose beginning is inlined: who calls it is counted there */
    if (name == symbol->name || !strstr(symbol->name + strlen(name), ".part."))
        f->calls += calls;
    return number;
}

/* As in gcov, the line that declares a function is listed, with its calls. */
static void add_declarations(struct gt_coverage_report *out)
{
    for (guint i = 0; i < out->functions->len; i++) {
        const struct gt_coverage_function *f =
            &g_array_index(out->functions, struct gt_coverage_function, i);
        const struct gt_coverage_line line = {.file = f->file,
                                              .line = f->line,
                                              .function = i,
                                              .ends = true,
                                              .listed = true,
                                              .strong = true,
                                              .declares = true,
                                              .count = f->calls};
        if (f->is_placed && f->line)
            g_array_append_val(out->lines, line);
    }
}

/* What GCC moved out of a function is the function: NAME.cold. */
static const struct gt_elf_symbol *whole_function(const struct gt_elf_symbols *symbols,
                                                  const struct gt_elf_symbol *symbol)
{
    uint64_t rel;
    if (!g_str_has_suffix(symbol->name, ".cold"))
        return symbol;
    g_autofree char *name = g_strndup(symbol->name, strlen(symbol->name) - strlen(".cold"));
    const struct gt_elf_symbol *whole =
        gt_elf_symbols_by_name(symbols, name, &rel) ? gt_elf_symbols_find(symbols, rel) : NULL;
    return whole ? whole : symbol;
}

/* A piece of a function's code. */
struct piece {
    uint64_t end;
    bool idle; /* it was never entered */
};

/* The function that has addr. */
static uint32_t function_at(struct sweep *s, uint64_t addr, struct piece *piece)
{
    const struct gt_elf_symbols *symbols = s->p->symbols;
    const struct gt_elf_symbol *at = gt_elf_symbols_find(symbols, addr - s->p->base);
    if (!at) {
        *piece = (struct piece){addr + 1, false};
        while (piece->end < addr + GT_PAGE &&
               !gt_elf_symbols_find(symbols, piece->end - s->p->base))
            ++piece->end;
        return 0;
    }
    piece->end = at->addr + at->size + s->p->base;
    at = whole_function(symbols, at);
    piece->idle = gt_coverage_at(s->c, at->addr + s->p->base) == 0;
    uint32_t *number = &s->function[at - symbols->sym];
    if (*number == NO_FUNCTION)
        *number = function_of(s, at);
    return *number;
}

static bool is_entry(const struct sweep *s, uint64_t addr)
{
    const struct gt_elf_symbol *at = gt_elf_symbols_find(s->p->symbols, addr - s->p->base);
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
                      uint32_t function, bool idle)
{
    struct gt_coverage_line line = {.file = row->file,
                                    .line = row->line,
                                    .function = function,
                                    .column = row->lo == lo ? row->column : 0,
                                    .ends = row->ends || !row->counted,
                                    .listed = row->listed,
                                    .strong = row->statement,
                                    .idle = idle,
                                    .count = row->count,
                                    .cost = cost_of(s, lo, hi)};
    struct gt_coverage_function *f =
        &g_array_index(s->out->functions, struct gt_coverage_function, function);
    if (line.column)
        line.count = gt_coverage_at(s->c, lo);
    else if (row->listed && !row->counted)
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
        struct piece piece;
        uint32_t function = function_at(s, lo, &piece);
        hi = MIN(piece.end, row->hi);
        add_piece(s, row, lo, hi, function, piece.idle);
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

static void add_statements(struct sweep *s)
{
    for (guint i = 0; i < s->table.statements->len; i++) {
        const struct gt_coverage_point *at =
            &g_array_index(s->table.statements, struct gt_coverage_point, i);
        struct piece piece;
        if (!at->line)
            continue;
        const uint32_t function = function_at(s, at->lo, &piece);
        const struct gt_coverage_line line = {.file = at->file,
                                              .line = at->line,
                                              .function = function,
                                              .column = at->column,
                                              .ends = true,
                                              .listed = true,
                                              .strong = true,
                                              .idle = piece.idle,
                                              .count = gt_coverage_at(s->c, at->lo)};
        g_array_append_val(s->out->lines, line);
    }
}

/* Functions that are inlined; they run in the lines that call them, too. */
static void add_inlined(struct sweep *s)
{
    for (guint i = 0; i < s->table.inlined->len; i++) {
        const struct gt_coverage_point *at =
            &g_array_index(s->table.inlined, struct gt_coverage_point, i);
        const uint64_t count = gt_coverage_at(s->c, at->lo);
        uint32_t number;
        struct piece piece;
        struct gt_coverage_function *f = placed_function(s, at->name, at->file, at->line, &number);
        f->calls += count;
        f->is_inlined |= count != 0;
        const struct gt_coverage_line call = {.file = at->call_file,
                                              .line = at->call_line,
                                              .function = function_at(s, at->lo, &piece),
                                              .ends = true,
                                              .listed = true,
                                              .count = count};
        if (call.line)
            g_array_append_val(s->out->lines, call);
    }
}

static void sweep_program(struct sweep *s, struct gt_coverage_names *names)
{
    gt_coverage_table_make(s->p, s->c, names, &s->table);
    const GArray *rows = s->table.rows;
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
    add_statements(s);
    add_inlined(s);
    g_free(s->function);
    gt_coverage_table_clear(&s->table);
}

/* ---- the report ---------------------------------------------------------------------------- */

static int compare_lines(const void *a, const void *b)
{
    const struct gt_coverage_line *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->function < y->function ? -1 : x->function > y->function;
}

static int compare_statements(const void *a, const void *b)
{
    const struct gt_coverage_line *x = a, *y = b;
    const int order = compare_lines(x, y);
    return order ? order : x->column < y->column ? -1 : x->column > y->column;
}

/* The count of a statement is that of all its copies; of a line, that of the statement that ran the
 * most. */
static void merge_counts(struct gt_coverage_line *to, const struct gt_coverage_line *line)
{
    if (to->strong != line->strong)
        to->count = to->strong ? to->count : line->count;
    else if (to->column && to->column == line->column)
        to->count += MIN(line->count, UINT64_MAX - to->count);
    else
        to->count = MAX(to->count, line->count);
    to->strong |= line->strong;
    to->idle &= line->idle;
    to->declares |= line->declares;
    to->cost += line->cost;
    to->listed |= line->listed;
    to->ends |= line->ends;
}

/* Sorts, and makes one item of neighbours that compare as equal. */
static void merge_equal(GArray *lines, GCompareFunc compare)
{
    struct gt_coverage_line *line = (struct gt_coverage_line *)(void *)lines->data;
    guint n = 0;
    g_array_sort(lines, compare);
    for (guint i = 0; i < lines->len; i++) {
        if (n && compare(&line[n - 1], &line[i]) == 0)
            merge_counts(&line[n - 1], &line[i]);
        else
            line[n++] = line[i];
    }
    g_array_set_size(lines, n);
}

/* One item for what a function has of a line. */
static void merge_lines(GArray *lines)
{
    merge_equal(lines, compare_statements);
    for (guint i = 0; i < lines->len; i++)
        g_array_index(lines, struct gt_coverage_line, i).column = 0;
    merge_equal(lines, compare_lines);
}

/* Of a function that ran where it is inlined, code that was not entered does not say what has not
 * run. */
static void leave_out_unused(struct gt_coverage_report *out)
{
    for (guint i = 0; i < out->lines->len; i++) {
        struct gt_coverage_line *line = &g_array_index(out->lines, struct gt_coverage_line, i);
        const struct gt_coverage_function *f =
            &g_array_index(out->functions, struct gt_coverage_function, line->function);
        if (f->is_inlined && line->idle && !line->count)
            line->listed = false;
    }
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
        struct gt_coverage_line *line = &g_array_index(out->lines, struct gt_coverage_line, i);
        line->file = number[line->file];
    }
    for (guint i = 0; i < out->functions->len; i++) {
        struct gt_coverage_function *f =
            &g_array_index(out->functions, struct gt_coverage_function, i);
        f->file = number[f->file];
    }
    g_ptr_array_set_free_func(names->names, NULL);
}

/* Tells which functions begin in the line of another. */
static void find_shared_lines(GArray *functions)
{
    struct gt_coverage_function *f = (struct gt_coverage_function *)(void *)functions->data;
    g_autoptr(GHashTable) first = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    for (guint i = 0; i < functions->len; i++) {
        const gint64 key = (gint64)((uint64_t)f[i].file << 32 | f[i].line);
        if (!f[i].line)
            continue;
        struct gt_coverage_function *other = g_hash_table_lookup(first, &key);
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
        const struct gt_coverage_line *line =
            &g_array_index(out->lines, struct gt_coverage_line, i);
        if (!is_excluded(of[line->file], line->line))
            g_array_index(out->lines, struct gt_coverage_line, n++) = *line;
    }
    g_array_set_size(out->lines, n);
    for (guint i = 0; i < out->functions->len; i++) {
        struct gt_coverage_function *f =
            &g_array_index(out->functions, struct gt_coverage_function, i);
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
        g_array_new(FALSE, FALSE, sizeof(struct gt_coverage_function)),
        g_array_new(FALSE, FALSE, sizeof(struct gt_coverage_line)),
        false,
    };
    for (size_t i = 0; i < n; i++)
        out->in_bytes |= !gt_arch_insn_size_known(program[i].arch);
    struct sweep s = {
        .out = out, .c = c, .placed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
    add_function(&s, "???", 0);
    for (size_t i = 0; i < n; i++) {
        s.p = &program[i];
        sweep_program(&s, &names);
    }
    g_hash_table_unref(s.placed);
    add_declarations(out);
    sort_files(&names, out);
    gt_coverage_names_clear(&names);
    merge_lines(out->lines);
    leave_out_unused(out);
    find_shared_lines(out->functions);
    leave_out(out, exclude);
}

void gt_coverage_report_clear(struct gt_coverage_report *r)
{
    g_array_unref(r->lines);
    g_array_unref(r->functions);
    g_ptr_array_unref(r->files);
}
