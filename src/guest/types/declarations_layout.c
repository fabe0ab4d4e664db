/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where C compilers put the members of structs, and the data models of architectures. */
#include "guest/types/declarations_private.h"

#include <string.h>

static const struct {
    const char *target;
    struct gt_type_data_model model;
} models[] = {
    {"aarch64", {8, 16, .align_most = 16}},
    {"i386", {4, 12, .extended = true, .char_is_signed = true, .align_most = 4}},
    {"riscv64", {8, 16, .align_most = 16}},
    {"x86_64", {8, 16, .extended = true, .char_is_signed = true, .align_most = 16}},
};

const struct gt_type_data_model *gt_type_data_model_of(const char *target)
{
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        if (!strcmp(models[i].target, target))
            return &models[i].model;
    return NULL;
}

/* The offset of a member, in bits, at or after `end`. */
static uint64_t place(const struct gt_types *types, const struct gt_type_member *m, uint64_t end,
                      uint32_t align)
{
    uint64_t unit = 8 * gt_type_size(types, m->type);

    if (!m->bits)
        return (end + 8 * (uint64_t)align - 1) & ~(8 * (uint64_t)align - 1);
    /* A bit field does not cross a multiple of its type's size. */
    return unit && end / unit != (end + m->bits - 1) / unit ? (end + unit - 1) / unit * unit : end;
}

void gt_type_declarations_layout(struct gt_types *types, const struct gt_type_data_model *model,
                                 uint32_t id, struct gt_type_member *m, size_t n)
{
    struct gt_type type = *gt_type_get(types, id);
    uint64_t end = 0, size = 0;
    uint32_t most = 1;

    for (size_t i = 0; i < n; i++) {
        uint32_t align = gt_type_is_finite(types, m[i].type)
                             ? gt_type_align(types, m[i].type, model->align_most, true)
                             : 1;
        m[i].bit = type.kind == GT_TYPE_UNION ? 0 : place(types, &m[i], end, align);
        end = m[i].bit + (m[i].bits ? m[i].bits : 8 * gt_type_size(types, m[i].type));
        size = end > size ? end : size;
        most = align > most ? align : most;
        gt_types_add_member(types, id, &m[i]);
    }
    size = ((size + 7) / 8 + most - 1) / most * most;
    type.size = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
    type.incomplete = false;
    gt_types_set(types, id, &type);
}
