/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The prototypes of the functions of one file: name, link address, the function's type, and where
 * its parameters are if that is not what the calling convention says.
 *
 * DWARF describes functions by address. BTF and declarations describe them by name: all functions
 * of that name are meant.
 */
#ifndef GT_GUEST_TYPES_PROTOTYPES_H
#define GT_GUEST_TYPES_PROTOTYPES_H

#include "guest/types/types.h"

/* Where a parameter is at the function's first instruction. */
enum gt_type_param_place {
    GT_PARAM_BY_ABI,    /* where the calling convention has it */
    GT_PARAM_REGISTERS, /* in registers, by their numbers in DWARF */
    GT_PARAM_STACK,     /* at `offset` from the canonical frame address */
    GT_PARAM_REFERENCE, /* its address is in a register */
    GT_PARAM_CHANGED,   /* the compiler changed the function's parameters: unknown */
};

enum { GT_PARAM_PIECES = 4 };

struct gt_type_param_where {
    uint8_t place;                  /* enum gt_type_param_place */
    uint8_t n;                      /* registers */
    uint16_t reg[GT_PARAM_PIECES];  /* DWARF numbers */
    uint16_t size[GT_PARAM_PIECES]; /* bytes of the value in each; 0: all of it */
    int32_t offset;
};

struct gt_type_prototype {
    const char *name; /* mangled in C++ */
    uint64_t addr;    /* link address; 0 if has_addr is not set */
    uint32_t type;    /* a type of kind GT_TYPE_FUNCTION */
    uint32_t where;   /* private: index of the first parameter's where, plus 1; 0: all by the ABI */
    bool has_addr;
    bool changed;    /* the compiler changed parameters or result: its result is unknown, too */
    bool named_only; /* its parameters are where the compiler says, or unknown */
    bool no_result;  /* the compiler may have removed the result */
    bool no_address; /* or does not return the address of a result in memory */
};

struct gt_type_prototypes {
    struct gt_types *types;
    struct gt_type_prototype *item; /* sorted by address, those without one first */
    size_t n;
    struct gt_type_param_where *where;
    size_t n_where;
    /* private */
    uint32_t *by_name;
    size_t room, where_room;
};

/* Free with gt_type_prototypes_free. NULL: out of memory. */
struct gt_type_prototypes *gt_type_prototypes_new(const struct gt_types *base);
void gt_type_prototypes_free(struct gt_type_prototypes *p);

/* Append; failures latch in `types`. `where` is NULL, or has one element a parameter. */
void gt_type_prototypes_add(struct gt_type_prototypes *p, const struct gt_type_prototype *item,
                            const struct gt_type_param_where *where, size_t n_params);
/* After the last addition: sorts. GT_E_NOMEM, GT_E_RANGE: an addition failed. */
int gt_type_prototypes_finish(struct gt_type_prototypes *p);

/* NULL: not found. Of several with one name the first by address. */
const struct gt_type_prototype *gt_type_prototypes_at(const struct gt_type_prototypes *p,
                                                      uint64_t addr);
const struct gt_type_prototype *gt_type_prototypes_named(const struct gt_type_prototypes *p,
                                                         const char *name);
/* One element a parameter; NULL: all of them are where the calling convention has them. */
const struct gt_type_param_where *gt_type_prototype_where(const struct gt_type_prototypes *p,
                                                          const struct gt_type_prototype *item);

/* libc.c: prototypes of the C library and POSIX on a QEMU target, for programs without debug
 * information; the caller frees *out. GT_E_UNSUPPORTED: an unknown target;
 * GT_E_NOMEM.
 */
int gt_type_libc_prototypes(const char *target, struct gt_type_prototypes **out,
                            struct gt_error *err);

#endif
