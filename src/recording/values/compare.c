/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of a call as conditions compare them: see payload.h. */
#include "base/bytes.h"
#include "recording/values/payload.h"

#include <math.h>
#include <string.h>

/* Of x87 (80 bits, the mantissa has its first bit) and IEEE's binary128, whose exponents are alike:
 * the upper 64 bits of the mantissa, with its first bit, and the bits below them. */
static long double from_parts(unsigned exponent, uint64_t high, uint64_t low, bool nan)
{
    long double sign = exponent >> 15 ? -1 : 1;
    exponent &= 0x7fff;
    if (exponent == 0x7fff)
        return nan ? (long double)NAN : sign * (long double)INFINITY;
    int power = (exponent ? (int)exponent : 1) - 16383 - 63;
    return sign * (ldexpl((long double)high, power) + ldexpl((long double)low, power - 64));
}

static long double from_80_bits(const uint8_t *p)
{
    uint64_t mantissa = gt_bytes_le64(p);
    return from_parts(gt_bytes_le16(p + 8), mantissa, 0, mantissa << 1);
}

static long double from_128_bits(const uint8_t *p)
{
    uint64_t low = gt_bytes_le64(p), high = gt_bytes_le64(p + 8) << 16;
    unsigned exponent = gt_bytes_le16(p + 14);
    uint64_t first = exponent & 0x7fff ? UINT64_C(1) << 63 : 0;
    return from_parts(exponent, first | high >> 1 | low >> 49, low << 15, high | low);
}

long double gt_value_real(const struct gt_value_item *item, const struct gt_value *v)
{
    float f;
    double d;
    uint32_t low = (uint32_t)v->word;
    if (v->kind == GT_VALUE_BYTES)
        return v->size == 10 ? from_80_bits(v->bytes) : v->size == 16 ? from_128_bits(v->bytes) : 0;
    if (item->size == 4) {
        memcpy(&f, &low, sizeof f);
        return (long double)f;
    }
    memcpy(&d, &v->word, sizeof d);
    return (long double)d;
}

static bool is_named(const struct gt_value_item *item, const struct gt_base_call_value_name *name)
{
    switch (name->place) {
    case GT_CALL_RESULT:
        return item->is_return;
    case GT_CALL_NAMED:
        return !item->is_return && item->name && strcmp(item->name, name->name) == 0;
    default:
        return !item->is_return && item->number == name->number &&
               item->is_float == (name->place == GT_CALL_FLOAT_ARGUMENT);
    }
}

static bool as_call_value(const struct gt_value_item *item, const struct gt_value *v,
                          struct gt_base_call_value *out)
{
    *out = (struct gt_base_call_value){0};
    bool text = gt_value_is_text(item->format);
    if (item->format == GT_VALUE_FLOAT && v->kind != GT_VALUE_ABSENT) {
        *out = (struct gt_base_call_value){.kind = GT_CALL_VALUE_REAL,
                                           .real = (double)gt_value_real(item, v)};
        return true;
    }
    switch (v->kind) {
    case GT_VALUE_WORD:
        out->bits = v->word;
        out->negative = gt_value_has_sign(item->format) && (int64_t)v->word < 0;
        return item->format != GT_VALUE_STRUCT;
    case GT_VALUE_BAD_ADDRESS:
        out->bits = v->word;
        return true;
    case GT_VALUE_BYTES:
    case GT_VALUE_CUT:
        *out = (struct gt_base_call_value){.kind = GT_CALL_VALUE_TEXT,
                                           .text = v->bytes,
                                           .size = v->size,
                                           .cut = v->kind == GT_VALUE_CUT};
        return text;
    default:
        return false;
    }
}

bool gt_values_get(const struct gt_value_item *item, const struct gt_value_list *list,
                   const struct gt_base_call_value_name *name, struct gt_base_call_value *out)
{
    for (size_t i = 0; i < list->n; i++)
        if (is_named(&item[i], name))
            return as_call_value(&item[i], &list->value[i], out);
    return false;
}
