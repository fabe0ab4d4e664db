/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a recording is: info, tracks, marks. */
#include "calls/view/private.h"

#include "calls/export/frames.h"

static void put_tasks(struct gt_view *v, struct gt_json *j)
{
    gt_json_key(j, "tasks");
    gt_json_begin_array(j);
    for (uint32_t i = 0; i < gt_calls_n_tasks(v->calls); i++) {
        const struct gt_calls_task *t = gt_calls_task(v->calls, i);
        gt_json_begin_object(j);
        gt_view_put(j, "id", t->id);
        gt_view_put(j, "process", t->process);
        gt_view_put_text(j, "name", t->name);
        if (t->guest_pid)
            gt_view_put(j, "guest_pid", t->guest_pid);
        gt_json_end_object(j);
    }
    gt_json_end_array(j);
}

static void put_processes(struct gt_view *v, struct gt_json *j)
{
    gt_json_key(j, "processes");
    gt_json_begin_array(j);
    for (uint32_t i = 0; i < gt_calls_n_processes(v->calls); i++) {
        const struct gt_calls_process *p = gt_calls_process(v->calls, i);
        gt_json_begin_object(j);
        gt_view_put(j, "pid", p->pid);
        gt_view_put_text(j, "program", p->exename);
        gt_json_end_object(j);
    }
    gt_json_end_array(j);
}

static void put_other(struct gt_view *v, struct gt_json *j)
{
    const struct gt_calls *c = gt_view_other_calls(v->other);
    const struct gt_calls_facts *f = gt_calls_facts(c);
    gt_json_key(j, "other"); /* what it is compared with */
    gt_json_begin_object(j);
    gt_view_put_text(j, "title", gt_view_other_title(v->other));
    gt_view_put_text(j, "path", f->path);
    gt_view_put_text(j, "command", f->command);
    gt_view_put(j, "duration", f->last - f->first);
    gt_json_key(j, "instructions");
    gt_json_bool(j, gt_export_frames_in_instructions(c));
    gt_json_end_object(j);
}

int gt_view_info(struct gt_view *v, const struct gt_view_query *q, struct gt_json *j,
                 struct gt_error *err)
{
    const struct gt_calls_facts *f = gt_calls_facts(v->calls);
    (void)q;
    (void)err;
    gt_json_resume(j);
    gt_json_begin_object(j);
    gt_view_put_text(j, "title", v->title);
    gt_view_put_text(j, "path", f->path);
    gt_view_put_text(j, "command", f->command);
    gt_view_put_text(j, "program", f->exename);
    gt_view_put_text(j, "version", f->version);
    gt_view_put_text(j, "cpu", f->cpu);
    gt_view_put(j, "duration", f->last - f->first);
    gt_view_put(j, "records", f->records);
    gt_view_put(j, "bytes", f->bytes);
    gt_json_key(j, "incomplete");
    gt_json_bool(j, f->incomplete);
    gt_json_key(j, "instructions");
    gt_json_bool(j, gt_export_frames_in_instructions(v->calls));
    put_tasks(v, j);
    put_processes(v, j);
    gt_json_key(j, "sources");
    gt_json_bool(j, v->sources != NULL);
    if (v->other)
        put_other(v, j);
    gt_json_end_object(j);
    gt_json_commit(j);
    return 0;
}

/* ---- tracks -------------------------------------------------------------------------------- */

static void put_track(struct gt_view *v, struct gt_json *j, const struct gt_timeline_task *t)
{
    const bool any = t->last >= t->first;
    gt_json_begin_array(j);
    gt_json_u64(j, t->calls);
    gt_json_u64(j, any ? gt_view_time(v, t->first) : 0);
    gt_json_u64(j, any ? gt_view_time(v, t->last) : 0);
    gt_json_u64(j, t->deepest);
    gt_json_end_array(j);
}

static void put_tracks(struct gt_view *v, struct gt_json *j, const char *key,
                       const struct gt_timeline_task *t, size_t n)
{
    gt_json_key(j, key);
    gt_json_begin_array(j);
    for (size_t i = 0; i < n; i++)
        put_track(v, j, &t[i]);
    gt_json_end_array(j);
}

/* What each task has, as far as the recording was read. */
int gt_view_tracks(struct gt_view *v, const struct gt_view_query *q, struct gt_json *j,
                   struct gt_error *err)
{
    size_t n;
    unsigned finest, coarsest;
    uint64_t left_out;
    const size_t lanes = gt_timeline_lanes(v->timeline, &left_out);
    g_autofree struct gt_timeline_task *task = gt_timeline_tasks(v->timeline, &n);
    (void)q;
    (void)err;
    gt_timeline_range(v->timeline, &finest, &coarsest);
    gt_json_resume(j);
    gt_json_begin_object(j);
    gt_view_put(j, "progress", gt_timeline_progress(v->timeline));
    gt_view_put(j, "finest", finest);
    gt_view_put(j, "coarsest", coarsest);
    gt_view_put(j, "functions", gt_calls_n_functions(v->calls));
    put_tracks(v, j, "tasks", task, n);         /* calls, first, last, deepest */
    put_tracks(v, j, "lanes", task + n, lanes); /* the same of each vCPU */
    gt_view_put(j, "left_out", left_out);
    gt_json_key(j, "suspended"); /* how often each task was */
    gt_json_begin_array(j);
    for (size_t i = 0; i < n; i++)
        gt_json_u64(j, task[i].suspended);
    gt_json_end_array(j);
    gt_json_end_object(j);
    gt_json_commit(j);
    return 0;
}

/* ---- marks --------------------------------------------------------------------------------- */

static void put_lines(struct gt_view *v, struct gt_json *j)
{
    size_t n;
    const struct gt_calls_mark *m = gt_calls_marks(v->calls, &n);
    gt_view_put(j, "lines", n);
    gt_json_key(j, "console"); /* time, text */
    gt_json_begin_array(j);
    for (size_t i = 0; i < n && i < GT_VIEW_ROWS; i++) {
        const size_t length = strlen(m[i].text);
        gt_json_u64(j, gt_view_time(v, m[i].time));
        gt_json_string(j, m[i].text, MIN(length, GT_VIEW_NAME));
    }
    gt_json_end_array(j);
}

static void put_note(struct gt_view *v, struct gt_json *j, const struct gt_timeline_note *n)
{
    const char *name = n->lost ? NULL : gt_calls_event_name(v->calls, n->value);
    gt_json_begin_array(j);
    gt_json_u64(j, gt_view_time(v, n->time));
    gt_json_u64(j, n->task);
    gt_json_u64(j, n->value);
    if (n->lost)
        gt_json_u64(j, 1);
    else
        gt_json_text(j, name ? name : "");
    gt_json_end_array(j);
}

/* Lines of the console, events, and lost records. */
int gt_view_marks(struct gt_view *v, const struct gt_view_query *q, struct gt_json *j,
                  struct gt_error *err)
{
    size_t n;
    uint64_t all;
    g_autofree struct gt_timeline_note *note = gt_timeline_notes(v->timeline, &n, &all);
    (void)q;
    (void)err;
    gt_json_resume(j);
    gt_json_begin_object(j);
    put_lines(v, j);
    gt_view_put(j, "events", all);
    gt_json_key(j, "notes"); /* time, task, value, name; 1: so many records were lost */
    gt_json_begin_array(j);
    for (size_t i = 0; i < n; i++)
        put_note(v, j, &note[i]);
    gt_json_end_array(j);
    gt_json_end_object(j);
    gt_json_commit(j);
    return 0;
}
