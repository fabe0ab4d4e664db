/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of functions: see function_lines.h. The table is read twice. The first pass finds where
 * functions begin; with that the second one can tell, between two lines of a function, whether
 * another begins there. Of both only the lines of the function at hand are kept.
 */
#include "guest/elf/function_lines.h"

#include "base/array.h"
#include "base/search.h"
#include "guest/elf/comp_dirs.h"
#include "guest/elf/line_program.h"
#include "guest/elf/symbols.h"

#include <gelf.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNIT_MAX (UINT64_C(256) << 20) /* bytes of the largest unit that is read */

enum {
    NO_FUNCTION = -1,
    ROW_FUNCTIONS = 64, /* that one row is for; a damaged one may be for all there are */
};

/* ---- texts that are kept once each ---------------------------------------------------------- */

/* A search tree of libc, whose depth hostile texts cannot increase. */
struct gt_elf_function_texts {
    void *root;
};

static int compare_texts(const void *a, const void *b)
{
    return strcmp(a, b);
}

static struct gt_elf_function_texts *texts_new(void)
{
    return calloc(1, sizeof(struct gt_elf_function_texts));
}

/* The copy of the text, the same for equal texts; NULL: no memory. */
static const char *texts_keep(struct gt_elf_function_texts *t, const char *text)
{
    char **there = tfind(text, &t->root, compare_texts);
    if (there)
        return *there;
    char *copy = strdup(text);
    if (copy && tsearch(copy, &t->root, compare_texts))
        return copy;
    free(copy);
    return NULL;
}

static void texts_free(struct gt_elf_function_texts *t)
{
    if (t)
        tdestroy(t->root, free);
    free(t);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Where a function begins. */
struct start {
    const char *file;
    uint32_t line;
};

struct load {
    struct gt_elf file, debug; /* `debug` is open: it has the lines */
    const struct gt_elf_code_span *function;
    struct gt_elf_function_lines *out;
    struct gt_elf_debug_section lines;
    struct gt_elf_comp_dirs dirs;
    bool dirs_read;
    struct gt_elf_line_program program;
    uint8_t *unit;
    size_t unit_room;
    const char *dir;     /* of the unit; NULL: not known, or the table has it */
    bool code_at_0;      /* the file has code at address 0: else that is code that was left out */
    struct start *start; /* sorted */
    size_t n_starts;
    /* the newest file that was looked up */
    uint64_t file_number;
    const char *file_text;
    /* second pass: the function at hand */
    ptrdiff_t at;
    uint32_t *line;
    size_t n_lines, room;
    int status; /* GT_E_NOMEM */
};

/* ---- the file ------------------------------------------------------------------------------ */

static int open_lines(struct load *l, const char *path, const char *const *roots,
                      struct gt_error *err)
{
    GElf_Ehdr header;
    char *debug_path = NULL;
    if (!gelf_getehdr(l->file.elf, &header) || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_type == ET_REL)
        return gt_error_set(err, GT_E_UNSUPPORTED, "%s: not linked, or big-endian", path);
    gt_elf_debug_section_find(&l->file, ".debug_line", &l->lines);
    if (l->lines.size)
        return 0;
    int status = gt_elf_open_debug(path, l->file.elf, roots, &l->debug, &debug_path);
    free(debug_path);
    if (status == 1)
        gt_elf_debug_section_find(&l->debug, ".debug_line", &l->lines);
    if (status < 0)
        return gt_error_set(err, status, "%s: out of memory", path);
    if (!l->lines.size)
        return gt_error_set(err, GT_E_NOT_FOUND, "%s: no line table and no debug file", path);
    return 0;
}

static const struct gt_elf *debug_elf(const struct load *l)
{
    return l->debug.elf ? &l->debug : &l->file;
}

static void find_sections(struct load *l)
{
    size_t n = 0;
    GElf_Phdr header;
    gt_elf_debug_section_find(debug_elf(l), ".debug_str", &l->program.strings);
    gt_elf_debug_section_find(debug_elf(l), ".debug_line_str", &l->program.line_strings);
    if (elf_getphdrnum(l->file.elf, &n) != 0)
        return;
    for (size_t i = 0; i < n && i < 65536; i++)
        if (gelf_getphdr(l->file.elf, (int)i, &header) && header.p_type == PT_LOAD &&
            header.p_flags & PF_X && header.p_vaddr == 0 && header.p_offset != 0)
            l->code_at_0 = true;
}

static bool read_unit(struct load *l, uint64_t at, uint64_t size)
{
    if (size > UNIT_MAX)
        return false;
    if (size > l->unit_room) {
        uint8_t *larger = realloc(l->unit, (size_t)size);
        if (!larger) {
            l->status = GT_E_NOMEM;
            return false;
        }
        l->unit = larger;
        l->unit_room = (size_t)size;
    }
    return gt_elf_debug_section_copy(&l->lines, at, l->unit, (size_t)size) == size;
}

static void find_dir(struct load *l, uint64_t at)
{
    l->dir = NULL;
    if (l->program.version >= 5)
        return;
    if (!l->dirs_read && gt_elf_comp_dirs_read(debug_elf(l), &l->dirs) < 0)
        l->status = GT_E_NOMEM;
    l->dirs_read = true;
    l->dir = gt_elf_comp_dirs_find(&l->dirs, at);
}

/* Runs the programs of all units. */
static void run_units(struct load *l, void (*span)(void *self, const struct gt_elf_line_span *s))
{
    uint64_t at = 0;
    uint8_t head[12] = {0};
    while (l->status == 0 && gt_elf_debug_section_copy(&l->lines, at, head, sizeof head) >= 4) {
        struct gt_bytes_reader r;
        gt_bytes_reader_init(&r, head, sizeof head);
        uint64_t size = gt_bytes_read_u32(&r), first = at;
        bool wide = size == UINT32_MAX;
        if (wide)
            size = gt_bytes_read_u64(&r);
        at += wide ? 12 : 4;
        if (at > l->lines.size || size > l->lines.size - at)
            return;
        l->file_number = UINT64_MAX;
        int status = read_unit(l, at, size)
                         ? gt_elf_line_program_begin(&l->program, l->unit, (size_t)size, wide)
                         : GT_E_FORMAT;
        if (status == GT_E_NOMEM)
            l->status = status;
        if (status == 0 && l->status == 0) {
            find_dir(l, first);
            gt_elf_line_program_run(&l->program, span, l);
        }
        at += size;
    }
}

/* The path of a file of the unit; NULL: not known. */
static const char *file_of(struct load *l, uint64_t number)
{
    char path[GT_DEBUG_TEXT_MAX];
    if (number == l->file_number)
        return l->file_text;
    l->file_number = number;
    l->file_text = NULL;
    if (gt_elf_line_program_path(&l->program, number, l->dir, path)) {
        l->file_text = texts_keep(l->out->texts, path);
        if (!l->file_text)
            l->status = GT_E_NOMEM;
    }
    return l->file_text;
}

/* The linker leaves rows of code that it has left out at address 0, or at the end. */
static bool is_left_out(const struct load *l, const struct gt_elf_line_span *s)
{
    return s->line == 0 || s->sequence >= UINT64_MAX - 1 || (s->sequence == 0 && !l->code_at_0);
}

/* ---- the first pass: where functions begin -------------------------------------------------- */

/* The row at the entry counts, and of several the first; else the one that the entry is in. */
static void note_start(void *self, const struct gt_elf_line_span *s)
{
    struct load *l = self;
    size_t n = l->out->n, i = GT_SEARCH_BELOW(l->function, n, lo, s->lo);
    if (is_left_out(l, s))
        return;
    bool exact = i < n && l->function[i].lo == s->lo;
    if (exact && !l->out->of[i].all) {
        const char *file = file_of(l, s->file);
        if (file)
            l->out->of[i] = (struct gt_elf_function_line){file, s->line, ""};
    }
    i += exact;
    for (size_t k = 0; i < n && l->function[i].lo < s->hi && k < ROW_FUNCTIONS; i++, k++)
        if (!l->out->of[i].file)
            l->out->of[i] = (struct gt_elf_function_line){file_of(l, s->file), s->line, NULL};
}

static int compare_starts(const void *a, const void *b)
{
    const struct start *x = a, *y = b;
    if (x->file != y->file)
        return (uintptr_t)x->file < (uintptr_t)y->file ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

static bool sort_starts(struct load *l)
{
    l->start = calloc(l->out->n + 1, sizeof *l->start);
    if (!l->start)
        return false;
    for (size_t i = 0; i < l->out->n; i++) {
        const struct gt_elf_function_line *f = &l->out->of[i];
        if (f->file && !l->function[i].part)
            l->start[l->n_starts++] = (struct start){f->file, f->line};
    }
    qsort(l->start, l->n_starts, sizeof *l->start, compare_starts);
    return true;
}

/* True: a function of the file begins after line a, at b or before. */
static bool begins_between(const struct load *l, const char *file, uint32_t a, uint32_t b)
{
    size_t lo = 0, hi = l->n_starts;
    const struct start wanted = {file, a};
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (compare_starts(&l->start[middle], &wanted) <= 0)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < l->n_starts && l->start[lo].file == file && l->start[lo].line <= b;
}

/* ---- the second pass: all lines of each ----------------------------------------------------- */

static bool keep_line(struct load *l, uint32_t line)
{
    if (l->n_lines && l->line[l->n_lines - 1] == line)
        return true;
    if (!GT_ARRAY_GROW(&l->line, &l->room, l->n_lines + 1))
        return false;
    l->line[l->n_lines++] = line;
    return true;
}

static int compare_lines(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Writes the lines at hand as ranges; the last one takes what there is no room for. */
static const char *write_ranges(struct load *l, const char *file)
{
    char text[GT_LINE_RANGES_MAX * 24];
    size_t used = 0, ranges = 0;
    qsort(l->line, l->n_lines, sizeof *l->line, compare_lines);
    for (size_t i = 0, last; i < l->n_lines; i = last + 1) {
        bool rest = ++ranges == GT_LINE_RANGES_MAX;
        for (last = i; last + 1 < l->n_lines; last++)
            if (!rest && begins_between(l, file, l->line[last], l->line[last + 1]))
                break;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRIu32, i ? "," : "",
                                 l->line[i]);
        if (l->line[last] != l->line[i])
            used += (size_t)snprintf(text + used, sizeof text - used, "-%" PRIu32, l->line[last]);
    }
    return texts_keep(l->out->texts, text);
}

static void finish_function(struct load *l)
{
    if (l->at == NO_FUNCTION)
        return;
    struct gt_elf_function_line *f = &l->out->of[l->at];
    if (!keep_line(l, f->line) || !(f->all = write_ranges(l, f->file)))
        l->status = GT_E_NOMEM;
    l->n_lines = 0;
    l->at = NO_FUNCTION;
}

/* A function whose code is in several pieces (another unit has rows of it) has the lines of the
 * first. */
static void begin_function(struct load *l, size_t i)
{
    finish_function(l);
    const struct gt_elf_function_line *f = &l->out->of[i];
    if (f->file && !(f->all && *f->all))
        l->at = (ptrdiff_t)i;
}

static void note_line(void *self, const struct gt_elf_line_span *s)
{
    struct load *l = self;
    size_t n = l->out->n, i = GT_SEARCH_UP_TO(l->function, n, lo, s->lo);
    uint64_t hi = s->hi > s->lo ? s->hi : s->lo + 1; /* of code that the compiler has moved, too */
    if (l->status < 0 || is_left_out(l, s))
        return;
    if (!i || l->function[i - 1].hi <= s->lo)
        i++; /* before the next one, if the row goes as far */
    i--;
    for (size_t k = 0; i < n && l->function[i].lo < hi && k < ROW_FUNCTIONS; i++, k++) {
        if (l->at != (ptrdiff_t)i)
            begin_function(l, i);
        if (l->at == (ptrdiff_t)i && file_of(l, s->file) == l->out->of[i].file &&
            !keep_line(l, s->line))
            l->status = GT_E_NOMEM;
    }
}

/* ---- all ------------------------------------------------------------------------------------ */

static void read_lines(struct load *l)
{
    find_sections(l);
    run_units(l, note_start);
    for (size_t i = 0; i < l->out->n; i++)
        l->out->of[i].all = NULL;
    if (l->status == 0 && !sort_starts(l))
        l->status = GT_E_NOMEM;
    l->at = NO_FUNCTION;
    if (l->status == 0)
        run_units(l, note_line);
    if (l->status == 0)
        finish_function(l);
}

static void close_files(struct load *l)
{
    gt_elf_line_program_finish(&l->program);
    gt_elf_comp_dirs_free(&l->dirs);
    gt_elf_close(&l->debug);
    gt_elf_close(&l->file);
    free(l->unit);
    free(l->start);
    free(l->line);
}

static struct gt_elf_function_lines *new_lines(size_t n)
{
    struct gt_elf_function_lines *out = calloc(1, sizeof *out);
    if (!out)
        return NULL;
    out->n = n;
    out->of = calloc(n + 1, sizeof *out->of);
    out->texts = texts_new();
    if (out->of && out->texts)
        return out;
    gt_elf_function_lines_free(out);
    return NULL;
}

int gt_elf_function_lines_load(const char *path, const char *const *debug_roots,
                               const struct gt_elf_code_span *function, size_t n,
                               struct gt_elf_function_lines **out, struct gt_error *err)
{
    struct load l = {.file.fd = -1, .debug.fd = -1, .function = function};
    *out = NULL;
    int status = gt_elf_open(path, &l.file, err);
    if (status == 0)
        status = open_lines(&l, path, debug_roots ? debug_roots : gt_elf_debug_roots_default, err);
    if (status == 0) {
        l.out = new_lines(n);
        if (l.out)
            read_lines(&l);
        if (!l.out || l.status < 0)
            status = gt_error_set(err, GT_E_NOMEM, "%s: out of memory", path);
    }
    close_files(&l);
    if (status < 0)
        gt_elf_function_lines_free(l.out);
    else
        *out = l.out;
    return status < 0 ? status : 0;
}

void gt_elf_function_lines_free(struct gt_elf_function_lines *l)
{
    if (!l)
        return;
    texts_free(l->texts);
    free(l->of);
    free(l);
}
