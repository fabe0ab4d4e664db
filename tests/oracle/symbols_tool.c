/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the symbol reader says of a file, for symbols_check.py.
 *
 *   symbols_tool [--root DIR] FILE           the functions, one a line
 *   symbols_tool [--root DIR] --lines FILE   the source line of each relative address on stdin
 *   symbols_tool [--root DIR] --functions FILE   each function's source: LO HI LINE LINES FILE,
 * link addresses symbols_tool --cut FILE                  loads every prefix of the file; prints
 * how many loaded
 *
 * Output of the first form, numbers in hexadecimal, addresses relative:
 *   file BASE SIZE TEXT_LO TEXT_HI BUILD_ID|- DEBUG_PATH|-
 *   plt LO HI
 *   sym ADDR SIZE TYPE NAME
 *   alias ADDR 0 TYPE NAME
 */
#include "guest/elf/function_lines.h"
#include "guest/elf/lines.h"
#include "guest/elf/symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(const struct gt_error *err)
{
    fprintf(stderr, "symbols_tool: %s\n", err->text);
    return 1;
}

static void print_symbols(const char *what, const struct gt_elf_symbol *sym, size_t n)
{
    for (size_t i = 0; i < n; i++)
        printf("%s %" PRIx64 " %" PRIx64 " %c %s\n", what, sym[i].addr, sym[i].size, sym[i].type,
               sym[i].name);
}

static int print_file(const char *path, const char *const *roots)
{
    struct gt_elf_symbols *s;
    struct gt_error err;

    if (gt_elf_symbols_load_with(path, roots, &s, &err) != GT_OK)
        return fail(&err);
    printf("file %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %s %s\n", s->load_base,
           s->load_size, s->text_lo, s->text_hi, s->build_id[0] ? s->build_id : "-",
           s->debug_path ? s->debug_path : "-");
    for (int i = 0; i < 4; i++)
        if (s->plt_hi[i])
            printf("plt %" PRIx64 " %" PRIx64 "\n", s->plt_lo[i], s->plt_hi[i]);
    print_symbols("sym", s->sym, s->n_sym);
    print_symbols("alias", s->alias, s->n_alias);
    gt_elf_symbols_free(s);
    return 0;
}

static int print_lines(const char *path, const char *const *roots)
{
    struct gt_elf_lines *l;
    struct gt_error err;
    uint64_t rel;

    if (gt_elf_lines_open(path, roots, &l, &err) != GT_OK)
        return fail(&err);
    while (scanf("%" SCNx64, &rel) == 1) {
        const char *file = "??";
        unsigned line = 0;
        gt_elf_lines_at(l, rel, &file, &line);
        printf("%s:%u\n", file, line);
    }
    gt_elf_lines_close(l);
    return 0;
}

static struct gt_elf_code_span *spans_of(const struct gt_elf_symbols *s)
{
    struct gt_elf_code_span *span = calloc(s->n_sym + 1, sizeof *span);
    for (size_t i = 0; span && i < s->n_sym; i++) {
        const struct gt_elf_symbol *sym = &s->sym[i];
        uint64_t lo = sym->addr + s->load_base;
        span[i] = (struct gt_elf_code_span){lo, lo + sym->size, strstr(sym->name, ".cold") != NULL};
    }
    return span;
}

static int print_functions(const char *path, const char *const *roots)
{
    struct gt_elf_symbols *s;
    struct gt_elf_function_lines *l;
    struct gt_error err;
    if (gt_elf_symbols_load_with(path, roots, &s, &err) != GT_OK)
        return fail(&err);
    struct gt_elf_code_span *span = spans_of(s);
    if (!span || gt_elf_function_lines_load(path, roots, span, s->n_sym, &l, &err) != GT_OK)
        return fail(&err);
    for (size_t i = 0; i < l->n; i++)
        if (l->of[i].file)
            printf("%" PRIx64 " %" PRIx64 " %u %s %s\n", span[i].lo, span[i].hi, l->of[i].line,
                   l->of[i].all, l->of[i].file);
    gt_elf_function_lines_free(l);
    gt_elf_symbols_free(s);
    free(span);
    return 0;
}

/* A copy in memory shrinks a byte at a time, so that each prefix is loaded once. */
static int cut_file(const char *path)
{
    static char data[1 << 20], copy[64];
    const char *const no_roots[] = {NULL};
    FILE *f = fopen(path, "rb");
    size_t size = f ? fread(data, 1, sizeof data, f) : 0;
    int fd = memfd_create("cut", MFD_CLOEXEC);
    unsigned loaded = 0;

    if (f)
        fclose(f);
    if (size == 0 || fd < 0 || write(fd, data, size) != (ssize_t)size)
        return 2;
    snprintf(copy, sizeof copy, "/proc/self/fd/%d", fd);
    for (; size > 0; size--) {
        struct gt_elf_symbols *s;
        if (ftruncate(fd, (off_t)size) != 0)
            return 2;
        if (gt_elf_symbols_load_with(copy, no_roots, &s, NULL) == GT_OK)
            loaded++;
        gt_elf_symbols_free(s);
    }
    close(fd);
    printf("%u\n", loaded);
    return 0;
}

int main(int argc, char **argv)
{
    const char *roots[] = {"/usr/lib/debug", NULL};

    argv++;
    argc--;
    if (argc > 2 && strcmp(argv[0], "--root") == 0) {
        roots[0] = argv[1];
        argv += 2;
        argc -= 2;
    }
    if (argc == 2 && strcmp(argv[0], "--lines") == 0)
        return print_lines(argv[1], roots);
    if (argc == 2 && strcmp(argv[0], "--functions") == 0)
        return print_functions(argv[1], roots);
    if (argc == 2 && strcmp(argv[0], "--cut") == 0)
        return cut_file(argv[1]);
    if (argc == 1)
        return print_file(argv[0], roots);
    fprintf(stderr, "usage: symbols_tool [--root DIR] [--lines | --functions | --cut] FILE\n");
    return 2;
}
