/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of one ELF file: its .symtab, .dynsym and PLT stubs, and those of its separate debug
 * file where one is installed for its build-id. libelf and libdw read the file; nothing of it is
 * believed unchecked.
 *
 * Addresses are relative to the file's load base: the page of its lowest PT_LOAD address (the address
 * that the first mapping of the file gets in a process). So `run-time address - base` looks up.
 */
#ifndef GT_GUEST_SYMBOLS_H
#define GT_GUEST_SYMBOLS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_symbol {
    uint64_t addr; /* relative to the load base */
    uint64_t size; /* bytes; where the file says 0, up to the next symbol or section end */
    char *name;    /* raw, not demangled; PLT: the name of the function it leads to */
    char type;     /* 'T' global, 't' local, 'w' weak, 'P' PLT stub */
};

struct gt_symbols {
    char *path;         /* the file as it was opened */
    char build_id[41];  /* lower-case hex; "" where the file has none */
    uint16_t e_machine;
    uint8_t bits;       /* 32 or 64 */
    bool dynamic;       /* ET_DYN: position-independent */
    uint64_t load_base; /* page of the lowest PT_LOAD p_vaddr: 0 for most ET_DYN files */
    uint64_t load_size; /* bytes from load_base to the end of the last PT_LOAD, page-rounded */
    uint64_t text_lo, text_hi; /* relative range of executable PT_LOADs */
    uint64_t plt_lo[4], plt_hi[4]; /* relative ranges of .plt, .plt.sec, .plt.got, .iplt: hi 0 = none */
    struct gt_symbol *sym; /* sorted by addr, one per address, not overlapping */
    size_t n_sym;
};

/* Reads the file at path. *out is the caller's, to be given to gt_symbols_free; a file without any
 * function symbol is a success with n_sym 0.
 * GT_E_NOT_FOUND, GT_E_IO: cannot be read; GT_E_FORMAT: no ELF file, or one whose headers lie. */
int gt_symbols_load(const char *path, struct gt_symbols **out, struct gt_error *err);
void gt_symbols_free(struct gt_symbols *s);

/* The symbol that contains the relative address, or NULL. */
const struct gt_symbol *gt_symbols_find(const struct gt_symbols *s, uint64_t rel);
/* True where the relative address lies in a PLT section. */
bool gt_symbols_in_plt(const struct gt_symbols *s, uint64_t rel);
/* The relative address of the function of that name (the first, global before local), true if found. */
bool gt_symbols_by_name(const struct gt_symbols *s, const char *name, uint64_t *rel);

#endif
