/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of the symbol reader share: symbols.c (the public side), symbols_read.c (symbol
 * tables to candidates), symbols_plt.c (stubs to candidates), plt_stub.c (stub code to GOT slots),
 * symbols_ehframe.c (call frame information to candidates), symbols_merge.c (candidates to one
 * symbol an address), symbols_flow.c (where a symbol of unknown size ends in a stripped file).
 */
#ifndef GT_GUEST_ELF_SYMBOLS_PRIVATE_H
#define GT_GUEST_ELF_SYMBOLS_PRIVATE_H

#include "guest/elf/file.h"
#include "guest/elf/symbols.h"

#include <gelf.h>

#define GT_MAX_STRINGS     3  /* string tables kept: .strtab, .dynstr, the debug file's */
#define GT_MAX_TEXT_RANGES 64 /* executable PT_LOADs believed */

struct sym_cand {
    uint64_t addr;  /* relative */
    uint64_t size;  /* 0: not said */
    uint64_t limit; /* where the section or segment ends, relative: above addr */
    char *name;     /* NULL for type 'e': gt_sym_name_frames makes it */
    uint32_t rank;  /* which name wins an address: the lowest */
    char type;
    bool typed; /* STT_FUNC or STT_GNU_IFUNC */
};

struct sym_list {
    struct sym_cand *at;
    size_t n, cap;
};

/* A writable copy of a string table with a 0 after it, its control characters replaced. */
struct string_table {
    const Elf *elf;
    size_t section;
    char *text; /* owned by gt_symbols.strings */
    size_t size;
};

struct sym_reader {
    struct gt_symbols *s;
    struct sym_list list;
    struct string_table tables[GT_MAX_STRINGS];
    size_t n_tables;
    uint64_t text_lo[GT_MAX_TEXT_RANGES], text_hi[GT_MAX_TEXT_RANGES]; /* relative */
    size_t n_text;
};

/* Appends a zeroed candidate; NULL: out of memory. */
struct sym_cand *gt_sym_append(struct sym_list *list);

/* The string at an offset of a string section: cut to GT_SYMBOL_NAME_MAX and at '@'. NULL where
 * there is none, or it is empty. */
char *gt_sym_string(struct sym_reader *r, Elf *elf, size_t section, uint64_t offset);

/* The end of the executable range around rel; 0: not executable. */
uint64_t gt_sym_text_end(const struct sym_reader *r, uint64_t rel);

/* The program headers: load range, executable ranges. */
int gt_sym_read_segments(struct sym_reader *r, Elf *elf, struct gt_error *err);

/* Appends the functions of the first symbol table of that section type (SHT_SYMTAB, SHT_DYNSYM).
 * 1 read, 0 there is none, GT_E_NOMEM. What lies is left out. */
int gt_sym_read_table(struct sym_reader *r, Elf *elf, unsigned type);

/* Sorts the candidates: by address, the winner first. */
void gt_sym_sort(struct sym_list *list);

/* Finds the PLT sections, names their stubs, and takes other candidates there out of the list. The
 * list must be sorted, and is not afterwards. GT_E_NOMEM. */
int gt_sym_read_plt(struct sym_reader *r, Elf *elf);

/* Appends the functions that .eh_frame knows, outside the PLT, whose sections must be known; what
 * it says falsely is left out. GT_E_NOMEM. */
int gt_sym_read_frames(struct sym_reader *r, Elf *elf);
/* Names those of them that the merge kept. GT_E_NOMEM. */
int gt_sym_name_frames(struct sym_reader *r);

/* How many symbols begin at the relative address or before it. */
size_t gt_sym_count_to(const struct gt_symbols *s, uint64_t rel);

/* Ends symbols that say no size where their code does not go on; for a file without .symtab. */
void gt_sym_end_guesses(struct sym_reader *r, Elf *elf);

/* Turns the candidates into r->s->sym and ->alias. GT_E_NOMEM. */
int gt_sym_merge(struct sym_reader *r);

/* A PLT section's bytes and what its stubs refer to. */
struct plt_code {
    const uint8_t *bytes;
    uint64_t size;
    uint64_t addr;     /* st_value of the first byte */
    uint64_t got_base; /* i386: what %ebx holds; else not used */
    uint16_t machine;
    uint8_t bits;
};

struct plt_stub {
    uint64_t offset; /* in the section, of its first instruction */
    uint64_t slot; /* the address of the GOT slot it jumps through; lazy: the relocation's number */
    uint64_t size; /* of the pattern, at least 1 */
    bool lazy;     /* pushes the number of a relocation of .rela.plt and jumps to the header */
};

/* The first stub at or after offset `from`; false where there is none. */
bool gt_plt_next_stub(const struct plt_code *code, uint64_t from, struct plt_stub *out);

#endif
