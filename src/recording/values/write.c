/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a values file: see spec.h. */
#include "recording/values/spec.h"

#include <inttypes.h>

bool gt_value_size_fits(char format, unsigned size)
{
    switch ((enum gt_value_format)format) {
    case GT_VALUE_SIGNED:
    case GT_VALUE_UNSIGNED:
    case GT_VALUE_HEX:
    case GT_VALUE_OCTAL:
    case GT_VALUE_AUTO:
    case GT_VALUE_CHAR:
    case GT_VALUE_BOOL:
    case GT_VALUE_POINTER:
    case GT_VALUE_ENUM:
        return size == 1 || size == 2 || size == 4 || size == 8;
    case GT_VALUE_FLOAT:
        return size == 4 || size == 8 || size == 10 || size == 16;
    case GT_VALUE_STRING:
    case GT_VALUE_CXX_STRING:
        return size == 0;
    case GT_VALUE_STRUCT:
        return size >= 1 && size <= GT_VALUE_SIZE_MOST;
    case GT_VALUE_CHARS:
        return size >= 1 && size <= GT_VALUE_STRING_MOST;
    }
    return false;
}

/* A name as one field; `first`: a character that the reader takes for something else there. */
static void put_name(struct gt_text *t, const char *name, char other)
{
    if (!name || !*name) {
        gt_text_add(t, "-", 1);
        return;
    }
    for (; *name; name++) {
        char c = (unsigned char)*name <= ' ' || *name == 0x7f || *name == other ? '_' : *name;
        gt_text_add(t, &c, 1);
    }
}

static int put_item(struct gt_text *t, const struct gt_value_item *item, bool sources,
                    struct gt_error *err)
{
    char source[GT_VALUE_SOURCE_TEXT] = "-";
    const char *kind = item->is_return  ? "ret"
                       : !item->number  ? "field"
                       : item->is_float ? "fparg"
                                        : "arg";
    if (!gt_value_size_fits(item->format, item->size))
        return gt_error_set(err, GT_E_USAGE, "values: format '%c' with %u bytes", item->format,
                            item->size);
    if (sources && gt_value_source_write(source, item) < 0)
        return gt_error_set(err, GT_E_USAGE, "values: a source of more than %d bytes",
                            GT_VALUE_SOURCE_TEXT - 1);
    gt_text_printf(t, "%s ", kind);
    if (item->number && !item->is_return)
        gt_text_printf(t, "%u", item->number);
    else
        gt_text_add(t, "-", 1);
    gt_text_printf(t, " %c %u ", item->format, item->size);
    put_name(t, item->name, 0);
    gt_text_add(t, " ", 1);
    put_name(t, item->type, 0);
    gt_text_printf(t, " %s%s", source, item->unsure ? " unsure" : "");
    if (sources && item->mask) {
        gt_text_printf(t, " mask=");
        for (unsigned i = 0; i < item->size; i++)
            gt_text_printf(t, "%02x", item->mask[i]);
    }
    gt_text_add(t, "\n", 1);
    return 0;
}

static int put_function(struct gt_text *t, const struct gt_value_function *f, bool sources,
                        struct gt_error *err)
{
    const struct gt_value_spec *spec = &f->spec;
    if (spec->n_arguments > GT_VALUES_MOST || spec->n_returns > GT_VALUES_MOST)
        return gt_error_set(err, GT_E_USAGE, "values: function %.200s: more than %d of one call",
                            f->name, GT_VALUES_MOST);
    gt_text_printf(t, "function %" PRIx64 " ", f->addr);
    gt_text_add_value(t, *f->name ? f->name : "-", SIZE_MAX);
    gt_text_add(t, "\n", 1);
    for (size_t i = 0; i < spec->n_arguments + spec->n_returns; i++) {
        if (spec->item[i].is_return != (i >= spec->n_arguments))
            return gt_error_set(err, GT_E_USAGE, "values: function %.200s: arguments come first",
                                f->name);
        int status = put_item(t, &spec->item[i], sources, err);
        if (status)
            return status;
    }
    return 0;
}

static int put_module(struct gt_text *t, const struct gt_value_module *m, bool sources,
                      struct gt_error *err)
{
    gt_text_add(t, "module ", 7);
    put_name(t, m->build_id, 0);
    gt_text_add(t, " ", 1);
    gt_text_add_value(t, *m->path ? m->path : "-", SIZE_MAX);
    gt_text_add(t, "\n", 1);
    for (size_t i = 0; i < m->n_bases; i++)
        gt_text_printf(t, "at %" PRIx64 "\n", m->base[i]);
    for (size_t i = 0; i < m->n; i++) {
        if (i && m->function[i].addr <= m->function[i - 1].addr)
            return gt_error_set(err, GT_E_USAGE, "values: %.200s: functions are not sorted",
                                m->path);
        int status = put_function(t, &m->function[i], sources, err);
        if (status)
            return status;
    }
    return 0;
}

int gt_values_write(struct gt_text *t, const struct gt_values *values, bool sources,
                    struct gt_error *err)
{
    int status = 0;
    gt_text_printf(t, "guesttrace values 1\n");
    for (size_t i = 0; i < values->n_enums; i++) {
        const struct gt_value_enum *e = &values->enums[i];
        gt_text_add(t, "enum ", 5);
        put_name(t, e->name, 0);
        gt_text_printf(t, "%s", e->flags ? " flags" : "");
        for (size_t k = 0; k < e->n; k++) {
            gt_text_add(t, " ", 1);
            put_name(t, e->value[k].name, '=');
            gt_text_printf(t, "=%" PRId64, e->value[k].value);
        }
        gt_text_add(t, "\n", 1);
    }
    for (size_t i = 0; !status && i < values->n_modules; i++)
        status = put_module(t, &values->module[i], sources, err);
    if (!status && t->failed)
        status = gt_error_set(err, GT_E_NOMEM, "values: out of memory");
    return status;
}
