/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of one ELF file: its .symtab, .dynsym and PLT stubs, and its separate debug file's
 * where one is installed. libelf and libdw read the file; everything in it is checked.
 *
 * Addresses are relative to the file's load base: the page of its lowest PT_LOAD address, which the
 * first mapping of the file in a process corresponds to. So a lookup takes `run-time address -
 * base`.
 *
 * Functions are symbols of type STT_FUNC and STT_GNU_IFUNC, and the untyped symbols of hand-written
 * assembly: STT_NOTYPE with a name in an executable section, except mapping symbols ($x, $d), names
 * that begin with a dot (.Lfoo) and labels inside a function whose size is known.
 *
 * Each address has one name. Functions precede untyped symbols, and global or weak symbols precede
 * local ones; then the name with fewer leading underscores wins (puts, though weak, not _IO_puts),
 * then global before weak, then the shorter name, then the alphabet. gt_elf_symbols_by_name also
 * finds the other names.
 *
 * Code that no symbol covers is divided by .eh_frame, which stripped files keep: each function
 * there becomes a symbol of type 'e', named after the file and its address, as libc.so.6+0x1234.
 * Symbols take precedence: an 'e' symbol that would begin inside a symbol with a size is left out.
 *
 * The separate debug file is looked for when the file has no .symtab: by build-id in each debug
 * root (ROOT/.build-id/ab/cdef.debug), then by .gnu_debuglink beside the file, in .debug/ and in
 * ROOT/<directory>; its build-id or CRC must match. Never by network. Without one, the .symtab
 * that is packed in .gnu_debugdata counts.
 */
#ifndef GT_GUEST_ELF_SYMBOLS_H
#define GT_GUEST_ELF_SYMBOLS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_elf_symbol {
    uint64_t addr; /* relative to the load base */
    uint64_t size; /* bytes, at least 1. If the symbol table has 0: the size in .eh_frame, else up
                      to the next symbol or section end (in a file without .symtab only as far as
                      its code continues). Cut where the next symbol begins */
    char *name;    /* mangled, without its @version; PLT stubs have the name of their function, the
                      stub that calls the dynamic linker is "PLT0". Control characters are '?'; 1 to
                      GT_SYMBOL_NAME_MAX bytes */
    char type;     /* 'T' global, 't' local, 'w' weak, 'P' PLT stub, 'e' known by .eh_frame only */
    bool guessed;  /* the file does not have its size */
};

#define GT_SYMBOL_NAME_MAX 4095

struct gt_elf_symbols {
    char *path;        /* the file as it was opened */
    char *debug_path;  /* the separate debug file that was used; NULL: none */
    char build_id[41]; /* lower-case hex of the first 20 bytes; "": the file has none */
    uint16_t e_machine;
    uint8_t bits;       /* 32 or 64 */
    bool dynamic;       /* ET_DYN: position-independent */
    uint64_t load_base; /* page of the lowest PT_LOAD p_vaddr: 0 for most ET_DYN files */
    uint64_t load_size; /* bytes from load_base to the end of the last PT_LOAD, page-rounded */
    uint64_t text_lo, text_hi; /* relative range of executable PT_LOADs */
    uint64_t plt_lo[4],
        plt_hi[4];             /* relative ranges of .plt, .plt.sec, .plt.got, .iplt; hi 0: none */
    struct gt_elf_symbol *sym; /* sorted by addr, one per address, not overlapping */
    size_t n_sym;
    struct gt_elf_symbol *alias; /* further names of addresses; sorted by addr, size 0 */
    size_t n_alias;
    size_t n_bad;     /* function symbols left out: outside the code, or without a name */
    char *strings[4]; /* private: memory of the names */
};

/* The default directories of separate debug files: "/usr/lib/debug", NULL. */
extern const char *const gt_elf_debug_roots_default[];

/* Reads the file at path; the caller frees *out with gt_elf_symbols_free. A file without functions,
 * or with invalid section headers, is a success with n_sym 0: its program headers are read.
 * GT_E_NOT_FOUND, GT_E_IO: cannot be read; GT_E_FORMAT: not an ELF file, not a regular file, or
 * invalid program headers; GT_E_UNSUPPORTED: neither an executable nor a shared object; GT_E_NOMEM.
 *
 */
int gt_elf_symbols_load(const char *path, struct gt_elf_symbols **out, struct gt_error *err);

/* The same with the caller's debug roots, a NULL-terminated list. { NULL }: no separate debug file
 * is used, not even one beside the file. */
int gt_elf_symbols_load_with(const char *path, const char *const *debug_roots,
                             struct gt_elf_symbols **out, struct gt_error *err);

/* NULL is fine. */
void gt_elf_symbols_free(struct gt_elf_symbols *s);

/* The symbol that contains the relative address, or NULL. */
const struct gt_elf_symbol *gt_elf_symbols_find(const struct gt_elf_symbols *s, uint64_t rel);
/* True if the relative address is in a PLT section. */
bool gt_elf_symbols_in_plt(const struct gt_elf_symbols *s, uint64_t rel);
/* Finds the relative address of a function by name: the first, global before weak before local, a
 * PLT stub only if no other symbol has the name. False: not found. */
bool gt_elf_symbols_by_name(const struct gt_elf_symbols *s, const char *name, uint64_t *rel);

#endif
