/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands of control=: see control.h. All run on the socket's thread. */
#include "calls/recorder/run/control.h"
#include "base/socket.h"
#include "calls/file/set.h"
#include "calls/recorder/output/snapshot.h"
#include "calls/recorder/output/tasks.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/select/dormant.h"
#include "qemu/support/control.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* ---- status and flush ---------------------------------------------------------------------- */

struct counts {
    uint64_t calls;
    unsigned vcpus;
    uint64_t elapsed; /* ns of the recording's clock */
};

/* Since the beginning: until now on the host's clock, else until the newest call or return. With
 * the lock. */
static uint64_t elapsed(const struct gt_recorder *r)
{
    const uint64_t *live = r->hot.live.now;
    uint64_t now = live ? __atomic_load_n(live, __ATOMIC_RELAXED) : 0;
    if (r->hot.host_clock)
        now = gt_run_host_clock(r);
    return r->output.begun && now > r->output.began ? now - r->output.began : 0;
}

static struct counts count(struct gt_recorder *r)
{
    pthread_mutex_lock(&r->lock);
    struct counts c = {.calls = r->totals.calls, .elapsed = elapsed(r)};
    for (unsigned i = 0; i < r->vcpus.n; i++) {
        const struct gt_vcpu *v = &r->hot.vcpu[i];
        if (!v->begun)
            continue;
        c.vcpus++;
        c.calls += __atomic_load_n(&v->thread.calls, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&r->lock);
    return c;
}

static bool is_on(const struct gt_recorder *r)
{
    const struct gt_select_filter_current *filters = gt_select_filters_current(&r->filters);
    return !filters || gt_filter_live_is_on(filters->live);
}

/* The part that is recorded, and the bytes that it has. */
static void add_part(const struct gt_recorder *r, struct gt_events_monitor_answer *answer)
{
    const char *path = r->output.packed.work.file;
    struct stat st = {0};
    size_t n = strlen(answer->text);
    uint32_t number = gt_compact_part_at(path).number;
    stat(path, &st);
    snprintf(answer->text + n, sizeof answer->text - n, " part=%" PRIu32 " part_bytes=%" PRIu64,
             number, (uint64_t)st.st_size);
}

static void do_status(void *self, const char *args, struct gt_events_monitor_answer *answer)
{
    struct gt_recorder *r = self;
    struct gt_streams_stats s;
    (void)args;
    gt_streams_get_stats(r->output.streams, &s);
    struct counts c = count(r);
    gt_events_monitor_succeed(
        answer,
        "recording=%s tracking=%s records=%" PRIu64 " lost=%" PRIu64 " calls_tracked=%" PRIu64
        " tasks=%u vcpus=%u clock=%s elapsed_ns=%" PRIu64,
        is_on(r) ? "on" : "off", gt_select_dormant_is_asleep(r) ? "off" : "on", s.records, s.lost,
        c.calls, __atomic_load_n(&r->totals.tasks, __ATOMIC_RELAXED), c.vcpus,
        r->hot.host_clock ? "host" : "insn", c.elapsed);
    if (r->options.split)
        add_part(r, answer);
}

static void do_flush(void *self, const char *args, struct gt_events_monitor_answer *answer)
{
    struct gt_recorder *r = self;
    struct gt_streams_stats s;
    struct gt_error err = {0};
    (void)args;
    gt_streams_flush(r->output.streams);
    gt_streams_get_stats(r->output.streams, &s);
    if (gt_recorder_output_put_texts(r, &err) < 0)
        gt_events_monitor_fail(answer, "flush: %s", err.text);
    else if (s.error)
        gt_events_monitor_fail(answer, "flush: %s: %s; %" PRIu64 " records are lost", s.error_path,
                               strerror(s.error), s.lost);
    else
        gt_events_monitor_succeed(answer, "records=%" PRIu64 " bytes=%" PRIu64, s.records - s.lost,
                                  s.bytes);
}

/* Where the recording is: a file or a directory, which readers follow (guesttrace top). */
static void do_path(void *self, const char *args, struct gt_events_monitor_answer *answer)
{
    const struct gt_recorder *r = self;
    (void)args;
    if (r->options.last)
        gt_events_monitor_fail(answer,
                               "path: a flight recorder (argument last=) has no file before its "
                               "first snapshot");
    else
        gt_events_monitor_succeed(answer, "%s",
                                  gt_recorder_packed_is_on(&r->output.packed)
                                      ? r->output.packed.work.file
                                      : r->output.dir.path);
}

/* ---- filters and snapshots ----------------------------------------------------------------- */

/* The answer to a command that has nothing to say where it succeeds. */
static void answer_of(const char *name, int status, const struct gt_error *err,
                      struct gt_events_monitor_answer *answer)
{
    if (status < 0)
        gt_events_monitor_fail(answer, "%s: %s", name, err->text);
}

static void do_on(void *self, const char *args, struct gt_events_monitor_answer *answer)
{
    struct gt_error err;
    (void)args;
    answer_of("on", gt_select_filter_switch(self, true, &err), &err, answer);
}

static void do_off(void *self, const char *args, struct gt_events_monitor_answer *answer)
{
    struct gt_error err;
    (void)args;
    answer_of("off", gt_select_filter_switch(self, false, &err), &err, answer);
}

static void do_filter(void *self, const char *args, struct gt_events_monitor_answer *answer)
{
    struct gt_error err;
    answer_of("filter", gt_select_filter_replace(self, args, &err), &err, answer);
}

static void do_trigger(void *self, const char *args, struct gt_events_monitor_answer *answer)
{
    struct gt_error err;
    answer_of("trigger", gt_select_filter_add_triggers(self, args, &err), &err, answer);
}

static void do_snapshot(void *self, const char *args, struct gt_events_monitor_answer *answer)
{
    char path[4200];
    struct gt_error err;
    if (gt_recorder_snapshot_write(self, *args ? args : NULL, path, sizeof path, &err) < 0)
        gt_events_monitor_fail(answer, "snapshot: %s", err.text);
    else
        gt_events_monitor_succeed(answer, "%s", path);
}

/* ---- the socket ---------------------------------------------------------------------------- */

static const struct gt_events_monitor_command commands[] = {
    {"status", .run = do_status},
    {"flush", .run = do_flush},
    {"path", .run = do_path},
    {"on", .run = do_on},
    {"off", .run = do_off},
    {"filter", "[OPTION...]", "options", true, do_filter},
    {"trigger", "FUNC@ACTION...", "triggers", false, do_trigger},
    {"snapshot", "[FILE]", "file", true, do_snapshot},
    {0},
};

int gt_run_control_start(struct gt_recorder *r, struct gt_error *err)
{
    if (!r->options.control)
        return 0;
    const struct gt_support_control_options options = {
        .path = r->options.control,
        .table = {.commands = commands, .self = r},
        .line = GT_CONTROL_LINE - 1,
        .greets = true,
    };
    gt_socket_listeners_watch_signals();
    int status = gt_support_control_start(&r->control, &options, err);
    return status == GT_E_EXISTS && gt_recorder_output_continues(r) ? 0 : status;
}

void gt_run_control_serve(struct gt_recorder *r)
{
    if (r->control)
        gt_support_control_serve(r->control);
}

void gt_run_control_stop(struct gt_recorder *r)
{
    gt_support_control_stop(r->control);
    r->control = NULL;
}

void gt_run_control_fork_child(struct gt_recorder *r)
{
    gt_support_control_fork_child(r->control);
    r->control = NULL;
}
