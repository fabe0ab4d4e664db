/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What triggers say: see marks.h. */
#include "calls/recorder/select/marks.h"
#include "calls/recorder/output/snapshot.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/select/filters.h"
#include "recording/texts/extern_data.h"

#include <inttypes.h>
#include <stdio.h>

struct job {
    struct gt_recorder *rec;
    uint64_t time;
    const char *text;
    int status;
};

static void append(void *arg)
{
    struct job *job = arg;
    struct gt_text line = {0};
    gt_recording_extern_put(&line, job->time ? job->time : 1, job->text);
    job->status = gt_uftrace_dir_add_text(&job->rec->output.dir, GT_EXTERN_FILE, &line, NULL);
    gt_text_free(&line);
}

void gt_select_marks_put(struct gt_recorder *r, uint64_t time, const char *text)
{
    struct job job = {.rec = r, .time = time, .text = text};
    int status = gt_thread_worker_call(r->output.worker, append, &job);
    bool good = status == 0 && job.status == 0;
    __atomic_fetch_add(good ? &r->marks.written : &r->marks.lost, 1, __ATOMIC_RELAXED);
}

/* The open calls that are recorded, the innermost first. */
static void put_backtrace(struct gt_recorder *r, const struct gt_filter_act *a,
                          const struct gt_filter_state *s)
{
    g_autoptr(GString) text = g_string_new("backtrace:");
    const char *between = " ";
    for (uint32_t i = s->n; i > 0 && text->len < GT_EXTERN_LINE_MAX; i--)
        if (gt_filter_is_recorded(&s->frame[i])) {
            g_string_append_printf(text, "%s%s", between,
                                   gt_select_filters_name(s->frame[i].verdict));
            between = " < ";
        }
    gt_select_marks_put(r, a->time, text->str);
}

static void put_register(struct gt_recorder *r, const struct gt_filter_act *a)
{
    struct gt_host_register reg = {0};
    uint64_t value;
    char text[200];
    if (gt_host_register_read(&reg, a->action->text, &value))
        snprintf(text, sizeof text, "%.120s: %.40s=0x%" PRIx64, a->trigger, a->action->text, value);
    else
        snprintf(text, sizeof text, "%.120s: no register %.40s", a->trigger, a->action->text);
    gt_select_marks_put(r, a->time, text);
}

static void finish(struct gt_recorder *r, const struct gt_filter_act *a,
                   const struct gt_filter_state *s)
{
    struct gt_select_filter_current *w = gt_select_filters_take_watching(&r->filters);
    gt_select_filters_end_recording(&r->filters, s ? s->live : w->live, a->time);
    gt_select_filters_release(w);
}

void gt_select_marks_act(struct gt_recorder *r, const struct gt_filter_act *a,
                         const struct gt_filter_state *s)
{
    switch (a->action->kind) {
    case GT_ACTION_MARK:
        gt_select_marks_put(r, a->time, a->action->text);
        break;
    case GT_ACTION_BACKTRACE:
        if (s)
            put_backtrace(r, a, s);
        break;
    case GT_ACTION_READ:
        put_register(r, a);
        break;
    case GT_ACTION_FINISH:
        finish(r, a, s);
        break;
    case GT_ACTION_SNAPSHOT:
        gt_recorder_snapshot_ask(r, a->action->text);
        break;
    default:
        break;
    }
}

int gt_select_marks_finish(struct gt_recorder *r, struct gt_error *err)
{
    const struct gt_text none = {0};
    char path[4200];
    snprintf(path, sizeof path, "%s/" GT_EXTERN_FILE, r->output.dir.path);
    return r->marks.written ? gt_recording_extern_add(path, &none, err) : 0;
}

void gt_select_marks_report(const struct gt_recorder *r)
{
    if (r->marks.lost)
        gt_host_message("%s/" GT_EXTERN_FILE ": %" PRIu64 " lines of triggers could not be written",
                        r->output.dir.path, r->marks.lost);
}
