/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The System V convention of x86_64, which the Linux kernel uses inside, too.
 *
 *   integers, pointers   rdi rsi rdx rcx r8 r9; results rax rdx
 *   floats               xmm0-xmm7; results xmm0 xmm1
 *   long double          on the stack; result st0 (complex: st0 and st1)
 *   structs              up to 16 bytes: each 8 bytes by their members, integers if anything in
 *                        them is one; all in registers or all on the stack
 *   larger, unaligned    by value on the stack; result: its address is in rax at the return
 *
 * A value that finds no register leaves those that are left to the next ones. Stack slots have 8
 * bytes; the first is above the return address.
 */
#include "guest/abi/call.h"

#include <elf.h>
#include <stddef.h>

enum class { NOTHING, INTEGER, SSE, SSE_UP, X87, X87_UP, MEMORY };

struct classes {
    enum class of[2]; /* of each 8 bytes */
    bool memory;
    bool odd; /* a vector that is passed in several ways */
};

static bool is_x87_class(enum class class)
{
    return class == X87 || class == X87_UP;
}

/* What two members share is an integer before it is a long double, and that before a float. */
static void merge(struct classes *c, uint64_t first, uint64_t last, enum class class)
{
    for (uint64_t i = first; i <= last && i < 2; i++) {
        enum class *of = &c->of[i];
        if (*of == NOTHING || class == INTEGER)
            *of = class;
        else if (*of != class && *of != INTEGER)
            *of = is_x87_class(*of) || is_x87_class(class) ? MEMORY : SSE;
    }
}

static bool classify_leaf(void *self, const struct gt_abi_leaf *leaf)
{
    struct classes *c = self;
    const struct gt_type *t = leaf->type;
    uint64_t bits = leaf->bits ? leaf->bits : 8 * (uint64_t)t->size;
    uint64_t first = leaf->bit / 64, last = bits ? (leaf->bit + bits - 1) / 64 : first;

    if (!leaf->aligned)
        c->memory = true;
    if (t->size == 0)
        return true;
    if (gt_abi_is_integer(t)) {
        merge(c, first, last, INTEGER);
    } else if (t->extended) {
        merge(c, first, first, X87);
        merge(c, last, last, X87_UP);
    } else if (t->kind == GT_TYPE_VECTOR && t->size != 8 && t->size != 16) {
        c->odd = true;
    } else if (t->kind == GT_TYPE_COMPLEX && t->size == 32) {
        c->memory = true;
    } else {
        bool whole = t->size == 16 && t->kind != GT_TYPE_COMPLEX; /* one register */
        merge(c, first, first, SSE);
        if (last > first)
            merge(c, last, last, whole ? SSE_UP : SSE);
    }
    return true;
}

static struct classes classify(const struct gt_abi_call *call, uint32_t type, uint64_t size)
{
    struct classes c = {{NOTHING, NOTHING}, false, false};

    if (!gt_abi_leaves(call, type, classify_leaf, &c) || size > 16)
        c.memory = true;
    if (c.of[1] == SSE_UP && c.of[0] != SSE)
        c.of[1] = SSE;
    if (c.of[0] == MEMORY || c.of[1] == MEMORY || (c.of[0] == X87) != (c.of[1] == X87_UP))
        c.memory = true;
    return c;
}

static void in_registers(struct gt_abi_value *v, const struct classes *c,
                         const char *const *integer, const char *const *floating)
{
    for (uint32_t i = 0; i < 2 && 8 * i < v->size; i++) {
        uint32_t size = v->size - 8 * i < 8 ? v->size - 8 * i : 8;
        if (c->of[i] == SSE_UP) {
            v->piece[v->n - 1].size = 8 + size;
        } else if (c->of[i] != NOTHING) {
            gt_abi_in_register(v, c->of[i] == INTEGER ? *integer++ : *floating++, size);
            v->piece[v->n - 1].in_value = 8 * i;
        }
    }
}

static unsigned count(const struct classes *c, enum class class)
{
    return (unsigned)(c->of[0] == class) + (unsigned)(c->of[1] == class);
}

static bool is_x87(const struct classes *c)
{
    return c->of[0] == X87;
}

static void pass(struct gt_abi_call *call, uint32_t type, struct gt_abi_value *v)
{
    const struct gt_type *t = gt_type_plain(call->types, type);
    struct classes c = classify(call, type, v->size);
    unsigned integers = count(&c, INTEGER), floats = count(&c, SSE);
    uint32_t align = gt_abi_align(call, type, true);

    if (c.odd || align > 16) {
        gt_abi_lose(call, v, "vectors and structs of this alignment are passed in several ways");
        return;
    }
    if (!c.memory && !is_x87(&c) && call->integers + integers <= call->abi->n_integer &&
        call->floats + floats <= call->abi->n_float) {
        in_registers(v, &c, &call->abi->integer[call->integers],
                     &call->abi->floating[call->floats]);
        call->integers += integers;
        call->floats += floats;
    } else if (t->kind == GT_TYPE_INT && v->size == 16) {
        gt_abi_lose(call, v, "compilers disagree on 128-bit integers without two free registers");
    } else {
        gt_abi_on_stack(call, v, v->size, align);
    }
}

/* Pieces of 10 bytes: long doubles. */
static void give_x87(struct gt_abi_value *v, unsigned n)
{
    static const char *const reg[] = {"st0", "st1"};

    for (unsigned i = 0; i < n; i++) {
        gt_abi_in_register(v, reg[i], 10);
        v->piece[i].in_value = 16 * i;
    }
}

static void give(struct gt_abi_call *call, uint32_t type, struct gt_abi_value *v)
{
    static const char *const integer[] = {"rax", "rdx"}, *const floating[] = {"xmm0", "xmm1"};
    const struct gt_type *t = gt_type_plain(call->types, type);
    struct classes c = classify(call, type, v->size);

    if (t->kind == GT_TYPE_COMPLEX && t->size == 32 && !v->by_reference) {
        give_x87(v, 2);
    } else if (c.odd) {
        v->unknown = "vectors of this size are returned in several ways";
    } else if (c.memory || v->by_reference) {
        v->by_reference = true;
        gt_abi_next_integer(call);
        gt_abi_in_register(v, "rax", 8);
    } else if (is_x87(&c)) {
        give_x87(v, 1);
    } else {
        in_registers(v, &c, integer, floating);
    }
}

static const char *dwarf(unsigned number)
{
    static const char *const names[] = {"rax", "rdx", "rcx", "rbx", "rsi",
                                        "rdi", NULL,  NULL,  "r8",  "r9"};

    if (number < sizeof names / sizeof names[0])
        return names[number];
    if (number >= 17 && number < 17 + GT_ABI_REGISTERS)
        return gt_abi_x86_64.floating[number - 17];
    return NULL;
}

const struct gt_abi gt_abi_x86_64 = {
    .name = "x86_64",
    .target = "x86_64",
    .e_machine = EM_X86_64,
    .bits = 64,
    .slot = 8,
    .first_stack = 8,
    .align_most = 16,
    .n_integer = 6,
    .n_float = 8,
    .integer = {"rdi", "rsi", "rdx", "rcx", "r8", "r9"},
    .floating = {"xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7"},
    .result = "rax",
    .float_result = "xmm0",
    .syscall = {"rdi", "rsi", "rdx", "r10", "r8", "r9"},
    .syscall_number = "rax",
    .dwarf = dwarf,
    .pass = pass,
    .give = give,
};
