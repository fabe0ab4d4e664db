/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values on their way into a directory: see unpack_values.h. */
#include "calls/repair/unpack_values.h"

#include "calls/read/calls.h"
#include "calls/read/record_specs.h"
#include "recording/directory/uftrace.h"

#include <inttypes.h>

static void free_specs(void *specs)
{
    gt_calls_record_specs_destroy(specs);
}

static void open_calls(struct gt_repair_unpack_values *v)
{
    if (v->specs)
        return;
    v->specs = g_hash_table_new_full(NULL, NULL, NULL, free_specs);
    gt_calls_open(v->path, NULL, &v->calls, &v->why);
}

void gt_repair_unpack_values_clear(struct gt_repair_unpack_values *v)
{
    if (v->specs)
        g_hash_table_destroy(v->specs);
    gt_calls_close(v->calls);
}

static const struct gt_value_spec *spec_of(struct gt_repair_unpack_values *v, uint32_t tid,
                                           const struct gt_compact_record *r)
{
    open_calls(v);
    if (!v->calls)
        return NULL;
    struct gt_calls_record_specs *specs = g_hash_table_lookup(v->specs, GUINT_TO_POINTER(tid));
    if (!specs) {
        specs = gt_calls_record_specs_create(v->calls, tid);
        g_hash_table_insert(v->specs, GUINT_TO_POINTER(tid), specs);
    }
    return gt_calls_record_specs_at(specs, r->time, r->word);
}

/* A text where the spec has one, a word or as many bytes as it says elsewhere. */
static bool fits(const struct gt_value_item *item, const struct gt_value *v)
{
    if (v->kind == GT_VALUE_ABSENT)
        return true;
    if (gt_value_is_text(item->format))
        return v->kind != GT_VALUE_WORD;
    return item->size <= 8 ? v->kind == GT_VALUE_WORD
                           : v->kind == GT_VALUE_BYTES && v->size == item->size;
}

size_t gt_repair_unpack_values_put(struct gt_repair_unpack_values *v, uint32_t tid,
                                   const struct gt_compact_record *r,
                                   const struct gt_value_list *list,
                                   uint8_t out[GT_UNPACK_VALUES_MOST])
{
    const struct gt_value_spec *spec = spec_of(v, tid, r);
    const bool entry = (r->word & 3) == GT_UFTRACE_ENTRY;
    bool good = spec && list->n > 0 && list->n == (entry ? spec->n_arguments : spec->n_returns);
    const struct gt_value_item *item = good && !entry ? spec->item + spec->n_arguments
                                       : good         ? spec->item
                                                      : NULL;
    for (size_t i = 0; good && i < list->n; i++)
        good = fits(&item[i], &list->value[i]);
    v->left_out += !good;
    return good ? gt_values_put_uftrace(out, item, list, GT_COMPACT_MAX_VALUE) : 0;
}

void gt_repair_unpack_values_report(const struct gt_repair_unpack_values *v,
                                    const struct gt_error_notices *notices)
{
    const char *s = v->left_out == 1 ? "" : "s";
    if (v->left_out && v->specs && !v->calls)
        gt_error_notice(notices, "%s; the values of %" PRIu64 " record%s are left out", v->why.text,
                        v->left_out, s);
    else if (v->left_out)
        gt_error_notice(notices,
                        "%s: %" PRIu64 " record%s with values of which " GT_VALUES_FILE
                        " says nothing, or something else; they are left out",
                        v->path, v->left_out, s);
}
