/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The layout of uftrace replay: functions indented, a call in which nothing else happened on one
 * line. So an entry waits for the next event. The time that a task is suspended is a comment:
 * linux:schedule, or linux:sched-out and linux:sched-in where something else is between them. */
#include "calls/replay/state.h"
#include "recording/directory/uftrace.h"

#include <inttypes.h>
#include <stdio.h>

static void put_indent(struct gt_replay *r, uint32_t depth)
{
    const size_t n = (size_t)2 * MIN(depth, (uint32_t)GT_REPLAY_INDENT);
    char *p = gt_output_room(r->out, n);
    memset(p, ' ', n);
    gt_output_end(r->out, p + n);
    if (depth <= GT_REPLAY_INDENT)
        return;
    gt_output_text(r->out, "[");
    gt_output_decimal(r->out, depth);
    gt_output_text(r->out, "] ");
}

static void put_color(struct gt_replay *r, enum gt_replay_color color)
{
    gt_output_text(r->out, r->color[color]);
}

static void begin_comment(struct gt_replay *r, const struct gt_replay_line *l, uint32_t depth,
                          enum gt_replay_color color)
{
    gt_replay_put_columns(r, l);
    put_indent(r, depth);
    put_color(r, color);
    gt_output_text(r->out, "/* ");
}

static void end_comment(struct gt_replay *r)
{
    gt_output_text(r->out, " */");
    put_color(r, GT_REPLAY_COLOR_END);
    gt_output_text(r->out, "\n");
}

static void put_comment(struct gt_replay *r, const struct gt_replay_line *l, uint32_t depth,
                        const char *text)
{
    begin_comment(r, &(struct gt_replay_line){l->time, l->task, GT_REPLAY_NONE, l->duration}, depth,
                  GT_REPLAY_COLOR_EVENT);
    gt_output_text(r->out, text);
    end_comment(r);
}

/* "name()", with values (NULL: none) "name(value)", and the text after it. */
static void put_call(struct gt_replay *r, const struct gt_replay_line *l, uint32_t depth,
                     const struct gt_text *values, const char *after)
{
    const struct gt_replay_name *name = gt_replay_name_find(r, l->function);
    gt_replay_put_columns(r, l);
    put_indent(r, depth);
    if (values && values->len) {
        gt_output_bytes(r->out, name->text, name->stem);
        gt_output_text(r->out, "(");
        gt_output_bytes(r->out, values->data, values->len);
        gt_output_text(r->out, ")");
    } else {
        gt_output_bytes(r->out, name->text, name->n);
        gt_output_text(r->out, name->plain ? "()" : "");
    }
    gt_output_text(r->out, after);
}

/* What the call has returned, where that is known, and the end of it. */
static void put_result(struct gt_replay *r, const struct gt_call *e, const char *after)
{
    if (gt_replay_values(r, e, &r->values)) {
        gt_output_text(r->out, " = ");
        gt_output_bytes(r->out, r->values.data, r->values.len);
    }
    gt_output_text(r->out, after);
}

static void put_entry(struct gt_replay *r, const struct gt_replay_pending *p)
{
    const struct gt_replay_line l = {p->call.time, p->call.task, p->call.function, 0};
    if (gt_replay_name_find(r, p->call.function)->schedule)
        put_comment(r, &l, p->depth, "linux:sched-out");
    else
        put_call(r, &l, p->depth, &p->values, " {\n");
}

/* In which nothing else happened. */
static void put_leaf(struct gt_replay *r, const struct gt_call *e, uint32_t depth)
{
    const struct gt_replay_line l = {e->begin, e->task, e->function, e->time - e->begin};
    if (gt_replay_name_find(r, e->function)->schedule) {
        put_comment(r, &l, depth, "linux:schedule");
        return;
    }
    put_call(r, &l, depth, &r->pending.values, "");
    put_result(r, e, ";\n");
}

static void put_exit(struct gt_replay *r, const struct gt_call *e, uint32_t depth)
{
    const struct gt_replay_name *name = gt_replay_name_find(r, e->function);
    const struct gt_replay_line l = {e->time, e->task, e->function, e->time - e->begin};
    if (name->schedule) {
        put_comment(r, &l, depth, "linux:sched-in");
        return;
    }
    gt_replay_put_columns(r, &l);
    put_indent(r, depth);
    gt_output_text(r->out, "}");
    put_result(r, e, gt_calls_values_at(r->calls) ? ";" : "");
    put_color(r, GT_REPLAY_COLOR_COMMENT);
    gt_output_text(r->out, " /* ");
    gt_output_bytes(r->out, name->text, name->n);
    gt_output_text(r->out, " */");
    put_color(r, GT_REPLAY_COLOR_END);
    gt_output_text(r->out, "\n");
}

/* The next event has a line of its own. */
static void settle(struct gt_replay *r)
{
    if (r->pending.any)
        put_entry(r, &r->pending);
    r->pending.any = false;
}

/* What the task had open when the window began. */
static void put_before(struct gt_replay *r, struct gt_replay_task *t)
{
    uint32_t depth = 0;
    for (guint i = 0; t->before && !t->before_shown && i < t->before->len; i++) {
        const struct gt_call *e = &g_array_index(t->before, struct gt_call, i);
        if (!gt_replay_name_find(r, e->function)->schedule)
            put_call(r, &(struct gt_replay_line){e->begin, e->task, e->function, 0}, depth++, NULL,
                     " { /* began earlier */\n");
    }
    t->before_shown = true;
}

static void take_entry(struct gt_replay *r, const struct gt_call *e, uint32_t depth)
{
    settle(r);
    put_before(r, &r->task[e->task]);
    r->pending.call = *e;
    r->pending.depth = depth;
    r->pending.any = true;
    gt_replay_values(r, e, &r->pending.values);
}

static void take_exit(struct gt_replay *r, const struct gt_call *e, uint32_t depth)
{
    const struct gt_replay_pending *p = &r->pending;
    if (p->any && p->call.task == e->task && p->call.depth == e->depth) {
        r->pending.any = false;
        put_leaf(r, e, depth);
        return;
    }
    settle(r);
    put_before(r, &r->task[e->task]);
    put_exit(r, e, depth);
}

static void take_event(struct gt_replay *r, const struct gt_call *e, uint32_t id)
{
    struct gt_replay_task *t = &r->task[e->task];
    settle(r);
    put_before(r, t);
    begin_comment(r, &(struct gt_replay_line){e->time, e->task, GT_REPLAY_NONE, 0}, t->shown,
                  GT_REPLAY_COLOR_EVENT);
    gt_replay_put_event(r, id);
    end_comment(r);
}

static void take_lost(struct gt_replay *r, const struct gt_call *e)
{
    struct gt_replay_task *t = &r->task[e->task];
    char count[24] = "some";
    settle(r);
    put_before(r, t);
    if (e->function)
        snprintf(count, sizeof count, "%" PRIu32, e->function);
    begin_comment(r, &(struct gt_replay_line){e->time, e->task, GT_REPLAY_NONE, 0}, t->shown + 1,
                  GT_REPLAY_COLOR_LOST);
    gt_output_text(r->out, "LOST ");
    gt_output_text(r->out, count);
    gt_output_text(r->out, " records!!");
    end_comment(r);
}

static void tree_call(struct gt_replay *r, const struct gt_call *e)
{
    const uint32_t shown = r->task[e->task].shown;
    if (e->kind == GT_CALL_ENTRY)
        take_entry(r, e, shown);
    else if (e->kind == GT_CALL_EXIT)
        take_exit(r, e, shown);
    else if (e->kind == GT_CALL_EVENT)
        take_event(r, e, e->function);
    else if (e->kind == GT_CALL_VCPU)
        take_event(r, e, GT_UFTRACE_EV_VCPU + e->function);
    else if (e->kind == GT_CALL_LOST)
        take_lost(r, e);
}

static void tree_mark(struct gt_replay *r, const struct gt_calls_mark *m)
{
    settle(r);
    begin_comment(r, &(struct gt_replay_line){m->time, GT_REPLAY_NONE, GT_REPLAY_NONE, 0}, 0,
                  GT_REPLAY_COLOR_EVENT);
    gt_output_text(r->out, r->mark_word);
    gt_output_text(r->out, ": ");
    gt_replay_put_escaped(r, m->text);
    end_comment(r);
}

static void tree_rename(struct gt_replay *r, const struct gt_replay_renaming *n)
{
    struct gt_replay_task *t = &r->task[n->task];
    settle(r);
    put_before(r, t);
    begin_comment(r, &(struct gt_replay_line){n->time, n->task, GT_REPLAY_NONE, 0}, t->shown,
                  GT_REPLAY_COLOR_EVENT);
    gt_output_text(r->out, "linux:task-name (comm=\"");
    gt_replay_put_escaped(r, n->name);
    gt_output_text(r->out, "\")");
    end_comment(r);
}

/* The calls that the recording ends in: they come innermost first, a task after the other. */
static void put_open(struct gt_replay *r)
{
    uint32_t task = GT_REPLAY_NONE;
    gt_output_text(r->out, "\nCalls that did not return:\n");
    for (guint i = 0; i < r->open->len; i++) {
        const struct gt_call *e = &g_array_index(r->open, struct gt_call, i);
        const struct gt_replay_name *name = gt_replay_name_find(r, e->function);
        if (e->task != task) {
            gt_output_text(r->out, "task ");
            gt_output_decimal(r->out, gt_calls_task(r->calls, e->task)->id);
            gt_output_text(r->out, ":\n");
        }
        task = e->task;
        gt_output_text(r->out, "[");
        gt_output_decimal(r->out, e->depth);
        gt_output_text(r->out, "] ");
        gt_output_bytes(r->out, name->text, name->n);
        gt_output_text(r->out, "\n");
    }
}

static void tree_end(struct gt_replay *r)
{
    settle(r);
    if (r->open->len)
        put_open(r);
}

const struct gt_replay_layout gt_replay_tree = {gt_replay_put_heading, tree_call, tree_mark,
                                                tree_rename, tree_end};
