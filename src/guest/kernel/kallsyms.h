/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kallsyms: the symbol tables that a kernel carries in its read-only data, and how they are found
 * in an image that does not say where they are. Little-endian. Everything is aligned to a word (8
 * or 4 bytes; in 7.2 to 4 bytes):
 *
 *   num_syms        u32, 4.19 a word
 *   names           num_syms entries: length (a byte; with 0x80 the low 7 bits, then a byte of 7
 *                   higher bits), then so many token numbers; the first letter of what they spell
 *                   is the symbol's type
 *   markers         u32, 4.19 a word, for each 256th symbol: its offset in names
 *   seqs_of_names   3 bytes a symbol (6.2 and 6.3 only; from 6.4 on behind the addresses)
 *   token_table     256 texts with a final 0; the token of each character in use is itself
 *   token_index     256 u16: offsets in token_table
 *
 * The addresses of the symbols, in ascending order, stand before num_syms until 6.3, behind
 * token_index from 6.4 on. They are of one of these kinds:
 *
 *   ADDRESSES  num_syms words
 *   OFFSETS    num_syms u32 to be added to relative_base, the word behind them
 *   PERCPU     the same as s32: a value of 0 or more is an address by itself (a per-CPU offset),
 *              others count down from relative_base - 1
 *   PLACES     num_syms s32, each to be added to the address where it stands (7.2 of 64 bits)
 *
 * They are found from the digits in token_table: token_index must agree with it to the byte, names
 * with markers, and the addresses must ascend; so chance has no part in it.
 */
#ifndef GT_GUEST_KERNEL_KALLSYMS_H
#define GT_GUEST_KERNEL_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gt_kallsyms_kind {
    GT_KALLSYMS_ADDRESSES = 1,
    GT_KALLSYMS_OFFSETS,
    GT_KALLSYMS_PERCPU,
    GT_KALLSYMS_PLACES,
};

/* Where the tables are, as offsets in data. All of it was checked to lie inside. */
struct gt_kallsyms {
    const uint8_t *data;
    size_t size;
    unsigned word;      /* 4 or 8 */
    unsigned align;     /* 4 or 8 */
    size_t token_table; /* to token_index: token_end */
    size_t token_end;   /* behind the last token's 0 */
    size_t token_index;
    size_t num_syms, names, markers;
    uint32_t n;
    unsigned marker_size; /* 4 or 8 */
    enum gt_kallsyms_kind kind;
    size_t values;
    size_t base;   /* relative_base, where the kind has one */
    uint32_t seen; /* where the search fails: names that were found, without addresses */
};

/* Finds the tables of a kernel with words of that size in the data. False: no tables. */
bool gt_kallsyms_find(struct gt_kallsyms *t, const uint8_t *data, size_t size, unsigned word);

/* Value i, in the order of the addresses: for PERCPU those counting down from relative_base as
 * UINT32_MAX and more, for PLACES the offset in data plus GT_KALLSYMS_BIAS. */
#define GT_KALLSYMS_BIAS (1ull << 32)
uint64_t gt_kallsyms_value(const struct gt_kallsyms *t, size_t i);

struct gt_kernel;
struct gt_kernel_segment;

struct gt_kallsyms_link {
    uint64_t start; /* the link address of the segment's first byte */
    uint64_t base;  /* what relative_base is when the kernel runs where it was linked for */
};

/* k's symbols are those of the tables, which are in the segment, with `base` as relative_base.
 * Where nothing says what address a flat image was linked for, it begins at 0. */
struct gt_kallsyms_link gt_kallsyms_link(const struct gt_kernel *k, const struct gt_kallsyms *t,
                                         const struct gt_kernel_segment *s, uint64_t base);

/* Reads at any alignment; the caller has checked the place. */
uint32_t gt_kallsyms_u32(const uint8_t *data, size_t at);
uint64_t gt_kallsyms_word(const uint8_t *data, size_t at, unsigned word);

#endif
