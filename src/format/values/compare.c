/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of a call as conditions compare them: see payload.h. */
#include "format/values/payload.h"

#include <string.h>

double gt_value_real(const struct gt_value_item *item, const struct gt_value *v)
{
    float f;
    double d;
    uint32_t low = (uint32_t)v->word;
    if (item->size == 4) {
        memcpy(&f, &low, sizeof f);
        return (double)f;
    }
    memcpy(&d, &v->word, sizeof d);
    return d;
}

static bool is_named(const struct gt_value_item *item, const struct gt_call_value_name *name)
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
                          struct gt_call_value *out)
{
    *out = (struct gt_call_value){0};
    bool text = gt_value_is_text(item->format);
    switch (v->kind) {
    case GT_VALUE_WORD:
        out->bits = v->word;
        out->negative = gt_value_has_sign(item->format) && (int64_t)v->word < 0;
        if (item->format == GT_VALUE_FLOAT)
            *out =
                (struct gt_call_value){.kind = GT_CALL_VALUE_REAL, .real = gt_value_real(item, v)};
        return item->format != GT_VALUE_STRUCT;
    case GT_VALUE_BAD_ADDRESS:
        out->bits = v->word;
        return true;
    case GT_VALUE_BYTES:
    case GT_VALUE_CUT:
        *out = (struct gt_call_value){.kind = GT_CALL_VALUE_TEXT,
                                      .text = v->bytes,
                                      .size = v->size,
                                      .cut = v->kind == GT_VALUE_CUT};
        return text;
    default:
        return false;
    }
}

bool gt_values_get(const struct gt_value_item *item, const struct gt_value_list *list,
                   const struct gt_call_value_name *name, struct gt_call_value *out)
{
    for (size_t i = 0; i < list->n; i++)
        if (is_named(&item[i], name))
            return as_call_value(&item[i], &list->value[i], out);
    return false;
}
