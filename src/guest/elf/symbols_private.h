/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declarations that the parts of the symbol reader share: symbols.c (the public side),
 * symbols_read.c (symbol tables to candidates, also one that is packed; candidates to one symbol an
 * address, and where one of unknown size ends), symbols_plt.c (stubs to candidates), plt_stub.c
 * (stub code to GOT slots), symbols_ehframe.c (call frame information to candidates),
 * symbol_version.c (versions after names).
 */
#ifndef GT_GUEST_ELF_SYMBOLS_PRIVATE_H
#define GT_GUEST_ELF_SYMBOLS_PRIVATE_H

#include "guest/elf/file.h"
#include "guest/elf/symbols.h"

#include <gelf.h>

#define GT_MAX_STRINGS     3  /* string tables kept: .strtab, .dynstr, that of debug information */
#define GT_MAX_TEXT_RANGES 64 /* executable PT_LOADs that are used */

struct sym_cand {
    uint64_t addr;  /* relative address */
    uint64_t size;  /* 0: unknown */
    uint64_t limit; /* relative end of its section or segment: above addr */
    char *name;     /* NULL for type 'e': gt_elf_sym_name_frames sets it */
    uint32_t rank;  /* the lowest rank at an address wins */
    char type;
    bool typed; /* STT_FUNC or STT_GNU_IFUNC */
};

struct sym_list {
    struct sym_cand *at;
    size_t n, cap;
};

/* A writable, NUL-terminated copy of a string table, its control characters replaced. */
struct string_table {
    const Elf *elf;
    size_t section;
    char *text; /* owned by gt_elf_symbols.strings */
    size_t size;
};

struct sym_reader {
    struct gt_elf_symbols *s;
    struct sym_list list;
    struct string_table tables[GT_MAX_STRINGS];
    size_t n_tables;
    uint64_t text_lo[GT_MAX_TEXT_RANGES], text_hi[GT_MAX_TEXT_RANGES]; /* relative */
    size_t n_text;
};

/* Appends a zeroed candidate; NULL: out of memory. */
struct sym_cand *gt_elf_sym_append(struct sym_list *list);

/* Returns the string at an offset of a string section, cut to GT_SYMBOL_NAME_MAX, and without its
 * version (symbol_version.c). NULL: invalid, or empty. */
char *gt_elf_sym_string(struct sym_reader *r, Elf *elf, size_t section, uint64_t offset);

/* Returns the length of a symbol's name without the version that a linker wrote after it:
 * NAME@@VERSION, or NAME@VERSION where the file has a version of that name. */
size_t gt_elf_sym_unversioned(Elf *elf, const char *name, size_t length);

/* Returns the end of the executable range that contains rel; 0: not executable. */
uint64_t gt_elf_sym_text_end(const struct sym_reader *r, uint64_t rel);

/* Reads the program headers: load range, executable ranges. */
int gt_elf_sym_read_segments(struct sym_reader *r, Elf *elf, struct gt_error *err);

/* Appends the functions of the first symbol table of that section type (SHT_SYMTAB, SHT_DYNSYM).
 * Returns 1, or 0 if there is no such table; GT_E_NOMEM. Invalid entries are left out. */
int gt_elf_sym_read_table(struct sym_reader *r, Elf *elf, unsigned type);

/* The same of the table that is packed in the file's section .gnu_debugdata: a stripped file's
 * names of functions that .dynsym does not have. 0: there is none, or it is damaged. */
int gt_elf_sym_read_debugdata(struct sym_reader *r, Elf *elf);

/* Sorts the candidates: by address, the winner first. */
void gt_elf_sym_sort(struct sym_list *list);

/* Finds the PLT sections, names their stubs, and removes other candidates there. The list must be
 * sorted before, and is unsorted afterwards. GT_E_NOMEM. */
int gt_elf_sym_read_plt(struct sym_reader *r, Elf *elf);

/* Appends the functions in .eh_frame outside the PLT, whose sections must have been found; invalid
 * entries are left out. GT_E_NOMEM. */
int gt_elf_sym_read_frames(struct sym_reader *r, Elf *elf);
/* Names the functions of .eh_frame that the merge kept. GT_E_NOMEM. */
int gt_elf_sym_name_frames(struct sym_reader *r);

/* Returns how many symbols begin at or before the relative address. */
size_t gt_elf_sym_count_to(const struct gt_elf_symbols *s, uint64_t rel);

/* Ends symbols of unknown size where their code does not continue; for a file without .symtab. */
void gt_elf_sym_end_guesses(struct sym_reader *r, Elf *elf);

/* Turns the candidates into r->s->sym and ->alias. GT_E_NOMEM. */
int gt_elf_sym_merge(struct sym_reader *r);

/* The bytes of a PLT section, and the base of its stubs' references. */
struct plt_code {
    const uint8_t *bytes;
    uint64_t size;
    uint64_t addr;     /* link address of the first byte */
    uint64_t got_base; /* i386: the value of %ebx; else unused */
    uint16_t machine;
    uint8_t bits;
};

struct plt_stub {
    uint64_t offset; /* offset of its first instruction in the section */
    uint64_t slot;   /* address of the GOT slot that it jumps through; lazy: the number of the
                        relocation */
    uint64_t size;   /* bytes of the pattern, at least 1 */
    bool lazy;       /* it pushes the number of a relocation of .rela.plt and jumps to the header */
};

/* Finds the first stub at or after offset `from`; false: none. */
bool gt_elf_plt_next_stub(const struct plt_code *code, uint64_t from, struct plt_stub *out);

#endif
