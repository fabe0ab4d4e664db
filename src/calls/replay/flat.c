/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The flat layout: a line for each event, see replay.h. */
#include "base/number.h"
#include "calls/replay/state.h"
#include "recording/directory/uftrace.h"

enum { TIME_WIDTH = 20, TID_WIDTH = 9, DEPTH_WIDTH = 5, DURATION_WIDTH = 16 };

static char *put_right(char *p, const char *text, size_t n, size_t width)
{
    if (n < width) {
        memset(p, ' ', width - n);
        p += width - n;
    }
    p = (char *)memcpy(p, text, n) + n;
    *p = ' ';
    return p + 1;
}

static char *put_number(char *p, uint64_t v, size_t width)
{
    char text[GT_DECIMAL_SIZE];
    return put_right(p, text, (size_t)(gt_text_decimal_put(text, v) - text), width);
}

/* Seconds. */
static char *put_time(char *p, uint64_t ns, size_t width)
{
    char text[GT_DECIMAL_SIZE + 12], *end = gt_text_decimal_put(text, ns / 1000000000);
    uint64_t part = ns % 1000000000;
    *end++ = '.';
    for (char *at = end + 9; at-- > end; part /= 10)
        *at = (char)('0' + part % 10);
    return put_right(p, text, (size_t)(end + 9 - text), width);
}

/* The text before the function; a task of GT_REPLAY_NONE has no number and no depth. */
static void begin_line(struct gt_replay *r, const struct gt_call *e, const char *event)
{
    char *p = gt_output_room(r->out, 128);
    p = put_time(p, e->time, TIME_WIDTH);
    if (e->task == GT_REPLAY_NONE) {
        p = put_right(put_right(p, "-", 1, TID_WIDTH), "-", 1, DEPTH_WIDTH);
    } else {
        p = put_number(p, gt_calls_task(r->calls, e->task)->id, TID_WIDTH);
        p = put_number(p, e->depth, DEPTH_WIDTH);
    }
    memcpy(p, event, 8); /* to the left of 8 */
    p += 8;
    if (e->kind == GT_CALL_EXIT)
        p = put_time(p, e->time - e->begin, DURATION_WIDTH);
    else
        p = put_right(p, "-", 1, DURATION_WIDTH);
    gt_output_end(r->out, p);
}

static void end_line(struct gt_replay *r)
{
    gt_output_text(r->out, "\n");
}

static void flat_begin(struct gt_replay *r)
{
    gt_output_text(r->out, "#               TIME       TID DEPTH EVENT           DURATION FUNCTION"
                           "\n");
}

static void put_function(struct gt_replay *r, const struct gt_call *e,
                         const struct gt_replay_name *name)
{
    const bool entry = e->kind == GT_CALL_ENTRY, values = gt_replay_values(r, e, &r->values);
    gt_output_bytes(r->out, name->text, values && entry ? name->stem : name->n);
    if (!values)
        return;
    gt_output_text(r->out, entry ? "(" : " = ");
    gt_output_bytes(r->out, r->values.data, r->values.len);
    gt_output_text(r->out, entry ? ")" : "");
}

static void flat_call(struct gt_replay *r, const struct gt_call *e)
{
    switch (e->kind) {
    case GT_CALL_ENTRY:
    case GT_CALL_EXIT: {
        const struct gt_replay_name *name = gt_replay_name_find(r, e->function);
        begin_line(r, e,
                   e->kind == GT_CALL_ENTRY        ? "enter   "
                   : e->flags & GT_CALL_UNFINISHED ? "open    "
                                                   : "leave   ");
        put_function(r, e, name);
        break;
    }
    case GT_CALL_EVENT:
        begin_line(r, e, "event   ");
        gt_replay_put_event(r, e->function);
        break;
    case GT_CALL_VCPU:
        begin_line(r, e, "event   ");
        gt_replay_put_event(r, GT_UFTRACE_EV_VCPU + e->function);
        break;
    case GT_CALL_LOST:
        begin_line(r, e, "lost    ");
        gt_output_decimal(r->out, e->function);
        break;
    default:
        return;
    }
    end_line(r);
}

static void flat_mark(struct gt_replay *r, const struct gt_calls_mark *m)
{
    begin_line(r, &(struct gt_call){.time = m->time, .task = GT_REPLAY_NONE, .kind = GT_CALL_EVENT},
               *r->mark_word == 'm' ? "mark    " : "console ");
    gt_replay_put_escaped(r, m->text);
    end_line(r);
}

static void flat_rename(struct gt_replay *r, const struct gt_replay_renaming *n)
{
    begin_line(r,
               &(struct gt_call){.time = n->time,
                                 .task = n->task,
                                 .depth = r->task[n->task].shown,
                                 .kind = GT_CALL_EVENT},
               "name    ");
    gt_replay_put_escaped(r, n->name);
    end_line(r);
}

static void flat_end(struct gt_replay *r)
{
    for (guint i = 0; i < r->open->len; i++)
        flat_call(r, &g_array_index(r->open, struct gt_call, i));
}

const struct gt_replay_layout gt_replay_flat = {flat_begin, flat_call, flat_mark, flat_rename,
                                                flat_end};
