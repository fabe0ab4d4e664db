/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lp64d convention of riscv64. lp64, without float registers, places no float in registers of
 * their own; kernels use no floats.
 *
 *   integers, pointers   a0-a7
 *   floats               fa0-fa7, then as integers
 *   structs              of one or two floats, or of a float and an integer: a register each, if
 *                        there are enough; others as integers
 *   up to 16 bytes       one or two integer registers; the second half may be on the stack
 *   larger               the address of a copy
 *   result               as the first argument: a0 a1, fa0 fa1; larger: at the address that a0 has
 *                        at entry
 */
#include "guest/abi/call.h"

#include <elf.h>
#include <stddef.h>

/* The one or two scalars of a value, which may then be in registers of their own. */
struct flat {
    struct {
        bool is_float;
        uint32_t at, size; /* bytes */
    } part[2];
    unsigned n, floats;
};

static bool add(struct flat *f, bool is_float, uint32_t at, uint32_t size)
{
    if (f->n == 2 || size > 8 || size == 0)
        return false;
    f->part[f->n].is_float = is_float;
    f->part[f->n].at = at;
    f->part[f->n++].size = size;
    f->floats += is_float;
    return true;
}

static bool flatten_leaf(void *self, const struct gt_abi_leaf *leaf)
{
    const struct gt_type *t = leaf->type;
    uint32_t at = (uint32_t)(leaf->bit / 8), half = t->size / 2;

    if (leaf->in_union || leaf->bit / 8 > 16)
        return false;
    if (t->kind == GT_TYPE_COMPLEX)
        return add(self, true, at, half) && add(self, true, at + half, half);
    if (leaf->bits && t->size)
        at -= at % t->size;
    return (gt_abi_is_float(t) || gt_abi_is_integer(t)) &&
           add(self, gt_abi_is_float(t), at, t->size);
}

/* False: it goes as integers. */
static bool in_floats(struct gt_abi_call *call, uint32_t type, struct gt_abi_value *v)
{
    struct flat f = {0};

    if (!gt_abi_leaves(call, type, flatten_leaf, &f) || f.floats == 0 ||
        call->floats + f.floats > call->abi->n_float ||
        call->integers + f.n - f.floats > call->abi->n_integer)
        return false;
    if (f.n == 2 && f.part[0].at + f.part[0].size > f.part[1].at) {
        gt_abi_lose(call, v, "compilers disagree on a float beside a bit field of a larger type");
        return true;
    }
    for (unsigned i = 0; i < f.n; i++) {
        gt_abi_in_register(v,
                           f.part[i].is_float ? gt_abi_next_float(call) : gt_abi_next_integer(call),
                           f.part[i].size);
        v->piece[i].in_value = f.part[i].at;
    }
    return true;
}

static void in_integers(struct gt_abi_call *call, struct gt_abi_value *v, uint32_t align)
{
    const char *reg = v->size ? gt_abi_next_integer(call) : NULL;

    if (v->size == 0)
        return;
    if (!reg) {
        gt_abi_on_stack(call, v, v->size, align);
        return;
    }
    gt_abi_in_register(v, reg, v->size < 8 ? v->size : 8);
    if (v->size <= 8)
        return;
    reg = gt_abi_next_integer(call);
    if (reg)
        gt_abi_in_register(v, reg, v->size - 8);
    else
        gt_abi_on_stack(call, v, v->size - 8, 8);
}

static bool any_leaf(void *self, const struct gt_abi_leaf *leaf)
{
    (void)self;
    (void)leaf;
    return false;
}

/* Clang (14) looks at floats of such a class as if its bases had none; GCC does not. */
static bool has_base(const struct gt_types *types, uint32_t type)
{
    uint32_t id = gt_type_resolve(types, type), n = gt_type_get(types, id)->n;
    const struct gt_type_member *m = gt_type_members(types, id);

    if (gt_type_get(types, id)->kind == GT_TYPE_ARRAY)
        return has_base(types, gt_type_get(types, id)->of);
    for (uint32_t i = 0; m && i < n; i++)
        if (m[i].base || has_base(types, m[i].type))
            return true;
    return false;
}

static void pass(struct gt_abi_call *call, uint32_t type, struct gt_abi_value *v)
{
    uint32_t align = gt_abi_align(call, type, true);

    if (gt_type_plain(call->types, type)->kind == GT_TYPE_VECTOR)
        gt_abi_lose(call, v, "vectors are passed in several ways");
    else if (gt_abi_leaves(call, type, any_leaf, NULL))
        gt_abi_lose(call, v, "compilers disagree on classes without members");
    else if (has_base(call->types, type))
        gt_abi_lose(call, v, "compilers disagree on classes with base classes");
    else if (v->size > 16)
        gt_abi_pass_address(call, v);
    else if (!in_floats(call, type, v))
        in_integers(call, v, align > 16 ? 16 : align);
}

static void give(struct gt_abi_call *call, uint32_t type, struct gt_abi_value *v)
{
    struct gt_abi_call first = {.abi = call->abi, .types = call->types};

    if (gt_type_plain(call->types, type)->kind == GT_TYPE_VECTOR) {
        gt_abi_lose(call, v, "vectors are returned in several ways");
    } else if (!v->by_reference && has_base(call->types, type)) {
        gt_abi_lose(call, v, "compilers disagree on classes with base classes");
    } else if (v->size > 16 || v->by_reference) {
        v->by_reference = v->at_entry = true;
        gt_abi_in_register(v, gt_abi_next_integer(call), 8);
    } else if (!in_floats(&first, type, v)) {
        in_integers(&first, v, 8);
    }
}

static const char *dwarf(unsigned number)
{
    if (number >= 10 && number < 10 + GT_ABI_REGISTERS)
        return gt_abi_riscv64.integer[number - 10];
    if (number >= 42 && number < 42 + GT_ABI_REGISTERS)
        return gt_abi_riscv64.floating[number - 42];
    return NULL;
}

const struct gt_abi gt_abi_riscv64 = {
    .name = "riscv64",
    .target = "riscv64",
    .e_machine = EM_RISCV,
    .bits = 64,
    .slot = 8,
    .first_stack = 0,
    .align_most = 16,
    .n_integer = 8,
    .n_float = 8,
    .integer = {"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7"},
    .floating = {"fa0", "fa1", "fa2", "fa3", "fa4", "fa5", "fa6", "fa7"},
    .result = "a0",
    .float_result = "fa0",
    .syscall = {"a0", "a1", "a2", "a3", "a4", "a5"},
    .syscall_number = "a7",
    .dwarf = dwarf,
    .pass = pass,
    .give = give,
};
