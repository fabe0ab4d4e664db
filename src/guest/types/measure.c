/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What follows from a graph's types: sizes, flags, and whether a type ends. */
#include "guest/types/types.h"

enum { WALK_MAX = 1 << 16 };

uint64_t gt_type_size(const struct gt_types *t, uint32_t id)
{
    uint64_t n = 1;

    for (int i = 0; i < GT_TYPE_STEPS; i++) {
        const struct gt_type *type = gt_type_plain(t, id);
        if (type->kind != GT_TYPE_ARRAY)
            return type->kind == GT_TYPE_FUNCTION || type->incomplete ? 0 : n * type->size;
        if (n > UINT32_MAX / (type->n ? type->n : 1))
            return 0; /* with an element of at most 2^32 bytes the product would not fit */
        n *= type->n;
        id = type->of;
    }
    return 0;
}

static uint32_t scalar_align(const struct gt_type *type, uint32_t most)
{
    uint32_t size = type->kind == GT_TYPE_COMPLEX ? type->size / 2 : type->size, align = 1;

    if (type->kind == GT_TYPE_VECTOR)
        return size && (size & (size - 1)) == 0 ? size : 1;
    while (align < size && align < most && size % (2 * align) == 0)
        align *= 2;
    return align;
}

static uint32_t member_align(const struct gt_types *t, const struct gt_type_member *m,
                             uint32_t most)
{
    uint32_t align = m->align ? m->align : gt_type_align(t, m->type, most, true);

    if (m->bits)
        return align; /* that of its type: the rule of all conventions here */
    return m->bit % (8 * (uint64_t)align) ? 1 : align;
}

uint32_t gt_type_align(const struct gt_types *t, uint32_t id, uint32_t most, bool adjusted)
{
    uint32_t plain = gt_type_resolve(t, id), align = 1;
    const struct gt_type *type = gt_type_get(t, plain);
    const struct gt_type_member *m = gt_type_members(t, plain);

    if (type->align && adjusted)
        return type->align;
    if (type->kind == GT_TYPE_ARRAY)
        return gt_type_align(t, type->of, most, adjusted);
    if (type->kind != GT_TYPE_STRUCT && type->kind != GT_TYPE_UNION)
        return scalar_align(type, most);
    for (uint32_t i = 0; m && i < type->n; i++) {
        uint32_t a = member_align(t, &m[i], most);
        align = a > align ? a : align;
    }
    return type->size % align ? 1 : align;
}

/* The single bits among the values; *span: largest minus smallest value. */
static uint64_t single_bits(const struct gt_type_value *v, uint32_t n, uint64_t *span)
{
    uint64_t bits = 0, low = v[0].value, high = v[0].value;

    for (uint32_t i = 0; i < n; i++) {
        if (v[i].value && (v[i].value & (v[i].value - 1)) == 0)
            bits |= v[i].value;
        low = v[i].value < low ? v[i].value : low;
        high = v[i].value > high ? v[i].value : high;
    }
    *span = high - low;
    return bits;
}

void gt_type_find_flags(struct gt_types *t, uint32_t id)
{
    struct gt_type type = *gt_type_get(t, id);
    const struct gt_type_value *v = gt_type_values(t, id);
    uint64_t span, bits;

    if (!v || type.n < 2)
        return;
    bits = single_bits(v, type.n, &span);
    if ((bits & (bits - 1)) == 0 || span < type.n) /* one bit only; consecutive numbers */
        return;
    for (uint32_t i = 0; i < type.n; i++)
        if (v[i].value & ~bits)
            return;
    type.is_flags = true;
    gt_types_set(t, id, &type);
}

static bool walk(const struct gt_types *t, uint32_t id, int depth, int *left)
{
    const struct gt_type *type = gt_type_get(t, id = gt_type_resolve(t, id));
    const struct gt_type_member *m = gt_type_members(t, id);

    if (depth > GT_TYPE_STEPS || --*left < 0)
        return false;
    if (type->kind == GT_TYPE_ARRAY || type->kind == GT_TYPE_VECTOR)
        return walk(t, type->of, depth + 1, left);
    for (uint32_t i = 0; m && i < type->n; i++)
        if (!walk(t, m[i].type, depth + 1, left))
            return false;
    return true;
}

bool gt_type_is_finite(const struct gt_types *t, uint32_t id)
{
    int left = WALK_MAX;

    return walk(t, id, 0, &left);
}
