/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small ELF files made in memory, for tests of what reads them. 64-bit, little-endian:
 *
 *   header, two program headers (the code; the header at the base), seven section headers:
 *   0, 1 .text, 2 .symtab, 3 .strtab, 4 .plt (behind .text), 5 .rela.plt, 6 .shstrtab
 */
#ifndef GT_TESTS_MADE_ELF_H
#define GT_TESTS_MADE_ELF_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MADE_TEXT = 0x1000, /* address of .text, from the base */
    MADE_TEXT_SIZE = 0x200,
    MADE_PLT = 0x1240,
    MADE_PLT_SIZE = 0x30,
    MADE_GOT = 0x2000, /* the slot of the one relocation */
    MADE_MAX = 16384,
};

struct made_symbol {
    const char *name;
    uint64_t value; /* from the base */
    uint64_t size;
    unsigned char bind, type;
    uint16_t section;
};

struct made_elf {
    uint64_t base;
    uint16_t type, machine;
    _Alignas(8) uint8_t data[MADE_MAX];
    size_t size;
    Elf64_Ehdr *header; /* into data */
    Elf64_Phdr *segment;
    Elf64_Shdr *section;
    Elf64_Sym *symbol; /* symbol[0] is the null symbol */
};

/* Fills *e, whose base, type and machine are set; the symbol table is typed SHT_SYMTAB. The PLT has
 * a header of 16 bytes and one stub at 16, of x86_64, through MADE_GOT; its relocation is to the
 * first symbol. */
void made_elf(struct made_elf *e, const struct made_symbol *symbols, size_t n);

/* Writes the first `size` bytes to a file in memory, the same at each call. The path is static. */
const char *made_elf_file(const struct made_elf *e, size_t size);

#endif
