/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Specs of system calls: see syscalls.h. */
#include "calls/arguments/syscalls.h"

#include "calls/arguments/spec_private.h"

#include <string.h>

enum { ARGUMENTS = 6 };

const struct gt_arguments_syscall_places gt_arguments_syscall_reported = {
    .argument = {{.reg = "arg1"},
                 {.reg = "arg2"},
                 {.reg = "arg3"},
                 {.reg = "arg4"},
                 {.reg = "arg5"},
                 {.reg = "arg6"}},
    .result = {.reg = "result"}};

/* Names of types that are shown in another way than their kind: the typedef itself counts. */
static char format_of(const struct gt_types *types, uint32_t type, char format)
{
    const char *name = gt_type_get(types, type)->name;
    if (strcmp(name, "umode_t") == 0)
        return GT_VALUE_OCTAL;
    return strcmp(name, "bits_t") == 0 || strcmp(name, "word_t") == 0 ? GT_VALUE_HEX : format;
}

static void add_piece(struct gt_value_item *item, const struct gt_value_piece *place, unsigned size)
{
    struct gt_value_piece *p = &item->piece[item->n_pieces++];
    *p = *place;
    p->size = (uint16_t)size;
}

/* The parameter at word *at of the call's. False: it is not among the registers. */
static bool make_argument(struct gt_arguments *a, const struct gt_abi *abi,
                          const struct gt_arguments_syscall_places *places,
                          const struct gt_types *types, const struct gt_type_param *q, unsigned *at,
                          struct gt_value_item *item)
{
    uint32_t size = (uint32_t)gt_type_size(types, q->type);
    unsigned words = size > abi->slot ? 2 : 1, first = *at;
    *at += words;
    if (!size || first + words > ARGUMENTS)
        return false;
    *item = (struct gt_value_item){.number = (uint16_t)(first + 1), .name = q->name};
    gt_arguments_set_format(a, types, q->type, item);
    item->format = format_of(types, q->type, item->format);
    item->size = (uint16_t)size;
    for (unsigned i = 0; i < words; i++)
        add_piece(item, &places->argument[first + i], words > 1 ? abi->slot : 0);
    if (item->format != GT_VALUE_STRING)
        return true;
    item->size = 0;
    if (strcmp(q->name, "buf") == 0 && first + 1 < ARGUMENTS) { /* its length follows */
        item->piece[0].size = abi->slot;
        add_piece(item, &places->argument[first + 1], abi->slot);
    }
    return true;
}

void gt_arguments_by_syscall(struct gt_arguments *a, const struct gt_abi *abi,
                             const struct gt_arguments_syscall_places *places,
                             const struct gt_type_prototypes *p,
                             const struct gt_type_prototype *item, struct gt_value_spec *out)
{
    const struct gt_type *t = gt_type_get(p->types, item->type);
    const struct gt_type_param *q = gt_type_params(p->types, item->type);
    unsigned at = 0;

    *out = (struct gt_value_spec){.item = gt_arguments_items(a)};
    for (uint32_t i = 0; q && i < t->n; i++)
        out->n_arguments +=
            make_argument(a, abi, places, p->types, &q[i], &at, &out->item[out->n_arguments]);
    struct gt_value_item *result = &out->item[out->n_arguments];
    *result = (struct gt_value_item){.is_return = true};
    gt_arguments_set_format(a, p->types, t->of, result);
    result->size = abi->slot;
    add_piece(result, &places->result, 0);
    out->n_returns = 1;
}
