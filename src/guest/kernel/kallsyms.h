/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kallsyms: the symbol tables in a kernel's read-only data, and how to find them in an image
 * without pointers to them. Little-endian. Everything is aligned to a word (8 or 4 bytes; in 7.2 to
 * 4 bytes):
 *
 *   num_syms        u32, 4.19 a word
 *   names           num_syms entries: length (a byte; with 0x80 the low 7 bits, then a byte of 7
 *                   higher bits), then that many token numbers; the first letter of what they spell
 *                   is the symbol's type
 *   markers         u32, 4.19 a word, for each 256th symbol: its offset in names
 *   seqs_of_names   3 bytes a symbol (6.2 and 6.3 only; from 6.4 on after the addresses)
 *   token_table     256 texts with a final 0; the token of each character in use is itself
 *   token_index     256 u16: offsets in token_table
 *
 * The addresses of the symbols, in ascending order, are before num_syms until 6.3, after
 * token_index from 6.4 on. They are of one of these kinds:
 *
 *   ADDRESSES  num_syms words
 *   OFFSETS    num_syms u32 to be added to relative_base, the word after them
 *   PERCPU     the same as s32: a value of 0 or more is an address by itself (a per-CPU offset),
 *              others count down from relative_base - 1
 *   PLACES     num_syms s32, each to be added to its own address (7.2 of 64 bits)
 *
 * The search looks for the digits in token_table: token_index must agree with it exactly, names
 * with markers, and the addresses must ascend; so a match by chance is practically impossible.
 */
#ifndef GT_GUEST_KERNEL_KALLSYMS_H
#define GT_GUEST_KERNEL_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gt_kernel_kallsyms_kind {
    GT_KALLSYMS_ADDRESSES = 1,
    GT_KALLSYMS_OFFSETS,
    GT_KALLSYMS_PERCPU,
    GT_KALLSYMS_PLACES,
};

/* The tables, as offsets in data; all were checked to lie inside it. */
struct gt_kernel_kallsyms {
    const uint8_t *data;
    size_t size;
    unsigned word;      /* 4 or 8 */
    unsigned align;     /* 4 or 8 */
    size_t token_table; /* from here to token_end */
    size_t token_end;   /* after the last token's NUL */
    size_t token_index;
    size_t num_syms, names, markers;
    uint32_t n;
    unsigned marker_size; /* 4 or 8 */
    enum gt_kernel_kallsyms_kind kind;
    size_t values;
    size_t base;   /* offset of relative_base, if the kind has one */
    uint32_t seen; /* if the search fails: names that were found without addresses */
};

/* Finds the tables of a kernel with words of `word` bytes in the data. False: not found. */
bool gt_kernel_kallsyms_find(struct gt_kernel_kallsyms *t, const uint8_t *data, size_t size,
                             unsigned word);

/* Returns value i, in ascending order: for PERCPU, addresses that count down from relative_base are
 * UINT32_MAX and more; for PLACES it is the offset in data plus GT_KALLSYMS_BIAS. */
#define GT_KALLSYMS_BIAS (1ull << 32)
uint64_t gt_kernel_kallsyms_value(const struct gt_kernel_kallsyms *t, size_t i);

struct gt_kernel;
struct gt_kernel_segment;

struct gt_kernel_kallsyms_link {
    uint64_t start; /* the link address of the segment's first byte */
    uint64_t base;  /* value of relative_base in a kernel that runs at its link address */
};

/* Determines the link address of segment s, which has the tables whose symbols k has, read with
 * `base` as relative_base. A flat image whose link address is unknown begins at 0. */
struct gt_kernel_kallsyms_link gt_kernel_kallsyms_link(const struct gt_kernel *k,
                                                       const struct gt_kernel_kallsyms *t,
                                                       const struct gt_kernel_segment *s,
                                                       uint64_t base);

/* Read a number at any alignment; the caller has checked the bounds. */
uint32_t gt_kernel_kallsyms_u32(const uint8_t *data, size_t at);
uint64_t gt_kernel_kallsyms_word(const uint8_t *data, size_t at, unsigned word);

#endif
