/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The conventions of i386: cdecl, and regparm(3), with which Linux kernels are compiled.
 *
 *   cdecl       all arguments on the stack, above the return address, in slots of 4 bytes
 *   regparm(3)  integers and structs of up to 12 bytes: eax edx ecx, if there are enough for the
 *               whole value; one for which there are not enough leaves none to the next ones;
 *               functions with variable arguments: as cdecl
 *   result      eax, edx:eax; floats st0, in 80 bits; structs: their address is in eax at the
 *               return, and it was passed as an argument before the others
 */
#include "guest/abi/call.h"

#include <elf.h>
#include <stddef.h>

static bool vector_leaf(void *self, const struct gt_abi_leaf *leaf)
{
    bool *vector = self;

    *vector = *vector || leaf->type->kind == GT_TYPE_VECTOR ||
              (leaf->type->size == 16 && leaf->type->kind != GT_TYPE_COMPLEX);
    return !*vector;
}

static const char empty[] = "compilers disagree on classes without members";

static bool any_leaf(void *self, const struct gt_abi_leaf *leaf)
{
    (void)self;
    (void)leaf;
    return false;
}

static void pass(struct gt_abi_call *call, uint32_t type, struct gt_abi_value *v)
{
    const struct gt_type *t = gt_type_plain(call->types, type);
    unsigned need = (v->size + 3) / 4;
    bool vector = false;

    if (gt_abi_leaves(call, type, any_leaf, NULL)) {
        gt_abi_lose(call, v, empty);
        return;
    }
    gt_abi_leaves(call, type, vector_leaf, &vector);
    if (vector) {
        gt_abi_lose(call, v, "vectors are passed in several ways");
        return;
    }
    if (!gt_abi_is_float(t) && t->kind != GT_TYPE_COMPLEX && !call->variadic &&
        call->integers < call->abi->n_integer) {
        if (call->integers + need <= call->abi->n_integer) {
            for (uint32_t at = 0; at < v->size; at += 4)
                gt_abi_in_register(v, gt_abi_next_integer(call),
                                   v->size - at < 4 ? v->size - at : 4);
            return;
        }
        call->integers = call->abi->n_integer;
    }
    gt_abi_on_stack(call, v, v->size, 4);
}

/* The result's address takes the place of an argument. */
static void give_address(struct gt_abi_call *call, struct gt_abi_value *v)
{
    struct gt_abi_value address = {.size = 4};

    if (call->variadic)
        gt_abi_on_stack(call, &address, 4, 4);
    else
        gt_abi_pass_address(call, &address);
    v->by_reference = true;
    gt_abi_in_register(v, "eax", 4);
}

static void give(struct gt_abi_call *call, uint32_t type, struct gt_abi_value *v)
{
    const struct gt_type *t = gt_type_plain(call->types, type);

    if (!v->by_reference && gt_abi_leaves(call, type, any_leaf, NULL)) {
        gt_abi_lose(call, v, empty);
    } else if (v->by_reference || gt_abi_is_aggregate(t) ||
               (t->kind == GT_TYPE_COMPLEX && t->size > 8)) {
        give_address(call, v);
    } else if (t->kind == GT_TYPE_VECTOR || v->size == 16 || (gt_abi_is_float(t) && t->size < 4)) {
        v->unknown = "vectors and such floats are returned in several ways";
    } else if (gt_abi_is_float(t)) {
        v->extended = true;
        gt_abi_in_register(v, "st0", 10);
    } else if (v->size) {
        gt_abi_in_register(v, "eax", v->size < 4 ? v->size : 4);
        if (v->size > 4)
            gt_abi_in_register(v, "edx", v->size - 4);
    }
}

static const char *dwarf(unsigned number)
{
    static const char *const names[] = {"eax", "ecx", "edx"};

    if (number < 3)
        return names[number];
    return number >= 21 && number < 24 ? gt_abi_i386.floating[number - 21] : NULL;
}

#define COMMON                                                                                     \
    .target = "i386", .e_machine = EM_386, .bits = 32, .slot = 4, .first_stack = 4,                \
    .align_most = 4, .result = "eax", .float_result = "st0",                                       \
    .syscall = {"ebx", "ecx", "edx", "esi", "edi", "ebp"}, .syscall_number = "eax",                \
    .dwarf = dwarf, .pass = pass, .give = give

const struct gt_abi gt_abi_i386 = {
    .name = "i386",
    COMMON,
    .floating = {"xmm0", "xmm1", "xmm2"}, /* of functions that only the compiler sees */
};

const struct gt_abi gt_abi_i386_regparm = {
    .name = "i386-regparm",
    COMMON,
    .n_integer = 3,
    .integer = {"eax", "edx", "ecx"},
};
