/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Causes of triggers other than calls: see causes.h. */
#include "calls/recorder/run/causes.h"

#include "calls/recorder/output/packed.h"
#include "calls/recorder/output/snapshot.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/run/vcpu.h"
#include "calls/recorder/select/filters.h"
#include "calls/recorder/select/marks.h"
#include "calls/recorder/task.h"
#include "recording/texts/files.h"

/* The filters' state of the task that the calling thread runs; NULL: none. */
static const struct gt_filter_state *state_here(const struct gt_recorder *r)
{
    const struct gt_vcpu *v = gt_run_vcpu_current(r);
    const struct gt_stack *stack = v && v->begun ? v->thread.stack : NULL;
    if (!stack || !gt_select_filters_current(&r->filters) || r->options.privilege_levels)
        return NULL;
    const struct gt_select_filtered *f = &gt_recorder_task_of(stack)->filtered;
    return f->out ? &f->state : NULL;
}

static void act_here(void *self, const struct gt_filter_act *a)
{
    gt_select_marks_act(self, a, state_here(self));
}

static const struct gt_filter_sink sink = {.act = act_here};

static uint64_t now(struct gt_recorder *r)
{
    const uint64_t *live = r->hot.live.now;
    if (r->hot.host_clock)
        return gt_run_host_clock(r);
    return live ? __atomic_load_n(live, __ATOMIC_RELAXED) : gt_run_process_time(r);
}

void gt_run_cause_said(struct gt_recorder *r, enum gt_filter_said kind, const char *text)
{
    struct gt_select_filter_current *w = gt_select_filters_take_watching(&r->filters);
    if (w)
        gt_filter_said(w->set, w->live, kind, text, now(r), &sink, r);
    gt_select_filters_release(w);
}

static void do_snapshot(void *self, const char *args, struct gt_events_monitor_answer *ignored)
{
    (void)args, (void)ignored;
    gt_recorder_snapshot_ask(self, NULL);
}

static void do_console(void *self, const char *line, struct gt_events_monitor_answer *ignored)
{
    (void)ignored;
    gt_run_cause_said(self, GT_FILTER_CONSOLE, line);
}

static void do_qmp(void *self, const char *name, struct gt_events_monitor_answer *ignored)
{
    (void)ignored;
    gt_run_cause_said(self, GT_FILTER_QMP, name);
}

static const struct gt_events_monitor_command messages[] = {
    {GT_MESSAGE_SNAPSHOT, .run = do_snapshot},
    {GT_MESSAGE_CONSOLE, "LINE", .optional = true, .run = do_console, .verbatim = true},
    {GT_MESSAGE_QMP, "NAME", .run = do_qmp},
    {0},
};

void gt_run_listen(struct gt_recorder *r)
{
    if (!r->snapshots.on && !r->options.console && !r->options.qmp)
        return;
    r->messages = (struct gt_support_messages){
        .fifo = g_strdup_printf("%s/" GT_MESSAGE_FIFO, r->output.dir.path),
        .worker = r->output.worker,
        .table = {messages, r},
        .own_files = true};
    gt_support_messages_start(&r->messages);
}

void gt_run_listen_end(struct gt_recorder *r)
{
    gt_support_messages_end(
        &r->messages, !gt_recorder_packed_is_on(&r->output.packed)); /* else its directory goes */
}

static void ended(struct gt_recorder *r, bool by_signal, int status)
{
    struct gt_select_filter_current *w = gt_select_filters_take_watching(&r->filters);
    if (w)
        gt_filter_ended(w->set, w->live, by_signal, (uint64_t)status, gt_run_process_time(r), &sink,
                        r);
    gt_select_filters_release(w);
}

void gt_run_cause_ended(struct gt_recorder *r)
{
    const struct gt_run_process *p = &r->process;
    const struct gt_vcpu *v = gt_run_vcpu_current(r);
    if (p->has_exit_status || (v && v->exits))
        ended(r, false, p->has_exit_status ? p->exit_status : v->exit_status);
    else if (r->guest.user && !p->signalled)
        ended(r, true, 0);
}

void gt_run_cause_killed(struct gt_recorder *r, int sig)
{
    r->process.signalled = true;
    ended(r, true, sig);
}

bool gt_run_cause_waits(struct gt_recorder *r)
{
    struct gt_select_filter_current *w = gt_select_filters_take_watching(&r->filters);
    const struct gt_vcpu *v = gt_run_vcpu_current(r);
    bool waits = w && w->uses & GT_FILTER_NEEDS_SIGNAL && !r->process.signalled &&
                 !r->process.has_exit_status && !(v && v->exits);
    gt_select_filters_release(w);
    return waits;
}
