/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel images made for tests: the symbol tables in each layout that kernels have had, in a flat
 * image or an ELF file, with code whose bytes say where they are.
 *
 * An image is: 64 bytes of header (flat) or the ELF header, code of MADE_CODE bytes at MADE_LINK
 * plus an offset, then the tables, then what the caller adds.
 */
#ifndef GT_TESTS_MADE_KERNEL_H
#define GT_TESTS_MADE_KERNEL_H

#include "guest/kernel/kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MADE_LINK 0xffff800008000000ull /* of the first byte of a flat image */
#define MADE_CODE 0x1000u

enum made_values {
    MADE_OFFSETS,   /* u32 and relative_base */
    MADE_PERCPU,    /* s32 and relative_base */
    MADE_ADDRESSES, /* words */
    MADE_PLACES,    /* s32 from their own address */
};

struct made_layout {
    const char *name;
    enum made_values values;
    unsigned word, align, marker; /* bytes */
    bool behind;                  /* the values behind token_index */
    unsigned seqs;                /* bytes a symbol of seqs_of_names before token_table */
    bool wide;                    /* num_syms is a word */
    enum { BASE_THERE, BASE_RELOCATED, BASE_NOWHERE } base;
};

struct made_kernel {
    uint8_t data[1 << 16];
    size_t size;
    uint64_t link; /* of data[0] */
    size_t num_syms, names, markers, token_table, token_index, values, base;
};

struct made_entry {
    uint64_t addr;
    char type;
    const char *name;
};

/* A flat image (machine "ARM\x64" or "RSC\x05") or, of words of 4 bytes, the same bytes without
 * one. */
void made_kernel(struct made_kernel *m, const struct made_layout *layout,
                 const struct made_entry *entries, size_t n, unsigned machine);

/* The same bytes as the only segment of an ELF file, at link. */
void made_kernel_elf(struct made_kernel *m, const struct made_layout *layout,
                     const struct made_entry *entries, size_t n, unsigned machine);

/* Adds bytes at the end, aligned to 8; their offset. */
size_t made_kernel_add(struct made_kernel *m, const void *data, size_t size);

/* A file with these bytes, whose name is valid until the next call. */
const char *made_file(const void *data, size_t size);

#endif
