/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Helpers of the calling conventions: see call.h. */
#include "guest/abi/call.h"

bool gt_abi_is_float(const struct gt_type *t)
{
    return t->kind == GT_TYPE_FLOAT;
}

bool gt_abi_is_integer(const struct gt_type *t)
{
    return t->kind == GT_TYPE_INT || t->kind == GT_TYPE_BOOL || t->kind == GT_TYPE_CHAR ||
           t->kind == GT_TYPE_ENUM || t->kind == GT_TYPE_POINTER;
}

bool gt_abi_is_aggregate(const struct gt_type *t)
{
    return t->kind == GT_TYPE_STRUCT || t->kind == GT_TYPE_UNION || t->kind == GT_TYPE_ARRAY;
}

uint32_t gt_abi_align(const struct gt_abi_call *call, uint32_t type, bool adjusted)
{
    return gt_type_align(call->types, type, call->abi->align_most, adjusted);
}

struct visit {
    const struct gt_abi_call *call;
    bool (*leaf)(void *self, const struct gt_abi_leaf *leaf);
    void *self;
    int left; /* leaves; large arrays are of no interest in registers */
};

static bool visit(struct visit *v, uint32_t type, struct gt_abi_leaf at)
{
    const struct gt_types *types = v->call->types;
    uint32_t id = gt_type_resolve(types, type);
    const struct gt_type *t = gt_type_get(types, id);
    const struct gt_type_member *m = gt_type_members(types, id);
    uint64_t bit = at.bit;

    if (--v->left < 0)
        return false;
    if (t->kind == GT_TYPE_ARRAY) {
        uint64_t size = gt_type_size(types, t->of);
        for (uint32_t i = 0; i < t->n; i++) {
            at.bit = bit + 8 * size * i;
            if (!visit(v, t->of, at))
                return false;
        }
        return true;
    }
    if (t->kind == GT_TYPE_STRUCT || t->kind == GT_TYPE_UNION) {
        for (uint32_t i = 0; m && i < t->n; i++) {
            struct gt_abi_leaf inner = {.bit = bit + m[i].bit,
                                        .bits = m[i].bits,
                                        .in_union = at.in_union || t->kind == GT_TYPE_UNION};
            if (m[i].is_virtual || !visit(v, m[i].type, inner))
                return false;
        }
        return true;
    }
    at.type = t;
    at.aligned = at.bits || at.bit % (8 * (uint64_t)gt_abi_align(v->call, id, false)) == 0;
    return v->leaf(v->self, &at);
}

bool gt_abi_leaves(const struct gt_abi_call *call, uint32_t type,
                   bool (*leaf)(void *self, const struct gt_abi_leaf *leaf), void *self)
{
    struct visit v = {call, leaf, self, 4096};

    return visit(&v, type, (struct gt_abi_leaf){0});
}

static struct gt_abi_piece *add_piece(struct gt_abi_value *v, uint32_t size)
{
    static struct gt_abi_piece none;
    struct gt_abi_piece *p = v->n < GT_ABI_PIECES ? &v->piece[v->n] : &none;

    *p = (struct gt_abi_piece){.size = size};
    if (v->n < GT_ABI_PIECES) {
        p->in_value = v->n ? p[-1].in_value + p[-1].size : 0;
        v->n++;
    } else {
        v->unknown = "it is in too many pieces";
    }
    return p;
}

void gt_abi_in_register(struct gt_abi_value *v, const char *reg, uint32_t size)
{
    add_piece(v, size)->reg = reg;
}

void gt_abi_on_stack(struct gt_abi_call *call, struct gt_abi_value *v, uint32_t size,
                     uint32_t align)
{
    uint32_t slot = call->abi->slot;

    if (align < slot)
        align = slot;
    call->stack = (call->stack + align - 1) & ~(align - 1);
    if (size > INT32_MAX / 2 || call->stack > INT32_MAX / 2) {
        gt_abi_lose(call, v, "its place is too far up the stack");
        return;
    }
    add_piece(v, size)->stack = (int32_t)(call->abi->first_stack + call->stack);
    call->stack += (size + slot - 1) & ~(slot - 1);
}

const char *gt_abi_next_float(struct gt_abi_call *call)
{
    return call->floats < call->abi->n_float ? call->abi->floating[call->floats++] : NULL;
}

const char *gt_abi_next_integer(struct gt_abi_call *call)
{
    return call->integers < call->abi->n_integer ? call->abi->integer[call->integers++] : NULL;
}

void gt_abi_pass_address(struct gt_abi_call *call, struct gt_abi_value *v)
{
    const char *reg = gt_abi_next_integer(call);

    v->by_reference = true;
    if (reg)
        gt_abi_in_register(v, reg, call->abi->bits / 8);
    else
        gt_abi_on_stack(call, v, call->abi->bits / 8, 1);
}

void gt_abi_lose(struct gt_abi_call *call, struct gt_abi_value *v, const char *why)
{
    v->unknown = why;
    v->n = 0;
    call->lost = why;
}
