/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slices of a recording: see slices.h. */
#include "analysis/export/slices.h"

#include "analysis/calls/window_marks.h"

#include <inttypes.h>
#include <stdio.h>

struct reading {
    struct gt_calls *calls;
    const struct gt_slices *to;
    const struct gt_output *out;
    const struct gt_calls_mark *mark, *marks_end;
};

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
        r->to->begin(r->to->self, e->task, e->time, e->function);
        break;
    case GT_CALL_EXIT:
        r->to->end(r->to->self, e->task, e->time);
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
    return r->out->failed != 0;
}

int gt_slices_read(struct gt_calls *c, const struct gt_calls_window *w, const struct gt_slices *s,
                   const struct gt_output *out, struct gt_error *err)
{
    struct reading r = {.calls = c, .to = s, .out = out};
    size_t marks;
    r.mark = gt_calls_marks_in(c, w, &marks);
    r.marks_end = r.mark + marks;
    int status = gt_calls_walk(c, w, take, &r, err);
    if (status >= 0)
        take_marks(&r, UINT64_MAX);
    return status < 0 ? status : 0;
}
