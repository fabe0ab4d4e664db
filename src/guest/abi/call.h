/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the calling conventions share while they place the arguments of one call. */
#ifndef GT_GUEST_ABI_CALL_H
#define GT_GUEST_ABI_CALL_H

#include "guest/abi/abi.h"

struct gt_abi_call {
    const struct gt_abi *abi;
    const struct gt_types *types;
    unsigned integers, floats; /* registers taken */
    uint32_t stack;            /* bytes taken */
    bool variadic;
    const char *lost; /* why nothing more can be placed; NULL: it can */
};

/* A scalar inside a type. */
struct gt_abi_leaf {
    const struct gt_type *type; /* neither typedef, array, struct nor union */
    uint64_t bit;               /* offset */
    uint32_t bits;              /* width of a bit field; 0: none */
    bool aligned;               /* its offset is a multiple of its alignment */
    bool in_union;
};

/* Calls `leaf` for each scalar; false: `leaf` returned false. The type must be finite, which
 * gt_abi_place checks. */
bool gt_abi_leaves(const struct gt_abi_call *call, uint32_t type,
                   bool (*leaf)(void *self, const struct gt_abi_leaf *leaf), void *self);

/* Alignment in bytes; `adjusted`: with what attributes of the type itself ask for. */
uint32_t gt_abi_align(const struct gt_abi_call *call, uint32_t type, bool adjusted);

bool gt_abi_is_float(const struct gt_type *t);     /* FLOAT */
bool gt_abi_is_integer(const struct gt_type *t);   /* integers, pointers, enums... */
bool gt_abi_is_aggregate(const struct gt_type *t); /* struct, union, array */

/* Add a piece, of the value's next bytes. */
void gt_abi_in_register(struct gt_abi_value *v, const char *reg, uint32_t size);
/* At the next place on the stack that is a multiple of align; takes a multiple of the slot. */
void gt_abi_on_stack(struct gt_abi_call *call, struct gt_abi_value *v, uint32_t size,
                     uint32_t align);
/* The address of a value: in the next integer register or on the stack. */
void gt_abi_pass_address(struct gt_abi_call *call, struct gt_abi_value *v);
/* The next float register; NULL: all are taken. */
const char *gt_abi_next_float(struct gt_abi_call *call);
const char *gt_abi_next_integer(struct gt_abi_call *call);
/* Neither this value nor what follows can be placed. */
void gt_abi_lose(struct gt_abi_call *call, struct gt_abi_value *v, const char *why);

#endif
