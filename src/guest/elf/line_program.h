/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One unit of .debug_line, DWARF 2 to 5, little-endian: its files, and its rows. Reads only the
 * bytes that it is given: everything in them is checked, so that it may be used inside the
 * emulator.
 */
#ifndef GT_GUEST_ELF_LINE_PROGRAM_H
#define GT_GUEST_ELF_LINE_PROGRAM_H

#include "base/bytes.h"
#include "base/error.h"
#include "guest/elf/debug_section.h"

struct gt_elf_line_name {
    const char *text; /* in the unit's bytes, or `strings`; NULL: not known */
    uint64_t strings; /* text NULL: offset in .debug_line_str or .debug_str ... */
    uint8_t form;     /* ... of this form; 0: not known */
    uint64_t dir;     /* of a file: index of its directory */
};

struct gt_elf_line_program {
    uint16_t version;
    uint8_t least_insn, most_ops, line_range, opcode_base;
    int8_t line_base;
    const uint8_t *operands;             /* opcode_base - 1 of them: of each standard opcode */
    struct gt_elf_line_name *dir, *file; /* dir[0], file[0]: as DWARF 5 counts */
    size_t n_dirs, n_files, room_dirs, room_files;
    struct gt_bytes_reader program;
    struct gt_elf_debug_section line_strings, strings;
};

/* Code from lo up to hi, of a line of a file. lo == hi: nothing of its own. */
struct gt_elf_line_span {
    uint64_t lo, hi, sequence; /* where its sequence begins */
    uint64_t file;
    uint32_t line; /* 0: of none */
};

/* Reads the header of a unit: all of its bytes, from its version on. `wide`: 64-bit DWARF. The
 * bytes live as long as *p is used; *p may have been used before, { 0 } at first. GT_E_FORMAT,
 * GT_E_UNSUPPORTED: another version; GT_E_NOMEM. */
int gt_elf_line_program_begin(struct gt_elf_line_program *p, const uint8_t *bytes, size_t n,
                              bool wide);
/* Calls span() for each row, in order, to the end of the unit, or to what cannot be read. */
void gt_elf_line_program_run(const struct gt_elf_line_program *p,
                             void (*span)(void *self, const struct gt_elf_line_span *s),
                             void *self);
/* The path of a file, as the compiler named it; relative ones are below comp_dir (NULL: not known).
 * False: the file is not known, or its path is too long. */
bool gt_elf_line_program_path(const struct gt_elf_line_program *p, uint64_t file,
                              const char *comp_dir, char path[GT_DEBUG_TEXT_MAX]);
void gt_elf_line_program_finish(struct gt_elf_line_program *p);

#endif
