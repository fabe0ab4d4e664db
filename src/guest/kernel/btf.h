/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The types in BTF as they stand in a file: numbers, names, kinds and the bytes that follow. For
 * guest/types, which makes a graph of them, and for the offsets of members (kernel.h).
 *
 * The numbers and string offsets of a module's BTF follow the kernel's.
 */
#ifndef GT_GUEST_KERNEL_BTF_H
#define GT_GUEST_KERNEL_BTF_H

#include "guest/kernel/kernel.h"

enum gt_kernel_btf_kind {
    GT_BTF_INT = 1,
    GT_BTF_POINTER,
    GT_BTF_ARRAY,
    GT_BTF_STRUCT,
    GT_BTF_UNION,
    GT_BTF_ENUM,
    GT_BTF_FORWARD,
    GT_BTF_TYPEDEF,
    GT_BTF_VOLATILE,
    GT_BTF_CONST,
    GT_BTF_RESTRICT,
    GT_BTF_FUNCTION,
    GT_BTF_PROTOTYPE,
    GT_BTF_VAR,
    GT_BTF_DATASEC,
    GT_BTF_FLOAT,
    GT_BTF_DECL_TAG,
    GT_BTF_TYPE_TAG,
    GT_BTF_ENUM64,
};

struct gt_kernel_btf {
    const uint8_t *types; /* NULL: no BTF */
    size_t types_size;
    const char *strings; /* NUL-terminated */
    size_t strings_size;
    uint32_t *index; /* offset of type i + 1 in types */
    size_t n;
};

struct gt_kernel_btf_type {
    uint32_t name, info, size; /* size: or the type that it refers to */
    const uint8_t *more;       /* what its kind asks for; its length was checked */
};

/* Fills b, except its index; false: there is no valid BTF at data. */
bool gt_kernel_btf_header(struct gt_kernel_btf *b, const uint8_t *data, size_t size);
/* Makes the index; the caller frees b->index. A type of unknown kind ends it. GT_E_NOMEM. */
int gt_kernel_btf_index(struct gt_kernel_btf *b);

/* Type `id` of this BTF, counted from 1; false: no such type. */
bool gt_kernel_btf_get(const struct gt_kernel_btf *b, uint32_t id, struct gt_kernel_btf_type *t);
unsigned gt_kernel_btf_kind(
    const struct gt_kernel_btf_type *t); /* enum gt_kernel_btf_kind, or a later one */
uint32_t gt_kernel_btf_u32(const uint8_t *at);

/* The BTF of a loaded kernel; types is NULL if it has none. Valid until gt_kernel_free. */
const struct gt_kernel_btf *gt_kernel_btf(const struct gt_kernel *k);
/* Indexes the BTF of a module; types is NULL if it has none. The caller frees b->index. GT_E_NOMEM.
 *
 */
int gt_kernel_module_btf(const struct gt_kernel_ko *m, struct gt_kernel_btf *b);

#endif
