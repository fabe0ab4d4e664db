/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The public side of the symbol reader: reads the file and its debug file, and looks symbols up. */
#include "guest/elf/symbols_private.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static int read_header(struct gt_elf_symbols *s, Elf *elf, struct gt_error *err)
{
    GElf_Ehdr eh;

    if (!gelf_getehdr(elf, &eh))
        return gt_error_set(err, GT_E_FORMAT, "%s: no ELF header", s->path);
    if (eh.e_type != ET_EXEC && eh.e_type != ET_DYN)
        return gt_error_set(err, GT_E_UNSUPPORTED,
                            "%s: ELF type %u, expected an executable (2) or shared object (3)",
                            s->path, eh.e_type);
    s->e_machine = eh.e_machine;
    s->bits = gelf_getclass(elf) == ELFCLASS32 ? 32 : 64;
    s->dynamic = eh.e_type == ET_DYN;
    gt_elf_build_id(elf, s->build_id);
    return GT_OK;
}

/* 1 read, 0 none installed or no symbols in it. */
static int read_debug_file(struct sym_reader *r, Elf *elf, const char *const *roots)
{
    struct gt_elf debug;
    int found = gt_elf_open_debug(r->s->path, elf, roots, &debug, &r->s->debug_path);

    if (found != 1)
        return found;
    found = gt_elf_sym_read_table(r, debug.elf, SHT_SYMTAB);
    if (found != 1) {
        free(r->s->debug_path);
        r->s->debug_path = NULL;
    }
    gt_elf_close(&debug);
    return found;
}

static int read_file(struct sym_reader *r, const char *const *roots, Elf *elf, struct gt_error *err)
{
    int status = read_header(r->s, elf, err);
    bool stripped;

    if (status == GT_OK)
        status = gt_elf_sym_read_segments(r, elf, err);
    if (status < 0)
        return status;
    status = gt_elf_sym_read_table(r, elf, SHT_SYMTAB);
    if (status == 0)
        status = read_debug_file(r, elf, roots);
    stripped = status == 0; /* packed symbols have none of assembly */
    if (stripped)
        status = gt_elf_sym_read_debugdata(r, elf);
    if (status >= 0)
        status = gt_elf_sym_read_table(r, elf, SHT_DYNSYM);
    if (status >= 0) {
        gt_elf_sym_sort(&r->list);
        status = gt_elf_sym_read_plt(r, elf);
    }
    if (status >= 0)
        status = gt_elf_sym_read_frames(r, elf);
    if (status >= 0)
        status = gt_elf_sym_merge(r);
    if (status >= 0 && stripped)
        gt_elf_sym_end_guesses(r, elf);
    if (status >= 0)
        status = gt_elf_sym_name_frames(r);
    if (status < 0)
        return gt_error_set(err, status, "%s: out of memory for its symbols", r->s->path);
    return GT_OK;
}

int gt_elf_symbols_load_with(const char *path, const char *const *debug_roots,
                             struct gt_elf_symbols **out, struct gt_error *err)
{
    struct sym_reader r = {.s = calloc(1, sizeof *r.s)};
    struct gt_elf file;
    int status;

    *out = NULL;
    if (!r.s || !(r.s->path = strdup(path))) {
        free(r.s);
        return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", path);
    }
    status = gt_elf_open(path, &file, err);
    if (status == GT_OK) {
        status = read_file(&r, debug_roots, file.elf, err);
        gt_elf_close(&file);
    }
    free(r.list.at);
    if (status == GT_OK)
        *out = r.s;
    else
        gt_elf_symbols_free(r.s);
    return status;
}

int gt_elf_symbols_load(const char *path, struct gt_elf_symbols **out, struct gt_error *err)
{
    return gt_elf_symbols_load_with(path, gt_elf_debug_roots_default, out, err);
}

void gt_elf_symbols_free(struct gt_elf_symbols *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < sizeof s->strings / sizeof s->strings[0]; i++)
        free(s->strings[i]);
    free(s->sym);
    free(s->alias);
    free(s->debug_path);
    free(s->path);
    free(s);
}
