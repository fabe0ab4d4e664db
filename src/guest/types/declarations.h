/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prototypes from C declarations: of the C library and of system calls, and of users' files.
 *
 * Read are functions, typedefs, structs, unions, enums with constant expressions of numbers, and
 * comments; lines that begin with '#', attributes and qualifiers are passed over. Types are looked
 * up in the graph that the prototypes stand on, too, so that a file can name a kernel's structs.
 */
#ifndef GT_GUEST_TYPES_DECLARATIONS_H
#define GT_GUEST_TYPES_DECLARATIONS_H

#include "guest/types/prototypes.h"

/* Sizes that differ between architectures. */
struct gt_type_data_model {
    uint8_t word;        /* bytes of a pointer and of long */
    uint8_t long_double; /* bytes */
    bool extended;       /* long double has x87's 80 bits */
    bool char_is_signed;
    uint8_t align_most; /* largest alignment of a scalar in a struct */
};

/* That of a QEMU target; NULL: unknown. */
const struct gt_type_data_model *gt_type_data_model_of(const char *target);

/* Adds the declarations of a text to prototypes that are not finished. `name` is for messages.
 * GT_E_FORMAT: "NAME:LINE: ..."; GT_E_NOMEM, GT_E_RANGE. */
int gt_type_declarations_read(struct gt_type_prototypes *p, const struct gt_type_data_model *model,
                              const char *name, const char *text, size_t size,
                              struct gt_error *err);

#endif
