/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files that read DWARF share. */
#ifndef GT_GUEST_TYPES_DWARF_PRIVATE_H
#define GT_GUEST_TYPES_DWARF_PRIVATE_H

#include "guest/types/dwarf.h"

#include "guest/elf/file.h"

#include <elfutils/libdw.h>

enum { GT_DWARF_PARAMS = 64 }; /* of a function */

/* What a function's symbol says. */
struct gt_type_dwarf_symbol {
    uint64_t addr;
    bool local;
    bool clone; /* .isra, .constprop, .part: its parameters are not its source's */
};

struct gt_type_dwarf_type; /* a type that was met: see dwarf_types.c */

struct gt_type_dwarf {
    struct gt_type_prototypes *out;
    const struct gt_elf *file;           /* the file that has the code */
    const char *path;                    /* of the file that has the DWARF, for messages */
    struct gt_type_dwarf_symbol *symbol; /* sorted by address */
    size_t n_symbol;
    bool has_symbols;
    uint16_t e_machine;
    /* The unit under way. */
    bool cxx, foreign;
    bool clang, optimized; /* optimized: by Clang */
    bool quad;             /* its long doubles have 128 bits on x86, too */
    uint8_t word;          /* bytes of an address */
    /* Types by the place of their entries in memory, and those that wait to be read. */
    struct gt_type_dwarf_type *map;
    size_t n_map, map_room;
    const void **queue;
    size_t n_queue, queue_room;
};

/* The number of the type that DW_AT_type of an entry names; 0 (void) without one. It is read when
 * gt_type_dwarf_types_read is called. */
uint32_t gt_type_dwarf_type(struct gt_type_dwarf *d, Dwarf_Die *die);
void gt_type_dwarf_types_read(struct gt_type_dwarf *d);
void gt_type_dwarf_types_free(struct gt_type_dwarf *d);

/* What DW_AT_location says of a parameter at the function's first instruction. */
enum gt_type_dwarf_word {
    GT_DWARF_NOWHERE, /* nothing, or only parts of it are anywhere */
    GT_DWARF_LATER,   /* a place that it has after the first instructions, or that we cannot read */
    GT_DWARF_FRAME,   /* in the frame during the whole function, as without optimisation */
    GT_DWARF_NAMED,   /* *out */
};

/* param: the parameter's entry; NULL: none. */
enum gt_type_dwarf_word gt_type_dwarf_where(Dwarf_Die *function, Dwarf_Die *param, uint64_t entry,
                                            struct gt_type_param_where *out);

/* Marks as unknown what may be elsewhere, as a parameter before it has no entry in Clang's code
 * without optimization. The function's types are complete. mangled: NULL, it has no such name;
 * described: parameters of the source that have entries, and one more if there are others. */
void gt_type_dwarf_find_ignored(struct gt_type_dwarf *d, const struct gt_type_prototype *item,
                                const char *mangled, unsigned described);

/* Whether Clang optimised the unit of an entry. It does not say so: attributes and places show it
 * that it writes only then. */
bool gt_type_dwarf_is_optimized(Dwarf_Die *unit);

/* Reads the symbols of functions; GT_E_NOMEM. */
int gt_type_dwarf_symbols_read(struct gt_type_dwarf *d, Elf *elf);
/* NULL: none at that address. */
const struct gt_type_dwarf_symbol *gt_type_dwarf_symbol_at(const struct gt_type_dwarf *d,
                                                           uint64_t addr);

#endif
