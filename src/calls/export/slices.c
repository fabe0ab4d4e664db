/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slices of a recording: see slices.h. */
#include "calls/export/slices.h"

#include "recording/values/payload.h"

#include <glib.h>
#include <inttypes.h>
#include <stdio.h>

enum { VALUES_MOST = GT_VALUES_MOST + 3 };

struct reading {
    struct gt_calls *calls;
    const struct gt_export_slices *to;
    const struct gt_output *out;
    const struct gt_calls_mark *mark, *marks_end;
    /* of the event at hand */
    struct gt_export_slice_value value[VALUES_MOST];
    char name[GT_VALUES_MOST][GT_CALLS_VALUE_NAME];
    struct gt_text text[GT_VALUES_MOST];
};

/* ---- values -------------------------------------------------------------------------------- */

static int kind_of(const struct gt_value_item *item, const struct gt_value *v)
{
    if (v->kind != GT_VALUE_WORD)
        return GT_SLICE_TEXT;
    switch (item->format) {
    case GT_VALUE_SIGNED:
    case GT_VALUE_AUTO:
        return GT_SLICE_SIGNED;
    case GT_VALUE_UNSIGNED:
        return GT_SLICE_UNSIGNED;
    case GT_VALUE_HEX:
    case GT_VALUE_POINTER:
        return GT_SLICE_ADDRESS;
    default:
        return GT_SLICE_TEXT;
    }
}

/* Returns how many the event has. */
static size_t make_values(struct reading *r, const struct gt_call *e)
{
    const struct gt_value_list *list = gt_calls_values_at(r->calls);
    struct gt_value_item unknown[GT_VALUES_MOST];
    if (!list)
        return 0;
    const struct gt_value_item *item = gt_calls_value_items(r->calls, e, list, unknown);
    for (size_t i = 0; i < list->n; i++) {
        const struct gt_value_list one = {1, {list->value[i]}};
        struct gt_text *text = &r->text[i];
        text->len = 0;
        gt_values_show(text, gt_calls_values(r->calls), &item[i], &one, false, NULL, NULL);
        gt_calls_value_name(&item[i], i, e->kind == GT_CALL_ENTRY, r->name[i]);
        r->value[i] = (struct gt_export_slice_value){.name = r->name[i],
                                                     .text = text->len ? text->data : "",
                                                     .kind = kind_of(&item[i], &list->value[i]),
                                                     .word = list->value[i].word};
    }
    return list->n;
}

/* Facts about a call beside its values; returns how many the event has then. */
static size_t add_facts(struct reading *r, const struct gt_call *e, size_t n)
{
    if (gt_calls_is_open(r->calls, e))
        r->value[n++] =
            (struct gt_export_slice_value){.name = "open", .kind = GT_SLICE_UNSIGNED, .word = 1};
    if (e->slept == 0)
        return n;
    r->value[n++] = (struct gt_export_slice_value){
        .name = "ran_ns", .kind = GT_SLICE_UNSIGNED, .word = gt_call_ran(e)};
    r->value[n++] = (struct gt_export_slice_value){
        .name = "slept_ns", .kind = GT_SLICE_UNSIGNED, .word = e->slept};
    return n;
}

/* ---- events -------------------------------------------------------------------------------- */

static void take_marks(struct reading *r, uint64_t before)
{
    for (; r->mark < r->marks_end && r->mark->time < before; r->mark++)
        r->to->instant(r->to->self, GT_SLICES_CONSOLE, r->mark->time, r->mark->text);
}

static void take_event(struct reading *r, const struct gt_call *e)
{
    char number[24];
    const char *name = gt_calls_event_name(r->calls, e->function);
    snprintf(number, sizeof number, "event %" PRIu32, e->function);
    r->to->instant(r->to->self, e->task, e->time, name ? name : number);
}

static void take_lost(struct reading *r, const struct gt_call *e)
{
    char text[40] = "records were lost";
    if (e->function)
        snprintf(text, sizeof text, "%" PRIu32 " records were lost", e->function);
    r->to->instant(r->to->self, e->task, e->time, text);
}

static int take(void *self, const struct gt_call *e)
{
    struct reading *r = self;
    if (r->mark < r->marks_end)
        take_marks(r, e->time);
    switch (e->kind) {
    case GT_CALL_ENTRY:
        r->to->begin(r->to->self, e, r->value, make_values(r, e));
        break;
    case GT_CALL_EXIT:
        r->to->end(r->to->self, e, r->value, add_facts(r, e, make_values(r, e)));
        break;
    case GT_CALL_EVENT:
        take_event(r, e);
        break;
    case GT_CALL_LOST:
        take_lost(r, e);
        break;
    default:
        break;
    }
    return r->out->failed != 0 || (r->to->stop && *r->to->stop);
}

int gt_export_slices_read(struct gt_calls *c, const struct gt_calls_window *w,
                          const struct gt_export_slices *s, const struct gt_output *out,
                          struct gt_error *err)
{
    struct reading r = {.calls = c, .to = s, .out = out};
    size_t marks;
    r.mark = gt_calls_marks_in(c, w, &marks);
    r.marks_end = r.mark + marks;
    int status = gt_calls_walk(c, w, take, &r, err);
    if (status >= 0)
        take_marks(&r, UINT64_MAX);
    for (size_t i = 0; i < GT_VALUES_MOST; i++)
        gt_text_free(&r.text[i]);
    return status < 0 ? status : 0;
}
