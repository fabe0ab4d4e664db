/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AAPCS64, the convention of aarch64.
 *
 *   integers, pointers   x0-x7; 16 bytes: an even register and the next one
 *   floats, vectors      v0-v7
 *   HFA, HVA             1 to 4 floats or vectors of one type: a v register each, all or none
 *   up to 16 bytes       x registers, all or none
 *   larger               the address of a copy
 *   result               x0, x1; v0-v3; larger: at the address that x8 has at entry
 *
 * What finds no register is on the stack, in slots of 8 bytes, 16-byte aligned values at multiples
 * of 16. Once a value went to the stack, its kind of registers takes no more values.
 */
#include "guest/abi/call.h"

#include <elf.h>
#include <stddef.h>

/* Whether a type consists of 1 to 4 floats or vectors of one kind. */
struct homogeneous {
    const struct gt_type *type;
    uint32_t size; /* of one */
    uint64_t end;  /* bytes that they cover */
};

static bool homogeneous_leaf(void *self, const struct gt_abi_leaf *leaf)
{
    struct homogeneous *h = self;
    const struct gt_type *t = leaf->type;
    uint32_t size = t->kind == GT_TYPE_COMPLEX ? t->size / 2 : t->size;
    uint64_t end = leaf->bit / 8 + t->size;

    if (t->kind != GT_TYPE_FLOAT && t->kind != GT_TYPE_COMPLEX && t->kind != GT_TYPE_VECTOR)
        return false;
    if (size == 0 || leaf->bit % (8 * (uint64_t)size))
        return false;
    if (h->type &&
        (size != h->size || (t->kind == GT_TYPE_VECTOR) != (h->type->kind == GT_TYPE_VECTOR)))
        return false;
    h->type = t;
    h->size = size;
    h->end = end > h->end ? end : h->end;
    return true;
}

/* The number of registers of such a type; 0: it is another one. */
static unsigned homogeneous(const struct gt_abi_call *call, uint32_t type, uint32_t *size)
{
    struct homogeneous h = {0};
    uint64_t whole = gt_type_size(call->types, type);

    if (!gt_abi_leaves(call, type, homogeneous_leaf, &h) || !h.type || h.end != whole ||
        whole > 4 * (uint64_t)h.size || (h.size > 8 && h.size != 16))
        return 0;
    *size = h.size;
    return (unsigned)(whole / h.size);
}

static void in_floats(struct gt_abi_value *v, const char *const *reg, unsigned n, uint32_t size)
{
    for (unsigned i = 0; i < n; i++)
        gt_abi_in_register(v, reg[i], size);
}

static void in_integers(const struct gt_abi *abi, struct gt_abi_value *v, unsigned first)
{
    for (uint32_t at = 0; at < v->size; at += 8)
        gt_abi_in_register(v, abi->integer[first + at / 8], v->size - at < 8 ? v->size - at : 8);
}

static void pass(struct gt_abi_call *call, uint32_t type, struct gt_abi_value *v)
{
    const struct gt_type *t = gt_type_plain(call->types, type);
    uint32_t size, align = gt_abi_align(call, type, false) >= 16 ? 16 : 8;
    unsigned n = homogeneous(call, type, &size), need = (v->size + 7) / 8;

    if (t->kind == GT_TYPE_VECTOR && n == 0) {
        gt_abi_lose(call, v, "vectors of this size are passed in several ways");
    } else if (n) {
        if (call->floats + n <= call->abi->n_float) {
            in_floats(v, &call->abi->floating[call->floats], n, size);
            call->floats += n;
        } else {
            call->floats = call->abi->n_float;
            gt_abi_on_stack(call, v, v->size, align);
        }
    } else if (v->size > 16) {
        gt_abi_pass_address(call, v);
    } else {
        if (align == 16)
            call->integers = (call->integers + 1) & ~1u;
        if (call->integers + need <= call->abi->n_integer) {
            in_integers(call->abi, v, call->integers);
            call->integers += need;
        } else {
            call->integers = call->abi->n_integer;
            gt_abi_on_stack(call, v, v->size, align);
        }
    }
}

static void give(struct gt_abi_call *call, uint32_t type, struct gt_abi_value *v)
{
    uint32_t size;
    unsigned n = v->by_reference ? 0 : homogeneous(call, type, &size);

    if (n) {
        in_floats(v, call->abi->floating, n, size);
    } else if (v->size <= 16 && !v->by_reference) {
        in_integers(call->abi, v, 0);
    } else {
        v->by_reference = v->at_entry = true;
        gt_abi_in_register(v, "x8", 8);
    }
}

static const char *dwarf(unsigned number)
{
    if (number < GT_ABI_REGISTERS)
        return gt_abi_aarch64.integer[number];
    if (number >= 64 && number < 64 + GT_ABI_REGISTERS)
        return gt_abi_aarch64.floating[number - 64];
    return NULL;
}

const struct gt_abi gt_abi_aarch64 = {
    .name = "aarch64",
    .target = "aarch64",
    .e_machine = EM_AARCH64,
    .bits = 64,
    .slot = 8,
    .first_stack = 0,
    .align_most = 16,
    .n_integer = 8,
    .n_float = 8,
    .integer = {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"},
    .floating = {"v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7"},
    .result = "x0",
    .float_result = "v0",
    .syscall = {"x0", "x1", "x2", "x3", "x4", "x5"},
    .syscall_number = "x8",
    .dwarf = dwarf,
    .pass = pass,
    .give = give,
};
