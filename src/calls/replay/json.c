/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout for programs that read JSON: an object a line. A call has its line where it ends:
 *   {"begin_ns":,"duration_ns":,"slept_ns":,"tid":,"depth":,"function":,"module":,"returned":true}
 * with "arguments" and "result", texts, where they are known; what never returned comes last. Other
 * lines have "time_ns" and one of "event", "lost", "name" (of the task from here on), "console"
 * or, of a program, "mark".
 */
#include "base/json.h"
#include "calls/replay/state.h"

/* Arguments of an open call, as text. */
struct open_call {
    uint32_t depth;
    char *arguments; /* NULL: none is known */
};

static void free_open(gpointer data)
{
    g_free(((struct open_call *)data)->arguments);
}

static GArray *open_of(struct gt_replay *r, uint32_t task)
{
    struct gt_replay_task *t = &r->task[task];
    if (!t->arguments) {
        t->arguments = g_array_new(FALSE, FALSE, sizeof(struct open_call));
        g_array_set_clear_func(t->arguments, free_open);
    }
    return t->arguments;
}

/* ---- lines --------------------------------------------------------------------------------- */

static void begin_line(struct gt_replay *r, struct gt_json *j)
{
    gt_json_init(j, r->out, GT_JSON_REPLACE);
    gt_json_resume(j);
    gt_json_begin_object(j);
}

static void end_line(struct gt_json *j)
{
    gt_json_end_object(j);
    gt_json_end_line(j);
    gt_json_commit(j);
}

static void begin_at(struct gt_replay *r, struct gt_json *j, uint64_t time, uint32_t task)
{
    begin_line(r, j);
    gt_json_member_u64(j, "time_ns", time);
    if (task != GT_REPLAY_NONE)
        gt_json_member_u64(j, "tid", gt_calls_task(r->calls, task)->id);
}

/* ---- calls --------------------------------------------------------------------------------- */

static void put_call(struct gt_replay *r, const struct gt_call *e, const char *arguments)
{
    const struct gt_calls_function *f = gt_calls_function(r->calls, e->function);
    const bool returned = !(e->flags & GT_CALL_UNFINISHED);
    struct gt_json j;
    begin_line(r, &j);
    gt_json_member_u64(&j, "begin_ns", e->begin);
    gt_json_member_u64(&j, "duration_ns", e->time - e->begin);
    gt_json_member_u64(&j, "slept_ns", e->slept);
    gt_json_member_u64(&j, "tid", gt_calls_task(r->calls, e->task)->id);
    gt_json_member_u64(&j, "depth", e->depth);
    gt_json_member_text(&j, "function", gt_image_demangle(r->o->demangler, f->name));
    gt_json_member_text(&j, "module", f->module);
    if (arguments)
        gt_json_member_text(&j, "arguments", arguments);
    if (returned && gt_replay_values(r, e, &r->values))
        gt_json_member_text(&j, "result", r->values.data);
    gt_json_key(&j, "returned");
    gt_json_bool(&j, returned);
    end_line(&j);
}

/* What the call at that depth was called with; calls that were deeper have ended. */
static void take_exit(struct gt_replay *r, const struct gt_call *e)
{
    GArray *open = open_of(r, e->task);
    guint n = open->len;
    while (n > 0 && g_array_index(open, struct open_call, n - 1).depth > e->depth)
        n--;
    const struct open_call *own = n ? &g_array_index(open, struct open_call, n - 1) : NULL;
    const bool has = own && own->depth == e->depth;
    put_call(r, e, has ? own->arguments : NULL);
    g_array_set_size(open, n - has);
}

static void take_entry(struct gt_replay *r, const struct gt_call *e)
{
    struct open_call call = {.depth = e->depth};
    if (!gt_replay_values(r, e, &r->values))
        return;
    call.arguments = g_strndup(r->values.data, r->values.len);
    g_array_append_val(open_of(r, e->task), call);
}

static void json_call(struct gt_replay *r, const struct gt_call *e)
{
    struct gt_json j;
    if (e->kind == GT_CALL_ENTRY) {
        take_entry(r, e);
    } else if (e->kind == GT_CALL_EXIT) {
        take_exit(r, e);
    } else if (e->kind == GT_CALL_LOST) {
        begin_at(r, &j, e->time, e->task);
        gt_json_member_u64(&j, "lost", e->function);
        end_line(&j);
    } else if (e->kind == GT_CALL_VCPU) {
        begin_at(r, &j, e->time, e->task);
        gt_json_member_u64(&j, "vcpu", e->function);
        end_line(&j);
    } else if (e->kind == GT_CALL_EVENT) {
        char number[24];
        const char *name = gt_calls_event_name(r->calls, e->function);
        g_snprintf(number, sizeof number, "%u", e->function);
        begin_at(r, &j, e->time, e->task);
        gt_json_member_text(&j, "event", name ? name : number);
        end_line(&j);
    }
}

/* ---- the rest ------------------------------------------------------------------------------ */

static void json_begin(struct gt_replay *r)
{
    (void)r;
}

static void json_mark(struct gt_replay *r, const struct gt_calls_mark *m)
{
    struct gt_json j;
    begin_at(r, &j, m->time, GT_REPLAY_NONE);
    gt_json_member_text(&j, r->mark_word, m->text);
    end_line(&j);
}

static void json_rename(struct gt_replay *r, const struct gt_replay_renaming *n)
{
    struct gt_json j;
    begin_at(r, &j, n->time, n->task);
    gt_json_member_text(&j, "name", n->name);
    end_line(&j);
}

static void json_end(struct gt_replay *r)
{
    for (guint i = 0; i < r->open->len; i++)
        take_exit(r, &g_array_index(r->open, struct gt_call, i));
}

const struct gt_replay_layout gt_replay_json = {json_begin, json_call, json_mark, json_rename,
                                                json_end};
