/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the values of calls are: the recording's GT_VALUES_FILE, by function. */
#include "calls/read/recording.h"
#include "recording/values/payload.h"

#include <glib.h>
#include <string.h>

int gt_calls_specs_read(struct gt_calls *c, struct gt_error *err)
{
    char *text;
    size_t size;
    struct gt_error why = {0};
    if (!gt_calls_texts_have(&c->texts, GT_VALUES_FILE))
        return 0;
    int status = gt_calls_texts_read(&c->texts, GT_VALUES_FILE, &text, &size, err);
    if (status < 0)
        return status;
    status = gt_values_read(text, size, &c->values, &why);
    free(text);
    if (status < 0) {
        g_autofree char *place = gt_calls_texts_place(&c->texts, GT_VALUES_FILE);
        return gt_error_set(err, status, "%s: %s", place, why.text);
    }
    return 0;
}

const struct gt_values *gt_calls_values(const struct gt_calls *c)
{
    return &c->values;
}

/* Whether a text is one of those that separators part. */
static bool is_part(const char *parts, char separator, const char *text)
{
    const size_t n = strlen(text);
    for (const char *at = parts; at; at = strchr(at, separator), at = at ? at + 1 : NULL)
        if (strncmp(at, text, n) == 0 && (!at[n] || at[n] == separator))
            return true;
    return false;
}

/* Kernel modules that were at one place, one after the other, are one module of a code map,
 * "brd.ko+init+dummy.ko", that begins at a page: see names/placement/locate.h. NULL: it is none
 * of them, or of several. */
static const struct gt_value_spec *find_in_parts(const struct gt_calls *c,
                                                 const struct gt_calls_function *f)
{
    const char *base = strrchr(f->module, '/');
    const struct gt_value_spec *found = NULL;
    base = base ? base + 1 : f->module;
    for (size_t i = 0; i < c->values.n_modules && strchr(base, '+'); i++) {
        const struct gt_value_module *m = &c->values.module[i];
        const char *own = strrchr(m->path, '/');
        if (!is_part(base, '+', own ? own + 1 : m->path))
            continue;
        for (size_t k = 0; k < m->n; k++) {
            if (((m->function[k].addr ^ f->address) & 0xfff) ||
                !is_part(f->name, '|', m->function[k].name))
                continue;
            if (found)
                return NULL;
            found = &m->function[k].spec;
        }
    }
    return found;
}

const struct gt_value_spec *gt_calls_value_spec(const struct gt_calls *c, uint32_t function)
{
    if (c->values.n_modules == 0)
        return NULL;
    const struct gt_calls_function *f = gt_calls_spaces_function(c->spaces, function);
    const struct gt_value_module *m = gt_values_module(&c->values, f->module, NULL);
    const struct gt_value_function *found = m ? gt_value_module_find(m, f->address) : NULL;
    return found ? &found->spec : m ? NULL : find_in_parts(c, f);
}

/* Where no spec says what they are: words in hex. */
static void make_unknown(struct gt_value_item item[GT_VALUES_MOST],
                         const struct gt_value_list *list)
{
    memset(item, 0, GT_VALUES_MOST * sizeof *item);
    for (size_t i = 0; i < list->n; i++) {
        uint8_t kind = list->value[i].kind;
        item[i].format =
            kind == GT_VALUE_BYTES || kind == GT_VALUE_CUT ? GT_VALUE_CHARS : GT_VALUE_HEX;
    }
}

const struct gt_value_item *gt_calls_value_items(const struct gt_calls *c, const struct gt_call *e,
                                                 const struct gt_value_list *list,
                                                 struct gt_value_item *unknown)
{
    const struct gt_value_spec *spec = gt_calls_value_spec(c, e->function);
    const bool entry = e->kind == GT_CALL_ENTRY;
    const size_t n = !spec ? 0 : entry ? spec->n_arguments : spec->n_returns;
    if (spec && n == list->n)
        return spec->item + (entry ? 0 : spec->n_arguments);
    make_unknown(unknown, list);
    return unknown;
}

void gt_calls_value_name(const struct gt_value_item *item, size_t i, bool entry,
                         char out[GT_CALLS_VALUE_NAME])
{
    const size_t room = GT_CALLS_VALUE_NAME;
    if (item->name)
        g_snprintf(out, room, "%s", item->name);
    else if (entry)
        g_snprintf(out, room, "%s%u", item->is_float ? "fparg" : "arg",
                   item->number ? item->number : (unsigned)i + 1);
    else
        g_snprintf(out, room, i ? "retval%u" : "retval", (unsigned)i + 1);
    for (char *c = out; *c; c++)
        if (!g_ascii_isalnum(*c) && !strchr("_.>-", *c))
            *c = '_';
}

bool gt_calls_get_value(const struct gt_calls *c, uint32_t function,
                        const struct gt_value_list *arguments, const struct gt_value_list *result,
                        const struct gt_base_call_value_name *name, struct gt_base_call_value *out)
{
    const struct gt_value_spec *spec = gt_calls_value_spec(c, function);
    const bool entry = name->place != GT_CALL_RESULT;
    const struct gt_value_list *list = entry ? arguments : result;
    if (!spec || !list || list->n != (entry ? spec->n_arguments : spec->n_returns))
        return false;
    return gt_values_get(spec->item + (entry ? 0 : spec->n_arguments), list, name, out);
}

void gt_calls_show_values(const struct gt_calls *c, const struct gt_call *e,
                          const struct gt_value_list *list, struct gt_text *out)
{
    struct gt_value_item unknown[GT_VALUES_MOST];
    const struct gt_value_item *item = gt_calls_value_items(c, e, list, unknown);
    gt_values_show(out, &c->values, item, list, e->kind == GT_CALL_ENTRY, NULL, NULL);
}
