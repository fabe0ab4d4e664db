/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of calling conventions, and the rules that all share: see abi.h. */
#include "guest/abi/abi.h"

#include "guest/abi/call.h"

#include <elf.h>
#include <string.h>

static const struct gt_abi *const table[] = {
    &gt_abi_aarch64, &gt_abi_i386, &gt_abi_i386_regparm, &gt_abi_riscv64, &gt_abi_x86_64,
};

const struct gt_abi *gt_abi_at(size_t index)
{
    return index < sizeof table / sizeof table[0] ? table[index] : NULL;
}

const struct gt_abi *gt_abi_by_elf(uint16_t e_machine, unsigned bits)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i]->e_machine == e_machine && table[i]->bits == bits)
            return table[i];
    return NULL;
}

const struct gt_abi *gt_abi_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (!strcmp(table[i]->name, name))
            return table[i];
    return NULL;
}

const struct gt_abi *gt_abi_of_kernel(uint16_t e_machine, unsigned bits)
{
    return e_machine == EM_386 ? &gt_abi_i386_regparm : gt_abi_by_elf(e_machine, bits);
}

int gt_abi_of_target(const char *target, const char *name, const struct gt_abi **out,
                     struct gt_error *err)
{
    *out = gt_abi_by_name(name ? name : target);
    if (name && (!*out || strcmp((*out)->target, target)))
        return gt_error_set(err, GT_E_USAGE,
                            "abi=%.50s: guests of target %s have no such calling convention", name,
                            target);
    return 0;
}

/* Why a value of the type cannot be placed; NULL: it can. */
static const char *trouble(const struct gt_abi_call *call, uint32_t type)
{
    const struct gt_type *t = gt_type_plain(call->types, type);

    if (t->kind == GT_TYPE_UNKNOWN || t->kind == GT_TYPE_FUNCTION)
        return "its type is unknown";
    if (t->incomplete)
        return "its type is not described";
    if (!gt_type_is_finite(call->types, type) || gt_type_size(call->types, type) > INT32_MAX / 4)
        return "its type has no end";
    return NULL;
}

static void give_result(struct gt_abi_call *call, uint32_t type, struct gt_abi_value *v)
{
    const struct gt_type *t = gt_type_plain(call->types, type);
    const char *why = trouble(call, type);

    *v = (struct gt_abi_value){0};
    if (t->kind == GT_TYPE_VOID)
        return;
    if (why) {
        gt_abi_lose(call, v, why);
        return;
    }
    v->size = (uint32_t)gt_type_size(call->types, type);
    v->by_reference = t->by_reference;
    call->abi->give(call, type, v);
}

static void pass_param(struct gt_abi_call *call, uint32_t type, struct gt_abi_value *v)
{
    const struct gt_type *t = gt_type_plain(call->types, type);
    const char *why = call->lost ? call->lost : trouble(call, type);

    *v = (struct gt_abi_value){0};
    if (why) {
        gt_abi_lose(call, v, why);
        return;
    }
    v->size = (uint32_t)gt_type_size(call->types, type);
    if (t->by_reference)
        gt_abi_pass_address(call, v);
    else if (t->kind == GT_TYPE_ARRAY)
        gt_abi_lose(call, v, "arrays are not passed by value");
    else if (v->size)
        call->abi->pass(call, type, v);
}

void gt_abi_place(const struct gt_abi *abi, const struct gt_types *types, uint32_t type,
                  struct gt_abi_value *result, struct gt_abi_value *param)
{
    const struct gt_type *t = gt_type_get(types, type);
    const struct gt_type_param *p = gt_type_params(types, type);
    struct gt_abi_call call = {.abi = abi, .types = types, .variadic = t->variadic};

    give_result(&call, t->of, result);
    for (uint32_t i = 0; p && i < t->n; i++)
        pass_param(&call, p[i].type, &param[i]);
}

static bool is_argument_register(const struct gt_abi *abi, const char *reg)
{
    for (unsigned i = 0; i < GT_ABI_REGISTERS; i++)
        if ((abi->integer[i] && !strcmp(abi->integer[i], reg)) ||
            (abi->floating[i] && !strcmp(abi->floating[i], reg)))
            return true;
    return !abi->n_integer && abi->bits == 32; /* of i386's functions that are not exported */
}

/* Whether the compiler has the parameter in a register that the convention uses for something else,
 * as LLVM's fastcc of riscv64 does. */
static bool is_elsewhere(const struct gt_abi *abi, const struct gt_type_param_where *w)
{
    unsigned n = w->place == GT_PARAM_REGISTERS ? w->n : w->place == GT_PARAM_REFERENCE;

    for (unsigned i = 0; i < n && i < GT_PARAM_PIECES; i++) {
        const char *reg = abi->dwarf(w->reg[i]);
        if (!reg || !is_argument_register(abi, reg))
            return true;
    }
    return false;
}

/* The registers that the compiler named, as pieces; false: not all of the value is there. */
static bool named_registers(const struct gt_abi *abi, const struct gt_type_param_where *w,
                            struct gt_abi_value *v)
{
    struct gt_abi_value to = {.size = v->size};

    for (unsigned i = 0; i < w->n && i < GT_PARAM_PIECES; i++) {
        const char *reg = abi->dwarf(w->reg[i]);
        bool wide = reg && (reg[0] == 'v' || reg[0] == 'x') && (reg[1] == 'm' || reg[0] == 'v');
        uint32_t room = wide ? 16 : abi->slot, size = w->size[i] ? w->size[i] : v->size;
        if (size > room)
            return false;
        gt_abi_in_register(&to, reg, size);
    }
    if (!to.n || to.piece[to.n - 1].in_value + to.piece[to.n - 1].size < v->size)
        return false;
    *v = to;
    return true;
}

/* True if the compiler's word places the parameter. */
static bool named(const struct gt_abi *abi, const struct gt_type_param_where *w,
                  struct gt_abi_value *v)
{
    if (is_elsewhere(abi, w))
        return false;
    switch (w->place) {
    case GT_PARAM_REGISTERS:
        return v->size && named_registers(abi, w, v);
    case GT_PARAM_STACK:
        if (w->offset < 0 || !v->size)
            return false;
        *v = (struct gt_abi_value){.size = v->size, .n = 1};
        v->piece[0] = (struct gt_abi_piece){.stack = abi->first_stack + w->offset, .size = v->size};
        return true;
    case GT_PARAM_REFERENCE:
        *v = (struct gt_abi_value){.size = v->size, .by_reference = true};
        gt_abi_in_register(v, abi->dwarf(w->reg[0]), abi->bits / 8);
        return true;
    default:
        return false;
    }
}

void gt_abi_place_prototype(const struct gt_abi *abi, const struct gt_type_prototypes *p,
                            const struct gt_type_prototype *item, struct gt_abi_value *result,
                            struct gt_abi_value *param)
{
    static const char changed[] = "the compiler changed the function's parameters";
    const struct gt_type_param_where *w = gt_type_prototype_where(p, item);
    const struct gt_type *t = gt_type_get(p->types, item->type);
    const struct gt_type_param *q = gt_type_params(p->types, item->type);

    gt_abi_place(abi, p->types, item->type, result, param);
    for (uint32_t i = 0; q && i < t->n; i++) {
        bool can = gt_type_is_finite(p->types, q[i].type);
        param[i].size = can ? (uint32_t)gt_type_size(p->types, q[i].type) : 0;
        if (w && can && named(abi, &w[i], &param[i]))
            continue;
        if (item->changed || item->named_only ||
            (w && (w[i].place == GT_PARAM_CHANGED || is_elsewhere(abi, &w[i])))) {
            param[i].unknown = changed;
            param[i].n = 0;
        }
    }
    if (item->no_address && result->by_reference && !result->at_entry && !result->unknown) {
        result->unknown = "the compiler may not return the result's address";
        result->n = 0;
    }
    if ((item->changed || item->no_result) && result->size && !result->unknown) {
        result->unknown = "the compiler may have removed the result";
        result->n = 0;
    }
}

bool gt_abi_argument(const struct gt_abi *abi, unsigned number, bool is_float,
                     struct gt_abi_value *v)
{
    struct gt_abi_call call = {.abi = abi};
    const char *const *reg = is_float ? abi->floating : abi->integer;
    unsigned n = is_float ? abi->n_float : abi->n_integer;

    *v = (struct gt_abi_value){.size = is_float ? 8 : abi->slot};
    if (number == 0 || number > 1024)
        return false;
    if (number <= n) {
        gt_abi_in_register(v, reg[number - 1], v->size);
        return true;
    }
    call.stack = (number - n - 1) * v->size;
    gt_abi_on_stack(&call, v, v->size, 1);
    return true;
}

static bool is_float_register(const struct gt_abi *abi, const char *reg)
{
    for (unsigned i = 0; reg && i < abi->n_float; i++)
        if (!strcmp(abi->floating[i], reg))
            return true;
    return false;
}

bool gt_abi_long_double(const struct gt_abi *abi, unsigned number, unsigned size,
                        struct gt_abi_value *v)
{
    struct gt_type real = {.kind = GT_TYPE_FLOAT, .size = size, .extended = size == 10};
    struct gt_types *types = gt_types_new(NULL);
    struct gt_abi_call call = {.abi = abi, .types = types, .floats = number ? number - 1 : 0};
    bool good = false;

    *v = (struct gt_abi_value){0};
    if (real.extended)
        real.size = abi->bits == 32 ? 12 : 16;
    if (types && call.floats <= abi->n_float) {
        uint32_t id = gt_types_add(types, &real);
        if (number)
            pass_param(&call, id, v);
        else
            give_result(&call, id, v);
        good = gt_types_status(types) == GT_OK && !v->unknown && v->n && !v->at_entry &&
               (!number || is_float_register(abi, v->piece[0].reg));
    }
    gt_types_free(types);
    return good;
}
