/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The callbacks of analyses: see guesttrace/simpletrace.h. */
#include "events/library/message.h"
#include "events/library/read/reader.h"

#include <guesttrace/control.h>
#include <stdlib.h>
#include <string.h>

static bool make_room(struct gt_events_calls *c, size_t more, size_t events)
{
    if (!c->first)
        c->first = calloc(events, sizeof *c->first);
    if (!c->last)
        c->last = calloc(events, sizeof *c->last);
    if (!c->first || !c->last)
        return false;
    if (c->room - c->n >= more)
        return true;
    size_t room = 2 * c->room + more;
    struct gt_events_call *calls = reallocarray(c->calls, room, sizeof *calls);
    if (!calls)
        return false;
    c->calls = calls;
    c->room = room;
    return true;
}

static void add(struct gt_events_calls *c, size_t event, gt_trace_callback callback, void *self)
{
    c->calls[c->n++] = (struct gt_events_call){callback, self, 0};
    if (c->last[event])
        c->calls[c->last[event] - 1].next = c->n;
    else
        c->first[event] = c->n;
    c->last[event] = c->n;
}

int gt_trace_reader_on(struct gt_trace_reader *r, const char *pattern, gt_trace_callback callback,
                       void *self, struct gt_trace_error *err)
{
    size_t events = gt_trace_declarations_count(r->declared) + 1, found = 0;
    for (size_t i = 0; i < events; i++)
        found += gt_trace_match(pattern, gt_trace_declarations_at(r->declared, i)->name);
    if (!found)
        return gt_events_fail(err, GT_TRACE_E_NOT_FOUND, "no declared event matches '%s'", pattern);
    if (!make_room(&r->calls, found, events))
        return gt_events_fail(err, GT_TRACE_E_NOMEM, "out of memory");
    for (size_t i = 0; i < events; i++)
        if (gt_trace_match(pattern, gt_trace_declarations_at(r->declared, i)->name))
            add(&r->calls, i, callback, self);
    return 0;
}

static int call(const struct gt_events_calls *c, const struct gt_trace_record *record)
{
    int status = 0;
    for (size_t i = c->first ? c->first[record->event->index] : 0; i && status == 0;
         i = c->calls[i - 1].next)
        status = c->calls[i - 1].callback(c->calls[i - 1].self, record);
    return status;
}

int gt_trace_reader_run(struct gt_trace_reader *r, struct gt_trace_error *err)
{
    struct gt_trace_error later;
    int first = 0;
    for (;;) {
        const struct gt_trace_record *record;
        int status = gt_trace_reader_next(r, &record, first ? &later : err);
        if (status == 0)
            return first;
        if (status < 0 && first == 0)
            first = status;
        if (status > 0 && (status = call(&r->calls, record)) != 0)
            return status;
    }
}
