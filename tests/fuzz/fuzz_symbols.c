/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ELF files that lie, to the readers of symbols and of functions' lines and, with FUZZ_LINES set,
 * libdw's line reader; the same
 * bytes as a maps file. Checks what guest/elf/symbols.h promises of a file that loads.
 */
#include "guest/elf/function_lines.h"
#include "guest/elf/lines.h"
#include "guest/elf/symbols.h"
#include "guest/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const no_roots[] = {NULL};

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void check(const struct gt_elf_symbols *s)
{
    uint64_t rel;

    for (size_t i = 0; i < s->n_sym; i++) {
        const struct gt_elf_symbol *sym = &s->sym[i];
        require(sym->size > 0 && sym->addr + sym->size > sym->addr);
        require(sym->addr + sym->size <= s->load_size);
        require(sym->name[0] && strlen(sym->name) <= GT_SYMBOL_NAME_MAX);
        require(gt_elf_symbols_find(s, sym->addr) == sym);
        require(i == 0 || sym[-1].addr + sym[-1].size <= sym->addr);
        require((sym->type == 'P') == gt_elf_symbols_in_plt(s, sym->addr));
    }
    for (size_t i = 0; i < s->n_sym && i < 8; i++)
        require(gt_elf_symbols_by_name(s, s->sym[i].name, &rel));
}

static void read_lines(const char *path, const struct gt_elf_symbols *s)
{
    struct gt_elf_lines *l;
    const char *file;
    unsigned line;

    if (gt_elf_lines_open(path, no_roots, &l, NULL) != GT_OK)
        return;
    for (size_t i = 0; i < s->n_sym && i < 8; i++)
        if (gt_elf_lines_at(l, s->sym[i].addr, &file, &line) == 1)
            require(file != NULL && line > 0);
    gt_elf_lines_close(l);
}

static void read_function_lines(const char *path, const struct gt_elf_symbols *s)
{
    struct gt_elf_function_lines *l;
    struct gt_elf_code_span *span = calloc(s->n_sym + 1, sizeof *span);
    require(span != NULL);
    for (size_t i = 0; i < s->n_sym; i++) {
        uint64_t lo = s->sym[i].addr + s->load_base;
        span[i] = (struct gt_elf_code_span){lo, lo + s->sym[i].size, false};
    }
    if (gt_elf_function_lines_load(path, no_roots, span, s->n_sym, &l, NULL) == GT_OK) {
        for (size_t i = 0; i < l->n; i++)
            require(!l->of[i].file || (l->of[i].line > 0 && *l->of[i].all));
        gt_elf_function_lines_free(l);
    }
    free(span);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct gt_process_mapping mapping;
    static int fd = -1;
    char path[64];
    struct gt_elf_symbols *s;
    struct gt_error err;

    gt_process_mapping_in((const char *)data, size, 0x10000, &mapping);
    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
        return 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (gt_elf_symbols_load_with(path, no_roots, &s, &err) != GT_OK)
        return 0;
    check(s);
    read_function_lines(path, s);
    /* libdw 0.188 reads beyond a damaged line table, which guest/elf/lines.h says */
    if (getenv("FUZZ_LINES"))
        read_lines(path, s);
    gt_elf_symbols_free(s);
    return 0;
}
